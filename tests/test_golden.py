"""The golden figures are those of the reference as it is now."""

from math import prod

import pytest

from tests import golden


def size(case):
    """Return about how long a case takes: its dice and tiles, to the power of the players."""
    game, *rules = case
    players = rules[0] if rules and isinstance(rules[0], int) else 1
    return prod([getattr(game, "tiles", game.dice), game.dice, game.faces]) ** players, golden.key(*case)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "most"), [("values", 4), ("scores", 80), ("equilibria", 10), ("line-ups", 10), ("choices", 20)]
)
def test_the_file_holds_the_listed_figures_and_the_smallest_are_those_of_the_reference(section, most):
    _, cases = golden.SECTIONS[section]
    kept = golden.golden()[section]
    assert kept.keys() == {golden.key(*case) for case in cases}, f"run {golden.COMMAND}"
    for name, figure in golden.figures(section, sorted(cases, key=size)[:most]).items():
        found = list(figure) if isinstance(figure, tuple) else figure
        assert kept[name] == found, f"run {golden.COMMAND}"
