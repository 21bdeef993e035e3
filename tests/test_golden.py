"""The golden figures are those of the reference as it is now."""

from math import prod

import pytest

from tests import golden


def size(case):
    """About how long a case takes: the dice and tiles, once for every player."""
    game, *rules = case
    players = rules[0] if rules and isinstance(rules[0], int) else 1
    return (prod([getattr(game, "tiles", game.dice), game.dice, game.faces]) ** players, golden.key(*case))


def smallest(section, most):
    _, cases = golden.SECTIONS[section]
    return sorted(cases, key=size)[:most]


def test_the_file_was_made_by_the_modules_that_are_there():
    assert golden.golden()["checksum"] == golden.checksum(), f"run {golden.COMMAND}"


@pytest.mark.parametrize("section", golden.SECTIONS)
def test_the_file_holds_what_is_asked_for_and_nothing_else(section):
    _, cases = golden.SECTIONS[section]
    assert golden.golden()[section].keys() == {golden.key(*case) for case in cases}, f"run {golden.COMMAND}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "most"), [("values", 4), ("scores", 80), ("equilibria", 20), ("line-ups", 10), ("choices", 20)]
)
def test_the_smallest_figures_are_computed_again(section, most):
    kept = golden.golden()[section]
    for name, figure in golden.figures(section, smallest(section, most)):
        found = {part: tuple(numbers) for part, numbers in figure.items()} if section == "line-ups" else figure
        assert kept[name] == found, f"run {golden.COMMAND}"
