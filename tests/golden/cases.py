"""Models that are fitted with public names only, and what is kept of them."""

import numpy as np
import pyarrow as pa

import clearset as cs

ITEMS = ["salt", "lime", "chili", "feta", "olives", "soy", "ginger", "rice", "basil", "tomato"]


def sets(n=160, seed=0):
    """Products with reviews, a category and a price."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, n)
    stars = [rng.integers(1, 6, k).astype(float).tolist() for k in sizes]
    words = [rng.exponential(50.0, k).round(1).tolist() for k in sizes]
    shop = [rng.choice(["corner", "flagship", "market"], k).tolist() for k in sizes]
    price = rng.uniform(1, 20, n).round(2)
    X = pa.table({"stars": stars, "words": words, "shop": shop, "price": price})
    y = np.array([np.mean(s) if s else 2.0 for s in stars]) * 10 - price + rng.normal(0, 2, n)
    return X, y


def baskets(n=240, seed=0, classes=2):
    """Lists of items with a class that some of them speak for."""
    rng = np.random.default_rng(seed)
    X = [rng.choice(ITEMS, rng.integers(0, 6), replace=False).tolist() for _ in range(n)]
    weights = np.random.default_rng(7).normal(size=(len(ITEMS), classes))
    scores = np.array([weights[[ITEMS.index(item) for item in one]].sum(axis=0) for one in X])
    labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X, np.array(["thai", "greek", "mexican"])[labels], scores[:, 0]


FEATURES = [
    cs.Feature("stars", monotonic="increasing"),
    cs.Feature("words", shape="concave", keypoints=5),
    cs.Feature("shop", kind="categorical", monotonic=[("market", "flagship")]),
    "price",
    cs.SIZE,
]
QUICK = {"epochs": 8, "random_state": 0, "n_jobs": 1}


def _set_cases():
    X, y = sets()
    new, _ = sets(40, seed=1)
    two, three = np.where(y > 20, "dear", "cheap"), np.digitize(y, [15, 25])
    trusts = [cs.Trust("stars", by="words")]
    plain = ["stars", "words", "price"]
    cases = {
        "regressor": (cs.SetRegressor(FEATURES, **QUICK), y),
        "regressor, width 3": (cs.SetRegressor(FEATURES, width=3, **QUICK), y),
        "regressor, trust": (
            cs.SetRegressor([cs.Feature("stars", monotonic="increasing"), "words"], trusts=trusts, **QUICK),
            y,
        ),
        "regressor, ensemble": (cs.SetRegressor(FEATURES, lattices="ensemble", **QUICK), y),
        "regressor, size 3": (cs.SetRegressor(plain, lattice_size=3, restarts=2, **QUICK), y),
        "regressor, poisson": (cs.SetRegressor(plain, loss="poisson", **QUICK), np.maximum(y.round(), 0)),
        "regressor, quantile": (cs.SetRegressor(plain, loss="quantile", quantile=0.8, **QUICK), y),
        "regressor, light touch": (
            cs.SetRegressor(FEATURES, constraints="light_touch", optimizer="adagrad", learning_rate=0.3, **QUICK),
            y,
        ),
        "classifier": (cs.SetClassifier(FEATURES, **QUICK), two),
        "classifier, hinge": (cs.SetClassifier(FEATURES, loss="hinge", width=2, **QUICK), two),
        "classifier, three": (cs.SetClassifier(plain, **QUICK), three),
    }
    for name, (estimator, labels) in cases.items():
        yield name, estimator.fit(X, labels), new


def _item_cases():
    new, _, _ = baskets(40, seed=1)
    new += [[], ["unheard"]]
    for classes in (2, 3):
        X, y, number = baskets(classes=classes)
        yield f"items, {classes}", cs.SemanticClassifier(cs.Items(), **QUICK).fit(X, y), new
        subsets = cs.Subsets(max_size=2)
        refined = cs.SemanticClassifier(subsets, [cs.MinCount(3)], refine=1, width=2, cover=False, **QUICK)
        yield f"pairs, {classes}", refined.fit(X, y), new
    yield "chosen", cs.SemanticClassifier(**QUICK).fit(X, y), new
    shares = cs.SemanticClassifier(cs.Items(), loss="binary_log_loss", refine=False, **QUICK)
    yield "shares", shares.fit(X, y), new
    yield "number", cs.SemanticRegressor(cs.Items(), refine=True, **QUICK).fit(X, number), new
    texts = [" ".join(one) for one in X]
    ngrams = cs.SemanticRegressor(cs.NGrams(max_order=2), refine=False, **QUICK).fit(texts, number)
    yield "n-grams", ngrams, [" ".join(one) for one in new]
    own = cs.SemanticFeatureEngine(cs.Items(), features=["mean_label", "count"], refine=False, **QUICK)
    yield "engine", own.fit(X, y), new


def fitted_cases():
    """Fit every model; give its name, the model, and new examples."""
    yield from _set_cases()
    yield from _item_cases()


def kept(model, X):
    """What is kept of a fitted model: predictions, and what explanations hold."""
    found = {}
    if hasattr(model, "predict"):
        found["predictions"] = np.asarray(model.predict(X)).tolist()
    for name in ("predict_proba", "decision_function", "transform"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(X)).tolist()
    explanation = model.explain(X[:5], effects=True)
    for name in ("prediction", "output", "aggregate"):
        found[name] = getattr(explanation, name).tolist()
    for name in ("score", "contribution", "share", "without"):
        found[name] = explanation.tokens[name].to_pylist()
    found["best"] = explanation.effects["prediction_best"].to_pylist()
    name = model.features_[0].name
    label = None if len(getattr(model, "classes_", ())) < 3 else model.classes_[0]
    found["dependence"] = model.partial_dependence(name, n=7, label=label).prediction.tolist()
    found["phi"] = model.phi(X[:5]).scores.tolist()
    found["history"] = [entry["loss"] for entry in model.history_]
    found["checks"] = [[check.constraint, check.scope, check.evidence] for check in model.verify().checks]
    return found


def out_of_fold():
    """What `fit_transform` estimates, and a joint model."""
    X, y, number = baskets(classes=3)
    engine = cs.SemanticFeatureEngine(cs.Items(), refine=False, **QUICK)
    frame = pa.table({"items": X, "price": np.random.default_rng(2).uniform(0, 5, len(X))})
    parts = {"epochs": 6, "random_state": 0}
    joint = cs.JointModel(
        {"items": cs.SemanticFeatureEngine(cs.Items(), refine=False, epochs=6)}, cs.SetRegressor(epochs=6), **parts
    ).fit(frame, number)
    return {
        "fit_transform": engine.fit_transform(X, y).tolist(),
        "joint": joint.predict(frame[:30]).tolist(),
        "joint estimates": joint.estimates(frame[:30])["items"].to_pylist(),
        "joint explanation": joint.explain(frame[:5]).prediction.tolist(),
    }
