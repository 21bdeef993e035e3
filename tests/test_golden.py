"""The golden figures are those of the reference as it is now."""

from math import prod

import pytest

from tests import golden


def size(case):
    """Return about how long a case takes: its dice and tiles, to the power of the players."""
    game, *rules = case
    players = rules[0] if rules and isinstance(rules[0], int) else 1
    return prod([getattr(game, "tiles", game.dice), game.dice, game.faces]) ** players, golden.key(*case)


@pytest.mark.parametrize("section", golden.SECTIONS)
def test_the_file_holds_the_listed_figures(section):
    _, cases = golden.SECTIONS[section]
    assert golden.golden()[section].keys() == {golden.key(*case) for case in cases}, f"run {golden.COMMAND}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "most"), [("values", 4), ("scores", 80), ("equilibria", 20), ("line-ups", 10), ("choices", 20)]
)
def test_the_smallest_figures_are_those_of_the_reference(section, most):
    smallest = sorted(golden.SECTIONS[section][1], key=size)[:most]
    for name, figure in golden.figures(section, smallest):
        found = {part: tuple(numbers) for part, numbers in figure.items()} if section == "line-ups" else figure
        assert golden.golden()[section][name] == found, f"run {golden.COMMAND}"
