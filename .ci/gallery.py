"""Reports of five models for the gallery of the site: `make docs` runs this, and puts them into build/gallery."""

from pathlib import Path

import numpy as np

import clearset as cs
from clearset.datasets import make_reviews

GALLERY = Path(__file__).resolve().parents[1] / "build" / "gallery"
CUISINES = {
    "greek": ["feta", "olives", "oregano", "yoghurt"],
    "thai": ["lime", "chili", "coconut", "fish sauce"],
    "french": ["butter", "wine", "thyme", "cream"],
    "mexican": ["beans", "lime", "chili", "corn"],
    "indian": ["cumin", "yoghurt", "chili", "lentils"],
    "japanese": ["soy sauce", "rice", "miso", "ginger"],
}
COMMON = ["salt", "oil", "onion", "garlic", "pepper", "water", "rice", "sugar"]
GOOD, BAD = ["ripe", "smooth", "long", "rich", "balanced"], ["thin", "sour", "flat", "harsh", "short"]
NOUNS = ["fruit", "finish", "cherry", "oak", "tannins"]


def recipes(n: int, seed: int, cuisines: list[str]) -> tuple[list[list[str]], list[str]]:
    """Make recipes: items that a cuisine is known for, among items that all have."""
    rng = np.random.default_rng(seed)
    labels = [cuisines[place] for place in rng.integers(0, len(cuisines), n)]
    sets = [
        [*rng.choice(CUISINES[label], rng.integers(0, 3), replace=False), *rng.choice(COMMON, 3, replace=False)]
        for label in labels
    ]
    return [[str(item) for item in items] for items in sets], labels


def wines(n: int, seed: int) -> tuple[list[str], list[float]]:
    """Make descriptions of wines with points: "not" turns a word round."""
    rng = np.random.default_rng(seed)
    texts, points = [], []
    for _ in range(n):
        words, total = [], 0.0
        for _ in range(rng.integers(2, 6)):
            good, turned = rng.random() < 0.5, rng.random() < 0.25
            total += 2.0 if good != turned else -2.0
            words += [*(["not"] if turned else []), str(rng.choice(GOOD if good else BAD)), str(rng.choice(NOUNS))]
        texts.append(" ".join(words))
        points.append(85 + total + rng.normal())
    return texts, points


def main() -> None:
    """Fit the models and write their reports."""
    GALLERY.mkdir(parents=True, exist_ok=True)
    train, test = make_reviews(3000), make_reviews(300, random_state=1)
    stars, number = cs.Feature("star_rating", monotonic="increasing"), cs.Feature(cs.SIZE, monotonic="increasing")
    features = [stars, "word_count", "num_helpful", "price", number]
    model = cs.SetRegressor(features, trusts=[cs.Trust("star_rating", by="num_helpful")], random_state=0)
    model.fit(train.frame, train.sales)
    model.report(GALLERY / "numbers.html", test.frame, test.sales, title="Sales of products, from their reviews")

    two = ["greek", "thai"]
    items = cs.SemanticClassifier(random_state=0).fit(*recipes(2000, 0, two))
    items.report(GALLERY / "items.html", *recipes(300, 1, two), title="Greek or Thai, from the ingredients")

    texts = cs.SemanticRegressor(cs.NGrams(2), random_state=0).fit(*wines(2000, 0))
    texts.report(GALLERY / "texts.html", *wines(300, 1), title="Points of wines, from their descriptions")

    many = cs.SemanticClassifier(random_state=0).fit(*recipes(4000, 0, list(CUISINES)))
    many.report(GALLERY / "classes.html", *recipes(300, 1, list(CUISINES)), title="Six cuisines, from the ingredients")

    editor = items.edit()
    editor.drop_token("sugar")
    editor.pin_token("yoghurt", 0.5, label="thai")
    edited = editor.model
    edited.report(GALLERY / "edited.html", *recipes(300, 1, two), title="Greek or Thai, edited by hand")


if __name__ == "__main__":
    main()
