import os
import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.linear_model import Ridge, RidgeClassifier

import clearset as cs
from clearset.functions import Certificate, Check

HOSTILE = ["<script>alert(1)</script>", "\"'&; --><b>", "_" + "x" * 10_000, "\u202e\u05e9\u05dc\u05d5\u05dd"]
TAGS = {"style", "div", "p", "h4", "table", "thead", "tbody", "tr", "th", "td", "bdi", "small", "span", "pre"}
TAGS |= {"details", "summary", "svg", "path", "rect", "line", "text"}
VOID = {"path", "rect", "line"}
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}


class Reader(HTMLParser):
    """Read HTML as a browser would, and refuse what nobody wrote a tag for."""

    def __init__(self, text):
        super().__init__()
        self.text, self.open = "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data + "\n"


def hostile_sets(n=40):
    rng = np.random.default_rng(0)
    frame = {name: [rng.random(2).tolist() for _ in range(n)] for name in HOSTILE}
    frame["kind"] = [[HOSTILE[row % 4], HOSTILE[(row + 1) % 4]] for row in range(n)]
    return pa.table(frame), np.array(HOSTILE)[np.arange(n) % 4]


@pytest.fixture(scope="module")
def hostile():
    X, y = hostile_sets()
    features = [*HOSTILE, cs.Feature("kind", kind="categorical")]
    return cs.SetClassifier(features, **QUICK).fit(X, y), X


@pytest.fixture(scope="module")
def semantic():
    X = [[HOSTILE[row % 4], HOSTILE[(row * 3 + 1) % 4]] for row in range(40)]
    return cs.SemanticRegressor(tokens=cs.Items(), refine=False, **QUICK).fit(X, np.arange(40) / 7), X


def test_models_show_hostile_names_as_text(hostile):
    page = hostile[0]._repr_html_()
    text = Reader(page).text
    assert HOSTILE[0] in text
    assert HOSTILE[1] in text
    assert "\u202e" not in page
    assert len(page) < 20_000
    assert hostile[0]._repr_mimebundle_()["text/html"] == page


def test_explanations_show_hostile_names_as_text(hostile, semantic):
    for model, X in (hostile, semantic):
        page = model.explain(X)._repr_html_()
        text = Reader(page).text
        assert "\u202e" not in page
        assert "<script>" in text
        assert "and 30 more sets" in text


def test_explanations_show_what_they_hold(semantic):
    model, X = semantic
    explanation = model.explain(X[:2])
    lines = Reader(explanation.to_html()).text.splitlines()
    for one in explanation:
        base, prediction = (f"{values[0]:.2f}" for values in (one.base, one.prediction))
        assert {base, prediction} <= set(lines)
        for row in (*one.tokens.to_pylist(), *one.of_sets.to_pylist()):
            assert f"{row['score']:+.3f}" in lines
            rounded = round(row["contribution"], 2)
            assert (f"{rounded:+.2f}" if rounded else "0.00") in lines  # what is rounded to 0 has no sign
    assert "number of items 2" in lines
    assert f"Set 1: {explanation.prediction[1]:.4g}" in lines
    assert {"base rate", "prediction"} <= set(lines)


def test_numbers_of_a_table_add_up_to_the_prediction():
    rng = np.random.default_rng(0)
    X = pa.table({"stars": [rng.integers(1, 6, 30).astype(float).tolist() for _ in range(30)], "price": rng.random(30)})
    model = cs.SetRegressor(["stars", "price", cs.SIZE], **QUICK | {"epochs": 20}).fit(X, 100 * rng.random(30))
    page = model.explain(X[:1])._repr_html_()
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)[1:]]
    names, numbers = ([re.sub(r"<.*?>", "", row[place]) for row in rows] for place in (0, 3))
    assert (names[0], names[-1]) == ("base rate", "prediction")
    assert names[-2] in ("12 other tokens", "12 others")
    assert len(rows) == 1 + 20 + 1 + 1
    added = [float(number) for number in numbers]
    assert abs(sum(added[:-1]) - added[-1]) <= 0.05 * len(rows)  # each is rounded


def test_n_grams_read_as_text():
    texts = ["tv shows", "shows tv", "bad tv", "good shows"] * 10
    model = cs.SemanticRegressor(tokens=cs.NGrams(2), refine=False, **QUICK).fit(texts, np.arange(40.0))
    lines = Reader(model.explain(["tv shows"])._repr_html_()).text.splitlines()
    assert "tv shows" in lines
    assert "+" not in lines
    assert " " in Reader(model.token_table_._repr_html_()).text.replace("\n", "")
    assert " + " not in Reader(model.token_table_._repr_html_()).text


def test_explanations_are_written_as_a_page(semantic, tmp_path):
    model, X = semantic
    explanation = model.explain(X)
    block = explanation.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert block in page
    assert block == explanation.to_html()


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("no_folder/page.html", FileNotFoundError, "there is no folder '.*no_folder'. Make it first"),
        ("", IsADirectoryError, "it is a folder. Give the name of a file in it"),
    ],
)
def test_pages_that_cannot_be_written(semantic, tmp_path, path, kind, message):
    model, X = semantic
    with pytest.raises(kind, match=f"Cannot save to '.*': {message}"):
        model.explain(X).to_html(tmp_path / path)
    assert list(tmp_path.iterdir()) == []


