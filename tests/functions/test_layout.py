import pytest

from clearset.functions import Layout


def test_full_lattice_has_all_features_and_the_product_of_sizes():
    layout = Layout.full((2, 3, 4))
    assert layout.subsets == ((0, 1, 2),)
    assert layout.n_features == 3
    assert layout.n_vertices == 24


def test_lattices_stand_one_after_the_other():
    layout = Layout(sizes=(2, 3, 4), subsets=((1,), (2, 0, 1)))
    assert layout.vertex_offsets == (0, 3, 27)
    assert layout.n_vertices == 27


def test_layouts_are_values():
    assert Layout.full((2, 2)) == Layout(sizes=(2, 2), subsets=((0, 1),))
    assert hash(Layout.full((2, 2))) == hash(Layout(sizes=(2, 2), subsets=((0, 1),)))


@pytest.mark.parametrize(
    ("sizes", "subsets", "message"),
    [
        ((2, 1), ((0, 1),), "size of feature 1 is 1"),
        ((2, 2), (), "subsets is empty"),
        ((2, 2), ((0,), ()), "Lattice 1 has the features"),
        ((2, 2), ((0, 0),), "each once"),
        ((2, 2), ((0, 2),), "counted from 0 to 1"),
        ((2, 2), ((-1, 0),), "counted from 0 to 1"),
        ((2,) * 15, (tuple(range(15)),), "32768 vertices; at most 16384.*ensemble of smaller lattices"),
    ],
)
def test_what_is_not_a_layout_is_refused(sizes, subsets, message):
    with pytest.raises(ValueError, match=message):
        Layout(sizes=sizes, subsets=subsets)


def test_the_largest_lattice_is_allowed():
    assert Layout.full((2,) * 14).n_vertices == 2**14
