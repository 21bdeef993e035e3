"""The meter: its numbers against the reference, what counts as an agent, and what is refused."""

from inspect import signature

import gymnasium as gym
import numpy as np
import pytest

from stb_gym import (
    MaskInObservation,
    Objective,
    Player,
    RegretMeter,
    ShutTheBox,
    Threes,
    TurnEnv,
    TurnVectorEnv,
    compile_game,
    evaluate,
    save_policy,
    solve,
)
from tests import reference
from tests.twins import choice, position, roll_at, twin

NINE, SIX = ShutTheBox(), ShutTheBox(tiles=6)
ACTIONS = len(SIX.moves)


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def biggest_first(observations, masks):
    """Reads off the observation which tiles stand, and what was thrown; never looks at the masks."""
    moves, tiles = NINE.moves, observations[:, :9].astype(bool)
    rolls = 2 + observations[:, 9:].argmax(axis=1)
    order = sorted(range(len(moves)), key=lambda action: moves[action][::-1], reverse=True)
    return [
        next(a for a in order if sum(moves[a]) == roll and all(open_[tile - 1] for tile in moves[a]))
        for open_, roll in zip(tiles, rolls, strict=True)
    ]


def of_the_reference(game, policy):
    """A policy as the reference wants it."""
    tables, answers = compile_game(game), {}
    for node in tables.decisions:
        state = tables.node_state[node]
        where = position(game, int(tables.held[state]), int(tables.dice[state]))
        answers[where, roll_at(tables, node)] = choice(tables, node, policy)
    return lambda where, roll: answers[where, roll]


