"""Objects that are cached are the same for all callers, so nobody can write to their arrays."""

import numpy as np

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.envs import stepper_of
from stb_gym.games import rolls
from stb_gym.large import boards_of, solve_boards
from stb_gym.rounds import Round, RoundVectorEnv
from stb_gym.solver import chance_to_beat, compile_game


def shared_arrays(thing, name, seen):
    """Yield the names and the arrays that a second look at the attributes of an object finds again."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    parts = []
    if isinstance(thing, np.ndarray):
        yield name, thing
    elif isinstance(thing, dict):
        parts = thing.items()
    elif isinstance(thing, list | tuple):
        parts = enumerate(thing)
    elif type(thing).__module__.startswith("stb_gym"):
        names = [each for each in dir(type(thing)) if not each.startswith("_")] + [*getattr(thing, "__dict__", ())]
        found = {each: getattr(thing, each) for each in dict.fromkeys(names) if each != "outcome"}
        parts = [(each, part) for each, part in found.items() if getattr(thing, each) is part]
    for each, part in parts:
        yield from shared_arrays(part, f"{name}.{each}", seen)


def test_arrays_of_cached_objects_cannot_be_written():
    box, threes = ShutTheBox(tiles=4, one_die="any-time"), Threes(dice=2, faces=3)
    rounds, env = Round(threes, players=3), RoundVectorEnv(threes, 2)
    cached = [rolls(threes, 2), boards_of(box), solve_boards(box), solve(box), solve(threes, exact=True)]
    cached += [rounds, rounds.solve(), rounds.evaluate(["random"] * 3), env.opponents, env.transitions]
    cached += [compile_game(threes), chance_to_beat(compile_game(threes)), stepper_of(box, kind="boards")]
    arrays = [pair for each in cached for pair in shared_arrays(each, type(each).__name__, {})]
    assert len(arrays) > 200
    assert [name for name, array in arrays if array.flags.writeable] == []
