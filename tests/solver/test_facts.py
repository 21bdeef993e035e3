"""Published values of `facts.toml`; the notebooks check published sets of moves and states."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from stb_gym import ShutTheBox, solve, strategy
from stb_gym.games import game_of
from tests import every

NINE = ShutTheBox()
FACTS = tomllib.loads(Path(__file__).with_name("facts.toml").read_text())["facts"]


@pytest.mark.parametrize("fact", every(6, FACTS), ids=lambda fact: str({**fact}))
def test_values_and_best_moves(fact):
    game = game_of(fact.get("game", "shut-the-box"), fact.get("rules"))
    text = fact["value"]
    best = solve(game, fact.get("objective"), worst=fact.get("worst", False), exact="/" in text)
    where = fact.get("where", {})
    value = best.evaluate(strategy(game, fact["strategy"])).value if "strategy" in fact else best.value_at(**where)
    places = len(text.partition(".")[2])
    assert value == Fraction(text) if "/" in text else value == pytest.approx(float(text), abs=10**-places)
    if "move" in fact:
        assert best.moves(**where)["move"][0] == fact["move"]
