import pytest

from clearset.sets import Feature, Trust, check_trusts

FEATURES = [
    Feature("stars", monotonic="increasing"),
    Feature("votes"),
    Feature("age", monotonic="decreasing"),
    Feature("store", kind="categorical"),
    Feature("words", monotonic="increasing", shape="concave"),
    Feature("length", shape="concave"),
]


def test_accepts_what_fits():
    check_trusts((), FEATURES)
    check_trusts(
        [Trust("stars", by="votes"), Trust("stars", by="votes", shape="trapezoid"), Trust("age", by="stars")], FEATURES
    )


@pytest.mark.parametrize(
    ("trusts", "match"),
    [
        ([Trust("star", by="votes")], "Did you mean 'stars'"),
        ([Trust("stars", by="store")], "'store' is categorical"),
        ([Trust("votes", by="stars")], "'votes' has no direction"),
        ([Trust("stars", by="age", shape="trapezoid")], "no effect at one end"),
        ([Trust("words", by="votes", shape="trapezoid")], "fixes both"),
        ([Trust("stars", by="length", shape="trapezoid")], "leaves it none"),
        ([Trust("stars", by="votes")] * 2, "declared twice"),
    ],
)
def test_refuses(trusts, match):
    with pytest.raises(ValueError, match=match):
        check_trusts(trusts, FEATURES)


def test_refuses_what_is_no_trust():
    with pytest.raises(TypeError, match="not a Trust"):
        check_trusts([("stars", "votes")], FEATURES)
    with pytest.raises(TypeError, match="by strings"):
        Trust("stars", by=3)
    with pytest.raises(ValueError, match="cannot qualify itself"):
        Trust("stars", by="stars")
    with pytest.raises(ValueError, match="'edgeworth' or 'trapezoid'"):
        Trust("stars", by="votes", shape="round")
