"""Test the kinds of agents: each gives its policy, and anything else is refused in one line."""

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from stb_gym import MaskInObservation, RegretMeter
from stb_gym.envs import TurnEnv
from stb_gym.solver import compile_game
from tests.measure.test_meter import NINE, SIX, first_legal, player

TABLES = compile_game(SIX)
ACTIONS = TABLES.num_actions
FIRST = TABLES.pair_action[TABLES.pair_start[TABLES.decisions]]


def one_hot(actions):
    return np.eye(ACTIONS)[actions]


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        np.ndarray.tolist,
        lambda actions: actions.astype(np.uint8),
        lambda actions: one_hot(actions).tolist(),
        lambda actions: one_hot(actions).astype(np.float32),
        lambda actions: one_hot(actions).astype(bool),
    ],
    ids=range(6),
)
def test_actions_and_probabilities_may_have_any_form(form):
    policy = RegretMeter(SIX).policy(lambda observations, masks: form(masks.argmax(axis=1)))
    assert (policy[TABLES.decisions] == (FIRST if policy.ndim == 1 else one_hot(FIRST))).all()


def test_a_function_receives_masks_if_its_second_argument_asks_for_them(solved):
    best = player(SIX, solved(SIX).policy)

    def with_state(observations, state=None):
        assert state is None
        return best(observations)

    def with_mask(observations, action_mask=None):
        assert observations.dtype == np.float32
        assert action_mask.any(axis=1).all()
        return action_mask.argmax(axis=1)

    class Callable:
        def __call__(self, observations, masks):
            return first_legal(observations, masks)

    meter = RegretMeter(SIX)
    assert meter(best).regret == meter(with_state).regret == 0
    assert meter(with_mask).regret == meter(Callable()).regret == meter(first_legal).regret > 0


def test_agents_may_overwrite_what_they_receive():
    meter = RegretMeter(MaskInObservation(TurnEnv(SIX)))

    def careless(observations, masks):
        actions = observations["action_mask"].argmax(axis=1)
        for entry in (*observations.values(), masks):
            entry[:] = 0
        return actions

    assert meter(careless).regret == meter(careless).regret == meter(first_legal).regret
    assert meter.sample(careless, 500, 1).summary() == meter.sample(first_legal, 500, 1).summary()


def test_a_function_that_draws_its_actions_is_named(recwarn):
    numbers = np.random.default_rng(0)

    def draws(observations, masks):
        return np.where(masks, numbers.random(masks.shape), 0).argmax(axis=1)

    meter = RegretMeter(SIX)
    with pytest.warns(UserWarning, match="the agent draws its actions: let it return probabilities"):
        meter(draws)
    with pytest.warns(UserWarning, match="draws its actions"):
        meter.policy(draws)
    means = np.mean([meter(draws, deterministic=False).regret for _ in range(300)])
    assert means == pytest.approx(meter(lambda _, masks: masks / masks.sum(axis=1, keepdims=True)).regret, rel=0.02)
    assert not recwarn


@pytest.mark.parametrize(("size", "is_named"), [(10, True), (0.5, False)])
def test_answers_that_depend_on_the_batch_are_named_if_they_are_not_rounded(size, is_named, recwarn):
    def answers(observations, masks):
        best = np.eye(masks.shape[1])[masks.argmax(axis=1)]
        return (1 - size / len(masks)) * best + size / len(masks) * masks / masks.sum(axis=1, keepdims=True)

    RegretMeter(SIX)(answers)
    assert [("depend on the other positions" in str(each.message)) for each in recwarn] == [True] * is_named


# Models with stable-baselines3's `predict`


class Model:
    """A model as in stable-baselines3; `choose` maps observations to actions."""

    def __init__(self, choose, game=SIX, **attributes):
        self.choose = choose
        self.action_space = gym.spaces.Discrete(len(game.actions))
        self.observation_space = TurnEnv(game).observation_space
        vars(self).update(attributes)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return self.choose(observation), state


class Masked(Model):
    def predict(self, observation, state=None, episode_start=None, deterministic=False, action_masks=None):
        return self.choose(observation, action_masks), state


def zeros(observations):
    return np.zeros(len(observations), np.int64)


# Refusals


def answering(answer):
    return lambda observations, masks: answer(masks)


def with_entry(entry):
    """Return actions of which the sixth is `entry`."""
    return answering(lambda masks: np.where(np.arange(len(masks)) == 5, entry, masks.argmax(axis=1)))


LONGER = gym.spaces.Box(0, 1, (18,))
REFUSED = {
    "a name": "ppo.zip",
    "a class": Model,
    "a policy": FIRST,
    "one number": answering(lambda masks: 3),
    "three dimensions": answering(lambda masks: np.zeros((len(masks), 2, 2))),
    "too few actions": answering(lambda masks: np.ones((len(masks), ACTIONS - 1))),
    "an action below 0": with_entry(-1),
    "an action too many": with_entry(ACTIONS),
    "floats": answering(lambda masks: masks.argmax(axis=1) * 1.0),
    "booleans": answering(lambda masks: masks.any(axis=1)),
    "words": answering(lambda masks: ["pass"] * len(masks)),
    "scores": answering(lambda masks: masks - 1.5),
    "not numbers": answering(lambda masks: np.full(masks.shape, np.nan)),
    "no distribution": answering(lambda masks: np.ones(masks.shape)),
    "a forgotten index": Model(zeros).predict,
    "a model of another game": Model(zeros, NINE),
    "a model of continuous actions": Model(zeros, action_space=gym.spaces.Box(0, 1, (ACTIONS,))),
    "a model of other observations": Model(zeros, observation_space=LONGER),
    "a model of normalised observations": Model(zeros, get_vec_normalize_env=object),
    "a model with a memory": SimpleNamespace(predict=lambda seen, deterministic: (zeros(seen), (1,))),
    "a model without states": SimpleNamespace(predict=lambda seen, deterministic: zeros(seen)),
    "an estimator": SimpleNamespace(predict=lambda seen: zeros(seen)),
}


def test_refusals(snapshot):
    errors = {}
    for name, agent in REFUSED.items():
        with pytest.raises((TypeError, ValueError), match=r"^[^\n]+$") as refused:
            RegretMeter(SIX)(agent)
        errors[name] = f"{refused.type.__name__}: {refused.value}"
    assert errors == snapshot