def test_a_page_replaces_another_in_one_step(semantic, tmp_path, monkeypatch):
    model, X = semantic
    page = tmp_path / "page.html"
    page.write_text("before")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            model.explain(X).to_html(page)
    assert page.read_text() == "before"
    model.explain(X).to_html(page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [page]


def test_large_sets_are_cut_short():
    X = pa.table({"stars": [np.arange(500.0).tolist(), [], [3.0]]})
    model = cs.SetRegressor(["stars"], width=4, **QUICK).fit(X, [1.0, 2.0, 3.0])
    text = Reader(model.explain(X)._repr_html_()).text
    assert "480 other tokens" in text
    assert "no token" in text
    Reader(model._repr_html_())


def test_semantic_models_show_their_table(semantic):
    text = Reader(semantic[0]._repr_html_()).text
    assert "4 tokens" in text
    assert "SemanticRegressor" in text


def test_unfitted_models_keep_the_diagram_and_plain_text_is_respected(hostile):
    assert "sk-" in cs.SetRegressor()._repr_html_()
    assert "sk-" in cs.SetRegressor()._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert not hasattr(hostile[0], "_repr_html_")
        assert "text/html" not in hostile[0]._repr_mimebundle_()


def test_certificates():
    good = Check(f"{HOSTILE[0]} increasing", "output", "parameters: lattices of phi", 0.0, 0.0)
    bad = Check("price decreasing", "output", "probing: 10 trials", 0.25, 1e-6)
    assert repr(Certificate((good,))) == "Certificate(1 check, all hold)"
    assert repr(Certificate((good, bad))) == "Certificate(2 checks, 1 FAIL)"
    text = Reader(Certificate((good, bad))._repr_html_()).text
    assert f"{HOSTILE[0]} increasing" in text
    assert "1 of 2 checks fail" in text
    assert "0.25" in text
    assert "No constraints" in Reader(Certificate(())._repr_html_()).text


def test_partial_dependence(hostile):
    model, X = hostile
    for name in (HOSTILE[0], "kind"):
        dependence = model.partial_dependence(name, X, label=HOSTILE[1])
        text = Reader(dependence._repr_html_()).text
        assert HOSTILE[1] in text
        assert "mean over 40 sets" in text
        ends = (dependence.prediction.min(), dependence.prediction.max())
        assert all(f"{end:.4g}" in text for end in ends)
    assert "<script>" in Reader(model.partial_dependence("kind", X, label=HOSTILE[1])._repr_html_()).text


def test_flat_curves_have_one_number():
    model = cs.SetRegressor(**QUICK).fit([[0.0], [1.0], [2.0]], [1.0, 1.0, 1.0])
    dependence = model.partial_dependence("x0", [[1.0]], n=3)
    dependence.prediction[:] = 1e299
    assert Reader(dependence._repr_html_()).text.count("1e+299") == 1


def test_churn_and_tuning():
    X = np.arange(40.0).reshape(20, 2)
    numbers = [Ridge(alpha).fit(X, X[:, 0] ** 2) for alpha in (0.1, 1e4)]
    found = cs.churn(*numbers, X, X[:, 0] ** 2)
    text = Reader(found._repr_html_()).text
    assert f"{found.changed:.2%} of predictions changed" in text
    assert f"{found.errors[1]:.4g}" in text
    classes = [RidgeClassifier(alpha).fit(X, X[:, 0] > 10) for alpha in (0.1, 1e6)]
    assert "accuracy" in Reader(cs.churn(*classes, X, X[:, 0] > 10)._repr_html_()).text
    assert "accuracy" not in Reader(cs.churn(*classes, X)._repr_html_()).text
    pytest.importorskip("optuna")
    space = {"alpha": [0.1, 10.0]}
    tuning = cs.tune(Ridge(), X, X[:, 0], budget=3, space=space, random_state=0, verbose=0)
    text = Reader(tuning._repr_html_()).text
    assert "Tuning of Ridge" in text
    assert "alpha" in text


def test_token_tables():
    several = cs.TokenTable.build([[HOSTILE[0]], [HOSTILE[2]], [HOSTILE[3]]] * 4, ["x", "y", HOSTILE[1]] * 4)
    page = several._repr_html_()
    text = Reader(page).text
    assert HOSTILE[0] in text
    assert HOSTILE[1] in text
    assert "\u202e" not in page
    assert len(page) < 3000
    assert "and 2 more" in Reader(cs.TokenTable.build([[f"i{k}"] for k in range(12)], range(12))._repr_html_()).text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_pages_own_colour_and_no_box_behind_it(hostile, semantic, page, theme):
    model, X = hostile
    bad = Certificate((Check("price decreasing", "output", "probing: 10 trials", 0.25, 1e-6),))
    shown = [model, model.explain(X), model.partial_dependence("kind", X, label=HOSTILE[1]), bad]
    shown += [semantic[0], semantic[0].token_table_, semantic[0].partial_dependence("count")]
    body = "".join(f"<div>{each._repr_html_()}</div>" for each in shown)
    colours = "color:rgb(17,17,17);background:white" if theme == "light" else "color:rgb(221,221,221);background:#111"
    page.emulate_media(color_scheme=theme)
    page.set_content(f'<!doctype html><body style="{colours}">{body}')
    seen = page.evaluate(
        """() => [...document.querySelectorAll('body *')].map(e => {
            const s = getComputedStyle(e), own = e.tagName === 'text' ? s.fill : s.color;
            return [own, s.backgroundColor, e.className];
        })"""
    )
    own = "rgb(17, 17, 17)" if theme == "light" else "rgb(221, 221, 221)"
    assert {colour for colour, _, name in seen if name != "bad"} == {own}
    assert {background for _, background, _ in seen} == {"rgba(0, 0, 0, 0)"}