def test_a_rule_of_thumb_on_observations_has_its_published_regret():
    evaluation = RegretMeter(gym.make("stb_gym/ShutTheBox-v0"))(biggest_first)
    assert evaluation.value == pytest.approx(11.373255046, abs=1e-9)
    assert evaluation.regret == pytest.approx(11.373255046 - 11.15750844420262, abs=1e-9)
    assert evaluation.agreement == pytest.approx(1 - 210 / 4040)
    other = reference.policy_value(
        reference.ShutTheBox(), reference.biggest_first(reference.ShutTheBox()), reference.fewest
    )
    assert evaluation.value == pytest.approx(-float(other), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("game", [SIX, ShutTheBox(tiles=5, score="count"), Threes(dice=3)], ids=str)
@pytest.mark.parametrize(("objective", "utility"), [("score", reference.fewest), ("shut", reference.shut)])
@pytest.mark.parametrize("form", ["actions", "probabilities"])
def test_regrets_are_those_of_the_reference_with_and_without_illegal_actions(game, objective, utility, form):
    env = TurnEnv(game, objective, "end")
    random, actions = np.random.default_rng(0), len(game.moves)

    def agent(observations, masks):
        if form == "actions":
            return np.where(
                random.random(len(masks)) < 0.8, masks.argmax(axis=1), random.integers(actions, size=len(masks))
            )
        chances = random.exponential(size=masks.shape) * (masks + 0.1)
        return chances / chances.sum(axis=1, keepdims=True)

    meter = RegretMeter(env)
    policy = meter.policy(agent)
    evaluation = meter(lambda observations, masks: policy[meter.optimum.tables.decisions])
    other = twin(game)
    best = reference.value(other, other.start(), utility)
    played = reference.policy_value(other, of_the_reference(game, policy), utility)
    assert evaluation.regret == pytest.approx(float(best) - float(played), abs=1e-12)
    assert 0 < evaluation.illegal_mass < 1


def test_what_a_meter_is_made_of():
    squares = Objective("squares", lambda points: -(points**2))
    for what, objective, illegal in (
        (TurnEnv(SIX, "shut", "raise"), "shut", "raise"),
        (TurnVectorEnv(SIX, 2, "shut", "raise"), "shut", "raise"),
        (TurnEnv(SIX), "score", "end"),
        (SIX, "score", "end"),
    ):
        meter = RegretMeter(what)
        assert (meter.game, meter.objective.name, meter.illegal) == (SIX, objective, illegal)
        assert meter.optimum.value == solve(SIX, objective).value
    meter = RegretMeter(TurnEnv(SIX, "shut", "end"), squares, "raise")
    assert (meter.objective, meter.illegal) == (squares, "raise")
    assert meter(first_legal).regret == evaluate(SIX, meter.policy(first_legal), squares).regret
    with pytest.raises(TypeError, match="is neither a game nor an environment"):
        RegretMeter("stb_gym/ShutTheBox-v0")
    with pytest.raises(ValueError, match="unknown objective 'win'"):
        RegretMeter(SIX, "win")
    with pytest.raises(ValueError, match="unknown treatment of illegal actions 'stop': allowed are end, raise"):
        RegretMeter(SIX, illegal="stop")


def test_a_policy_of_the_meter_is_one_to_save_and_evaluate(tmp_path):
    meter = RegretMeter(SIX)
    for agent in (first_legal, lambda observations, masks: masks / masks.sum(axis=1, keepdims=True)):
        policy = meter.policy(agent)
        save_policy(tmp_path / "policy.npz", SIX, policy)
        assert evaluate(SIX, policy).regret == meter(agent).regret


def test_illegal_actions_end_the_turn_or_are_refused():
    def never_legal(observations, masks):
        return masks.argmin(axis=1)

    evaluation = RegretMeter(SIX)(never_legal)
    assert evaluation.illegal_mass == pytest.approx(1)
    assert evaluation.value == pytest.approx(21)
    with pytest.raises(ValueError, match="takes the illegal action"):
        RegretMeter(SIX, illegal="raise")(never_legal)


def test_a_function_is_given_masks_if_it_asks_for_them():
    meter, found = RegretMeter(SIX), []

    def greedy(observations):
        return Player(SIX, solve(SIX).policy)(observations)

    def with_state(observations, state=None):
        found.append(state)
        return greedy(observations)

    def with_mask(observations, action_mask=None):
        found.append(action_mask is not None)
        return action_mask.argmax(axis=1)

    class Callable:
        def __call__(self, observations, masks):
            return first_legal(observations, masks)

    assert meter(greedy).regret == meter(with_state).regret == meter(Player(SIX, solve(SIX).policy)).regret == 0
    assert meter(with_mask).regret == meter(Callable()).regret == meter(first_legal).regret > 0
    assert found == [None, True]


# Anything with stable-baselines3's `predict`


class Model:
    """As a model of stable-baselines3's."""

    def __init__(self, choose, game=SIX, **more):
        self.choose, self.calls = choose, []
        self.action_space = gym.spaces.Discrete(len(game.moves))
        self.observation_space = TurnEnv(game).observation_space
        vars(self).update(more)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.calls.append(deterministic)
        return self.choose(observation), state


class Masked(Model):
    def predict(self, observation, state=None, episode_start=None, deterministic=False, action_masks=None):
        self.calls.append(deterministic)
        return self.choose(observation, action_masks), state


class HandsOn:
    """As people wrap models."""

    def __init__(self, model):
        self.model = model

    def predict(self, observation, **options):
        return self.model.predict(observation, **options)


def zeros(observations):
    return np.zeros(len(observations), np.int64)


def test_a_model_predicts_with_masks_if_it_takes_them():
    meter = RegretMeter(SIX)
    masked, plain = Masked(first_legal), Model(zeros)
    assert meter(masked).regret == meter(first_legal).regret
    assert meter(plain).regret == meter(lambda observations, masks: zeros(observations)).regret
    assert meter(HandsOn(plain)).regret == meter(plain).regret
    assert meter(plain).illegal_mass > 0
    assert masked.calls == [True]
    assert set(plain.calls) == {True}


def test_a_model_that_explores_is_measured_by_the_probabilities_with_which_it_does():
    meter, rate = RegretMeter(SIX), 0.3
    for model in (Model(zeros, exploration_rate=rate), Masked(first_legal, exploration_rate=rate)):
        chances = meter.policy(model, deterministic=False)
        greedy = meter.policy(model)
        takes_masks = "action_masks" in signature(model.predict).parameters
        for node in meter.optimum.tables.decisions[::7]:
            legal = meter.optimum.tables.legal(np.array([node]))[0]
            among = legal if takes_masks else np.ones(ACTIONS, bool)
            for action in range(ACTIONS):
                explored = rate / among.sum() if among[action] else 0
                assert chances[node, action] == pytest.approx(explored + (1 - rate) * (action == greedy[node]))
        assert meter(model, deterministic=False).regret > 0


def test_a_model_without_known_probabilities_is_refused_unless_deterministic():
    with pytest.raises(
        ValueError, match=r"^Model does not say its probabilities: measure it with deterministic=True, or"
    ):
        RegretMeter(SIX)(Model(zeros), deterministic=False)


def test_a_model_of_another_game_or_environment_is_refused():
    meter = RegretMeter(SIX)
    with pytest.raises(ValueError, match=rf"has {ACTIONS} actions, but the agent chooses from Discrete\(62\)"):
        meter(Model(zeros, NINE))
    with pytest.raises(ValueError, match=r"actions, but the agent chooses from Box\("):
        meter(Model(zeros, action_space=gym.spaces.Box(0, 1, (ACTIONS,))))
    longer = gym.spaces.Box(0, 1, (18,))
    message = r"the agent sees \(18,\), but the meter shows \(17,\): make the meter with the agent's environment"
    with pytest.raises(ValueError, match=message):
        meter(Model(zeros, observation_space=longer))
    masked = RegretMeter(MaskInObservation(TurnEnv(SIX)))
    with pytest.raises(ValueError, match=r"sees \(17,\), but the meter shows \{.*'observation': \(17,\)"):
        masked(Model(zeros))
    space = MaskInObservation(TurnEnv(SIX)).observation_space
    with pytest.raises(ValueError, match=r"the agent sees \{.*\}, but the meter shows \(17,\)"):
        meter(Masked(first_legal, observation_space=space))
    assert masked(Masked(first_legal, observation_space=space)).regret == meter(first_legal).regret


def test_a_model_whose_observations_are_normalised_is_refused_elsewhere():
    with pytest.raises(ValueError, match="are normalised: make the meter with its VecNormalize environment"):
        RegretMeter(SIX)(Model(zeros, get_vec_normalize_env=lambda: object()))
    assert RegretMeter(SIX)(Model(zeros, get_vec_normalize_env=lambda: None)).illegal_mass > 0


class Remembers(Model):
    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return zeros(observation), (1,)


class Alone(Model):
    def predict(self, observation, deterministic=False):
        return zeros(observation)


class Estimator:
    def predict(self, observation):
        return zeros(observation)


def test_what_predicts_otherwise_is_refused():
    meter = RegretMeter(SIX)
    with pytest.raises(ValueError, match="the agent has a memory: what it does is not determined by the position"):
        meter(Remembers(zeros))
    with pytest.raises(TypeError, match=r"predict returns \(actions, states\), not something of type ndarray"):
        meter(Alone(zeros))
    with pytest.raises(TypeError, match="predict is not stable-baselines3's: measure a function that calls it instead"):
        meter(Estimator())


@pytest.mark.parametrize("thing", [None, "ppo.zip", 3, Model, solve(SIX).policy, {}], ids=lambda it: type(it).__name__)
def test_what_is_no_agent_is_refused(thing):
    with pytest.raises(
        TypeError, match=r"is no agent: allowed are a function of \(observations, masks\), a torch module"
    ):
        RegretMeter(SIX)(thing)


def test_answers_are_checked_as_those_of_any_function():
    meter = RegretMeter(SIX)
    with pytest.raises(TypeError, match=r"did you forget \[0\]\?"):
        meter(Model(zeros).predict)
    with pytest.raises(ValueError, match="must answer each, not with shape"):
        meter(lambda observations, masks: 3)
    with pytest.raises(ValueError, match="is negative or not a number at open 2, roll 2"):
        meter(lambda observations, masks: np.full(masks.shape, np.nan))
    with pytest.raises(ValueError, match=rf"sum to {ACTIONS}, not 1"):
        meter(lambda observations, masks: np.ones(masks.shape))
