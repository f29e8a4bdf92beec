"""Both ways of mining and finding: NumPy, and the compiled module where there is one."""

import pytest

from clearset.tokens import _mining, _token_index

COMPILED = _mining._native
BACKENDS = ["reference"] if COMPILED is None else ["reference", "native"]


@pytest.fixture(params=BACKENDS, scope="module")
def backend(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "reference":
            patch.setattr(_mining, "_native", None)
            patch.setattr(_token_index, "_native", None)
        yield request.param


@pytest.fixture
def compiled(monkeypatch):
    """Use the compiled module, whatever `backend` says of the tests around."""
    if COMPILED is None:
        pytest.skip("there is no compiled module")
    monkeypatch.setattr(_mining, "_native", COMPILED)
    monkeypatch.setattr(_token_index, "_native", COMPILED)
