"""Both ways of mining and finding: NumPy, and the compiled module where there is one."""

import pytest

from clearset.tokens import _index, _mining

BACKENDS = ["reference"] if _mining._native is None else ["reference", "native"]


@pytest.fixture(params=BACKENDS, scope="module")
def backend(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "reference":
            patch.setattr(_mining, "_native", None)
            patch.setattr(_index, "_native", None)
        yield request.param
