"""What an environment says of itself, and that solve and evaluate ask it."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TimeLimit
from gymnasium.wrappers.vector import DtypeObservation
from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordMany

from stb_gym import (
    MaskInObservation,
    ShutTheBox,
    Threes,
    TurnEnv,
    TurnVectorEnv,
    compile_game,
    evaluate,
    solve,
    strategy,
)
from stb_gym.solver import task_of

SIX = "stb_gym/ShutTheBox-v0"
OPTIONS = {"tiles": 6, "objective": "shut", "illegal": "raise"}
BOX = ShutTheBox(tiles=6)


def six(**options):
    return gym.make(SIX, **{**OPTIONS, **options})


def many(mode="vector_entry_point", **options):
    return gym.make_vec(SIX, 2, vectorization_mode=mode, **{**OPTIONS, **options})


class VecEnv:
    """As stable-baselines3's: environments that answer together."""

    def __init__(self, *envs):
        self.envs = list(envs)

    @property
    def unwrapped(self):
        return self

    def get_attr(self, name):
        return [env.get_wrapper_attr(name) for env in self.envs]


ENVIRONMENTS = {
    "made": six,
    "bare": lambda: TurnEnv(BOX, "shut", "raise"),
    "wrapped": lambda: TimeLimit(RecordEpisodeStatistics(FlattenObservation(MaskInObservation(six()))), 3),
    "vector": many,
    "vector, bare": lambda: TurnVectorEnv(BOX, 3, "shut", "raise"),
    "vector, wrapped": lambda: RecordMany(DtypeObservation(many(), np.float32)),
    "sync": lambda: RecordMany(many("sync")),
    "async": lambda: many("async"),
    "VecEnv": lambda: VecEnv(six(), MaskInObservation(six())),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_says_what_its_task_is(name):
    env = ENVIRONMENTS[name]()
    task = task_of(env)
    assert (task.game, task.objective.name, task.illegal) == (BOX, "shut", "raise")
    assert solve(env).value == solve(BOX, "shut").value
    assert solve(env, "score").value == solve(BOX).value
    random = strategy(BOX, "random")
    assert evaluate(env, random).regret == evaluate(BOX, random, "shut").regret > 0
    assert evaluate(env, random, "score").value == evaluate(BOX, random).value
    if hasattr(env, "close"):
        env.close()


def test_a_game_is_played_for_points_and_illegal_actions_are_refused():
    task = task_of(Threes())
    assert (task.game, task.objective.name, task.illegal) == (Threes(), "score", "raise")


@pytest.mark.parametrize("make", [six, many, lambda **options: many("sync", **options)])
def test_illegal_actions_do_to_a_policy_what_they_do_in_its_environment(make):
    tables = compile_game(BOX)
    policy = np.full(tables.nodes, (~tables.legal(tables.decisions)).all(axis=0).argmax())
    assert evaluate(make(illegal="end"), policy).illegal_mass > 0
    assert evaluate(make(illegal="raise"), policy, illegal="end").illegal_mass > 0
    for what, illegal in ((make(illegal="raise"), None), (make(illegal="end"), "raise"), (BOX, None)):
        with pytest.raises(ValueError, match="takes the illegal action"):
            evaluate(what, policy, illegal=illegal)
    with pytest.raises(ValueError, match="unknown treatment of illegal actions 'stop': allowed are end, raise"):
        evaluate(make(), policy, illegal="stop")


@pytest.mark.parametrize("other", [{"score": "count"}, {"objective": "score"}, {"illegal": "end"}])
@pytest.mark.parametrize(
    "join", [VecEnv, lambda *envs: gym.vector.SyncVectorEnv([lambda env=env: env for env in envs])]
)
def test_environments_of_different_tasks_are_refused(join, other):
    envs = join(six(), six(), six(**other))
    with pytest.raises(ValueError, match=r"the environments of \w+ have different tasks: Task\(.* and Task\("):
        solve(envs)


@pytest.mark.parametrize(
    "what",
    [
        SIX,
        ShutTheBox,
        TurnEnv,
        None,
        compile_game(BOX),
        gym.make("CartPole-v1"),
        gym.make_vec("CartPole-v1", 2),
        gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"),
        VecEnv(),
        VecEnv(gym.make("CartPole-v1")),
    ],
    ids=lambda what: f"{what!r:.30}",
)
def test_what_is_neither_a_game_nor_an_environment_of_one_is_refused(what):
    for ask in (solve, lambda it: evaluate(it, solve(BOX).policy)):
        with pytest.raises(TypeError, match="is neither a game nor an environment of stb_gym: make one") as refused:
            ask(what)
        assert str(refused.value).startswith(f"{what!r:.80} is neither")


def test_another_environment_that_has_a_game_is_refused():
    cart = gym.make("CartPole-v1")
    cart.unwrapped.game, cart.unwrapped.objective, cart.unwrapped.illegal = "chess", "mate", "end"
    with pytest.raises(TypeError, match="is neither a game nor"):
        solve(cart)
