"""Objects that are cached are the same for all callers, so nobody can write to their arrays."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.envs import environment_of, stepper_of
from stb_gym.games import rolls, walk
from stb_gym.large import box_of, solve_large
from stb_gym.rounds import Round, RoundVectorEnv
from stb_gym.solver import chance_to_beat


def shared_arrays(thing, name, seen):
    """Yield the names and the arrays that a second look at the attributes of an object finds again."""
    if isinstance(thing, np.ndarray):
        yield name, thing
    parts = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list | tuple) else ()
    if type(thing).__module__.startswith("stb_gym"):
        names = [each for each in dir(thing) if not each.startswith("_")]
        parts = [(each, getattr(thing, each)) for each in names if getattr(thing, each) is getattr(thing, each)]
    if id(thing) not in seen:
        seen[id(thing)] = thing
        for each, part in parts:
            yield from shared_arrays(part, f"{name}.{each}", seen)


def test_arrays_of_cached_objects_cannot_be_written():
    box, threes = ShutTheBox(tiles=4, one_die="any-time"), Threes(dice=2, faces=3)
    best, rounds, env = solve(threes, exact=True), Round(threes), RoundVectorEnv(threes, 2)
    cached = (
        rolls(threes, 2), box_of(box), solve_large(box), solve(box), best, chance_to_beat(best.tables),
        rounds.solve(), rounds.evaluate(["random"] * 2), env.opponents, env.turn.transitions,
        stepper_of(box, kind="boards"), best.evaluate(best.policy),
    )  # fmt: skip
    arrays = dict(shared_arrays(cached, "cached", {}))
    assert len(arrays) > 100
    assert [name for name, array in arrays.items() if array.flags.writeable] == []


def test_moves_and_arguments_of_environments_cannot_be_changed():
    moves_of = walk(Threes(dice=2))
    with pytest.raises(AttributeError):
        moves_of[0, 2][0].clear()
    environment_of("stb_gym/ShutTheBox10-v0").arguments["tiles"] = 3
    assert environment_of("stb_gym/ShutTheBox10-v0").arguments == {"tiles": 10}
