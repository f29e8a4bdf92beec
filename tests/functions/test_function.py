import numpy as np

from .example import Example


def test_sizes_are_those_of_the_tables():
    function = Example(width=3, outputs=2).initial()
    assert (function.width, function.outputs, function.rho_keypoints) == (3, 2, 7)
    assert (function.rho.width, function.rho.outputs) == (3, 2)
    assert repr(function) == "SetFunction(4 features, width 3, 1 lattice)"


def test_a_copy_shares_nothing_and_is_in_double_precision():
    function = Example().scrambled()
    single = function.with_tables({name: t.astype(np.float32) for name, t in function.tables.items()})
    for table, copied in zip(single.tables.values(), single.copy().tables.values(), strict=True):
        assert copied.dtype == np.float64
        np.testing.assert_array_equal(copied, table)
    for table, copied in zip(function.tables.values(), function.copy().tables.values(), strict=True):
        assert not np.shares_memory(table, copied)


def test_tables_are_the_functions_own():
    function = Example().initial()
    function.tables["rho.output"][:] = 5.0
    assert (function.rho_output == 5.0).all()
    assert (function.rho.output == 5.0).all()
