import pytest

from clearset.functions.projections import _chain, _hildreth


@pytest.fixture(params=["native", "numpy"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(_chain, "_native", None)
        monkeypatch.setattr(_hildreth, "_native", None)
    elif _hildreth._native is None:
        pytest.skip("clearset._native is not built")
    return str(request.param)
