"""``clearset demo``: train on made-up reviews and show what was learned."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
    products: Annotated[int, typer.Option(min=50, help="Number of products to make.")] = 3000,
    output: Annotated[Path, typer.Option(help="Folder for model, report and test products.")] = Path("demo"),
) -> None:
    """Train on made-up product reviews and show what was learned."""
    from rich.console import Console

    import clearset as cs
    from clearset.cli._demo_output import TOKEN_COLUMNS, show_effects, show_errors, show_product, show_rho
    from clearset.cli._table_files import count_tokens, write_table
    from clearset.datasets import make_reviews

    output.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    reviews = make_reviews(products, random_state=seed)
    cut = products * 4 // 5
    train, test = reviews.frame.slice(0, cut), reviews.frame.slice(cut)
    console.rule("[bold]Sales of a product from its reviews")
    console.print(
        f"{products:,} made-up products with {count_tokens(reviews.frame):,} reviews; {cut:,} to learn from, "
        f"{products - cut:,} to test on.\nWe declare what must hold: more stars never lower the prediction, "
        "nor do more reviews, and the more helpful votes a review has, the more its stars count."
    )
    stars, *others = TOKEN_COLUMNS
    model = cs.SetRegressor(
        [cs.Feature(stars, monotonic="increasing"), *others, "price", cs.Feature(cs.SIZE, monotonic="increasing")],
        trusts=[cs.Trust(stars, by="num_helpful")],
        random_state=seed,
        verbose=1,
    )
    model.fit(train, reviews.sales[:cut])
    if model.interrupted_:
        console.print("Interrupted: this is the best model so far.")
    explanation = model.explain(test)
    show_effects(console, model)
    show_rho(console, explanation)
    show_errors(console, model.predict(test), reviews.sales[:cut], reviews.sales[cut:], reviews.truth[cut:])
    show_product(console, explanation, test, reviews.sales[cut:])
    console.rule("[bold]Is it true to what we declared?")
    console.print(str(model.verify(test)), markup=False, soft_wrap=True)

    model.save(output / "reviews.clearset")
    write_table(test, output / "test.parquet")
    model.report(output / "report.html", test, reviews.sales[cut:])
    console.rule("[bold]Next")
    console.print(
        f"Open {output / 'report.html'} in a browser: it holds the model and evaluates it.\n"
        f"The model is in {output / 'reviews.clearset'}. Try:",
        soft_wrap=True,
        markup=False,
    )
    program = "clearset" if shutil.which("clearset") else sys.argv[0]  # make demo leaves it off the path
    for command in ("predict", "explain", "verify"):
        line = f"  {program} {command} {output / 'reviews.clearset'} {output / 'test.parquet'} --by product"
        console.print(line, soft_wrap=True, markup=False)
