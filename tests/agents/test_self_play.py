"""Selves of a learner: whom it plays in self-play."""

from itertools import product

import numpy as np
import pytest

from agents.checkpoints import load_snapshot, save_snapshot
from agents.self_play import SELVES, Selves, mixed
from agents.snapshots import named, part
from stb_gym import ShutTheBox, Threes
from stb_gym.rounds import Round

ROUND = Round(Threes(dice=2), players=3)
SEEN = ["random", "threes-only", "approximation"]


def everyone(name, rules=ROUND):
    return rules.evaluate([name] * rules.players)


def selves_of(kind):
    selves = Selves(kind, everyone(SEEN[0]))
    for name in SEEN[1:]:
        selves.add(everyone(name))
    return selves


def drawn(chances):
    """What the seats win if each plays each of the strategies with these chances, line-up by line-up."""
    return sum(
        np.prod([chances[each] for each in lineup]) * ROUND.evaluate([SEEN[each] for each in lineup]).seats
        for lineup in product(range(len(SEEN)), repeat=ROUND.players)
    )


@pytest.mark.parametrize(
    ("kind", "chances"),
    [("naive", (0, 0, 1)), ("fictitious", (1 / 3, 1 / 3, 1 / 3)), ("league", (0.2 / 3, 0.2 / 3, 0.8 + 0.2 / 3))],
)
def test_the_opponents_are_selves_that_are_drawn_for_every_turn(kind, chances):
    selves = selves_of(kind)
    assert selves.count == 3
    assert selves.opponents.seats == pytest.approx(drawn(chances), abs=1e-12)
    assert selves.average.seats == pytest.approx(drawn((1 / 3, 1 / 3, 1 / 3)), abs=1e-12)
    assert (selves.newest.seats == everyone("approximation").seats).all()
    assert selves.opponents.throws.sum() > 3


def test_a_mixture_of_equals_is_as_exploitable_as_they_are():
    rules = Round(ShutTheBox(tiles=3), players=2)
    one = everyone("optimal", rules)
    assert mixed(one, one, 0.3).exploitability == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", SELVES)
def test_selves_go_on_from_a_snapshot_on_disk(kind, tmp_path):
    selves = selves_of(kind)
    save_snapshot(tmp_path / "selves", named("selves", selves.snapshot()))
    restored = Selves.restored(kind, ROUND, part(load_snapshot(tmp_path / "selves"), "selves"))
    for each in (selves, restored):
        each.add(everyone("take-all"))
    assert restored.count == 4
    for ours, theirs in zip(restored.opponents.played, selves.opponents.played, strict=True):
        assert (ours.chances == theirs.chances).all()
        assert (ours.throws == theirs.throws).all()
