"""Test diagnoses: parts of the regret beside the reference, critics and exact gradients."""

import math
from collections import Counter
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cache
from itertools import product

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers import NormalizeReward, TransformReward
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from torch import nn

from stb_gym import RecordVisits, RegretMeter, ShutTheBox, Threes, VectorRecordVisits, diagnose
from stb_gym.envs import TurnVectorEnv
from stb_gym.measure import Visits, policy_gradient
from stb_gym.solver import compile_game, expected
from tests import every, reference
from tests.measure.test_meter import first_legal, player
from tests.solver.test_evaluation import random_policy
from tests.twins import in_their_words, move_of, their_utility, throwing_states, twin

pytestmark = pytest.mark.slow

BOX = "stb_gym/ShutTheBox-v0"
SIX = ShutTheBox(tiles=6)
TABLES = compile_game(SIX)
METER = RegretMeter(SIX)
RANDOM = np.random.default_rng(3)


# Parts of the regret


def random_visits(game, turns=20):
    """Return the visits of some turns of random play."""
    envs = VectorRecordVisits(TurnVectorEnv(game, turns, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP))
    envs.reset(seed=turns)
    for _ in range(6):
        envs.step(envs.unwrapped.legal_sample())
    return envs.visits


def regret_by_the_reference(game, policy, visits, is_tried, by_frequencies):
    """Return the regret of the best policy that takes tried actions [P] or plays as the agent does.

    It plans with the frequencies of the visits if `by_frequencies`, else with the true probabilities.
    """
    tables, other, plays = visits.tables, twin(game), in_their_words(visits.tables, policy)
    utility = their_utility(game, "score")
    tried, seen, chosen = {}, Counter(), {}
    for state, where, roll in throwing_states(tables):
        seen[where, roll] = int(visits.states[state])
        seen[where] += int(visits.states[state])
        tried[where, roll] = [move_of(tables, pair) for pair in tables.pairs_of(state) if is_tried[pair]]

    def at_state(where, roll):
        values = {move: value(after) for move, after in other.moves(where, roll)}
        if not values:
            return utility(other.final_score(where))
        worst = utility(reference.worst_score(other))
        own = sum(share * values.get(move, worst) for move, share in plays(where, roll).items())
        known = {move: round(float(values[move]), 12) for move in tried[where, roll]}  # equal values are equal
        if known and max(known.values()) > own + 1e-12:  # else the agent keeps its own actions
            chosen[where, roll] = {reference.first_best(known): 1}
            return max(known.values())
        return own

    @cache
    def value(where):
        if other.is_over(where):
            return utility(other.final_score(where))
        by_seen = by_frequencies and seen[where] > 0
        return sum(
            (Fraction(seen[where, roll], seen[where]) if by_seen else chance) * at_state(where, roll)
            for roll, chance in other.outcomes(where)
        )

    value(other.start())
    best = reference.value(other, other.start(), utility)
    found = reference.policy_value(other, lambda where, roll: chosen.get((where, roll)) or plays(where, roll), utility)
    return float(best - found)


@pytest.mark.parametrize(
    ("game", "illegal"), every(3, product([ShutTheBox(tiles=4), Threes(dice=3, faces=4)], [False, True]))
)
def test_parts_are_means_over_both_orders_of_the_reference(game, illegal):
    """In both orders and with both thresholds the parts sum to the regret."""
    meter, tables = RegretMeter(game), replace(compile_game(game))
    nothing = Visits(tables, np.zeros(tables.num_states, int), np.zeros(len(tables.pair_afterstate), int))
    for seed, visits in enumerate((nothing, *(random_visits(game, turns) for turns in (2, 100)))):
        policy = random_policy(game, seed, illegal)
        sampled = regret_by_the_reference(game, policy, visits, visits.pairs >= 0, True)
        for least in (1, 5):
            explored, both = (regret_by_the_reference(game, policy, visits, visits.pairs >= least, by) for by in (0, 1))
            found = diagnose(meter, player(game, policy), visits, min_visits=least)
            regret = found.evaluation.regret
            parts = {
                "exploration": (explored + (both - sampled)) / 2,
                "sampling": (sampled + (both - explored)) / 2,
                "exploration_first": explored,
                "sampling_first": sampled,
                "rest": regret - both,
            }
            assert found.summary() == pytest.approx({"regret": regret, **parts}, abs=1e-9)
            assert found.exploration + found.sampling + found.rest == pytest.approx(regret, abs=1e-12)


# Critics


def exact_values(policy):
    """Return the exact values [S] and [S, A] of a policy of SIX in the unit of rewards, illegal actions as -21."""
    at_afterstates, at_states = expected(
        TABLES, METER.optimum.evaluate(policy).weights, -TABLES.final_score.astype(float)
    )
    of_actions = np.full((TABLES.num_states, TABLES.num_actions), -21.0)
    of_actions[TABLES.pair_state, TABLES.pair_action] = TABLES.after_pairs(at_afterstates)
    return at_states, of_actions


def critic_errors(policy, values, meter=METER):
    """Return the errors of a critic with the values [S] or [S, A]."""
    critic = player(SIX, values)
    return asdict(diagnose(meter, player(SIX, policy), random_visits(SIX), critic=critic).critic)


@pytest.mark.parametrize("scale", [1, 0.1])
@pytest.mark.parametrize("of_actions", [False, True])
def test_errors_of_a_critic_are_weighted_by_visits(scale, of_actions):
    policy = random_policy(SIX, 1)
    exact, exact_of_actions = exact_values(policy)
    state, action = TABLES.pair_state, TABLES.pair_action
    if of_actions:
        values = exact_of_actions + RANDOM.normal(2, 3, exact_of_actions.shape)
        of_states, of_pairs = (policy * values).sum(axis=1), values[state, action]
    else:
        of_states = values = exact + RANDOM.normal(2, 3, TABLES.num_states) * (TABLES.choices > 0)
        of_pairs = TABLES.after_pairs(np.bincount(TABLES.state_origin, TABLES.state_probability * values))
    visits = METER.optimum.evaluate(policy).visits
    advantage = exact_of_actions[state, action] - exact[state]
    weights = visits[state] / TABLES.choices[state] * (abs(advantage) > 1e-6)
    is_wrong = (of_pairs - of_states[state]) * advantage < 0
    errors, shares = (of_states - exact)[TABLES.decisions], visits[TABLES.decisions]
    meter = METER if scale == 1 else RegretMeter(gym.make(BOX, tiles=6, reward_scale=scale))
    assert critic_errors(policy, scale * values, meter) == pytest.approx(
        {
            "bias": np.average(errors, weights=shares),
            "root_mean_square": np.average(errors**2, weights=shares) ** 0.5,
            "wrong_signs": np.average(is_wrong, weights=weights),
        }
    )


@pytest.mark.parametrize("deterministic", [False, True])
def test_exact_action_values_of_illegal_play_have_no_errors(deterministic):
    """Estimates of illegal actions count as the policy takes them."""
    policy = random_policy(SIX, 1, illegal=True)
    if deterministic:
        policy = np.eye(TABLES.num_actions)[policy.argmax(axis=1)]
    evaluation = METER.optimum.evaluate(policy, "end")
    assert evaluation.illegal_mass > 0
    values = np.full(policy.shape, -21.0)
    values[TABLES.pair_state, TABLES.pair_action] = TABLES.after_pairs(evaluation.utilities[0])
    assert critic_errors(policy, values) == pytest.approx(dict.fromkeys(critic_errors(policy, values), 0))
    values[(policy == 0) & ~TABLES.legal] = math.nan
    assert critic_errors(policy, values)["bias"] == pytest.approx(0)


def test_critics_learn_from_the_rewards_of_their_own_environment():
    def errors(env, scale):
        model = A2C("MlpPolicy", env, seed=1, device="cpu")
        model.policy.value_net.weight.data[:] = 0
        model.policy.value_net.bias.data[:] = -5 * scale
        return diagnose(METER, model, random_visits(SIX), masked=True).critic

    plain = gym.make(BOX, tiles=6)
    scaled = TransformReward(gym.make(BOX, tiles=6, reward_scale=0.5), lambda reward: reward / 5)
    assert errors(scaled, 0.1).bias == pytest.approx(errors(plain, 1).bias, rel=1e-5)
    assert errors(NormalizeReward(plain), 1) is None


@pytest.mark.parametrize("algorithm", every(2, [PPO, A2C, DQN, MaskablePPO]))
def test_models_of_stable_baselines3_have_critics_and_parts(algorithm):
    env = gym.make(BOX, tiles=6)
    model, meter, is_actor = algorithm("MlpPolicy", env, seed=1, device="cpu"), RegretMeter(env), algorithm is not DQN
    found = diagnose(meter, model, random_visits(SIX), fit_steps=10)
    parts = found.exploration, found.sampling, found.representation, found.rest
    assert sum(parts) == pytest.approx(found.evaluation.regret, abs=1e-12)
    assert found.evaluation.regret == meter(model).regret
    with torch.no_grad():
        critic = model.policy.predict_values if is_actor else model.q_net
        values = critic(torch.as_tensor(TABLES.observation.astype(np.float32))).numpy().squeeze()
    expected_errors = critic_errors(meter.policy(model, deterministic=not is_actor), values)
    assert asdict(found.critic) == pytest.approx(expected_errors, rel=1e-6)


# Representation


def test_a_small_network_loses_by_representation():
    visits = Visits(TABLES, np.ones(TABLES.num_states, int), np.ones(len(TABLES.pair_afterstate), int))
    torch.manual_seed(0)
    regrets = {}
    for width in (1, 64):
        layers = nn.Linear(TABLES.observation.shape[1], width), nn.ReLU(), nn.Linear(width, TABLES.num_actions)
        network = nn.Sequential(*layers)
        before = nn.utils.parameters_to_vector(network.parameters())
        found = diagnose(METER, network, visits, masked=True, fit_steps=100)
        regrets[width] = found.exploration + found.sampling + found.representation
        assert torch.equal(nn.utils.parameters_to_vector(network.parameters()), before)
    assert regrets[1] > 10 * regrets[64]
    assert regrets[64] < 0.1


# The gradient


def double_network(seed):
    torch.manual_seed(seed)
    layers = nn.Linear(TABLES.observation.shape[1], 8), nn.Tanh(), nn.Linear(8, TABLES.num_actions)
    return nn.Sequential(*layers).double()


def check_gradient(meter, agent, network, masked, step, error):
    """Compare the gradient with finite differences at 25 parameters, from large to small derivatives."""
    gradient = policy_gradient(meter, agent, masked)
    weights = nn.utils.parameters_to_vector(network.parameters()).detach()
    assert gradient.shape == weights.shape

    def value(place, change):
        moved = weights.clone()
        moved[place] += change
        nn.utils.vector_to_parameters(moved, network.parameters())
        return -meter(agent, deterministic=False, masked=masked).value

    for place in np.argsort(-abs(gradient))[:: len(gradient) // 25].tolist():
        difference = value(place, step) - value(place, -step)
        assert gradient[place] == pytest.approx(difference / (2 * step), abs=error)


@pytest.mark.parametrize("masked", [False, True])
def test_the_gradient_equals_finite_differences(masked):
    network = double_network(4)
    check_gradient(METER, network, network, masked, step=1e-4, error=1e-6)


def test_the_gradient_is_that_of_the_network_as_it_plays():
    """In training mode dropout would make it random, and batch normalisation would change the network."""
    torch.manual_seed(4)
    first, last = nn.Linear(TABLES.observation.shape[1], 8), nn.Linear(8, TABLES.num_actions)
    network = nn.Sequential(first, nn.BatchNorm1d(8), nn.Dropout(), last).double()
    before = {name: entry.clone() for name, entry in network.state_dict().items()}
    check_gradient(METER, network, network, masked=True, step=1e-4, error=1e-6)
    assert network.training
    network.load_state_dict(before)
    policy_gradient(METER, network, masked=True)
    assert all(torch.equal(entry, before[name]) for name, entry in network.state_dict().items())


def test_the_gradient_of_a_model_equals_finite_differences():
    env = gym.make(BOX, tiles=4)
    model = MaskablePPO("MlpPolicy", env, seed=2, device="cpu", policy_kwargs={"net_arch": [8]})
    check_gradient(RegretMeter(env), model, model.policy, None, step=0.03, error=1e-4)  # in single precision


def test_a_given_gradient_is_compared_with_the_exact_one():
    """Test a gradient given as one vector, and as a list with None; another size is refused."""
    network, visits = double_network(5), random_visits(SIX)
    exact = policy_gradient(METER, network, masked=True)
    opposite = torch.as_tensor(-2 * exact)
    *parts, bias = opposite.split([weight.numel() for weight in network.parameters()])
    share = np.linalg.norm(exact[: -len(bias)]) / np.linalg.norm(exact)
    for given, cosine in ((opposite, -1), ([*parts, bias], -1), ([*parts, None], -share)):
        found = diagnose(METER, network, visits, masked=True, gradient=given)
        assert found.gradient_cosine == pytest.approx(cosine)
    shaped = [part.view(weight.shape) for part, weight in zip([*parts, bias], network.parameters(), strict=True)]
    assert diagnose(METER, network, visits, masked=True, gradient=shaped).gradient_cosine == pytest.approx(-1)
    for wrong in (
        parts,
        [*parts, bias, bias],
        opposite[1:],
        [part.mT if part.ndim > 1 else part for part in shaped],
        shaped[::-1],
    ):
        with pytest.raises(ValueError, match="but the agent's network"):
            diagnose(METER, network, visits, masked=True, gradient=wrong)
    for wrong, error in (([None] * len(shaped), "is zero"), (opposite * math.inf, "infinite")):
        with pytest.raises(ValueError, match=error):
            diagnose(METER, network, visits, masked=True, gradient=wrong)


def test_a_gradient_is_not_compared_where_no_choice_matters():
    game = ShutTheBox(tiles=1, dice=1)
    tables = compile_game(game)
    network = nn.Linear(tables.observation.shape[1], tables.num_actions)
    ones = [torch.ones_like(weight) for weight in network.parameters()]
    with pytest.raises(ValueError, match="the exact gradient is zero"):
        diagnose(RegretMeter(game), network, random_visits(game), masked=True, gradient=ones)


def test_a_recorder_of_visits_passes_seeds_on():
    plain, recorded = gym.make("stb_gym/Threes-v0"), RecordVisits(gym.make("stb_gym/Threes-v0"))
    for seed in range(3):
        np.testing.assert_array_equal(plain.reset(seed=seed)[0], recorded.reset(seed=seed)[0])


# Refusals


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (lambda: RecordVisits(gym.make("stb_gym/ShutTheBox16-v0")), "too many positions"),
        (lambda: VectorRecordVisits(gym.make_vec("CartPole-v1")), "needs a vector environment of stb_gym"),
        (lambda: random_visits(SIX) + random_visits(ShutTheBox(tiles=5)), "same game"),
        (lambda: diagnose(METER, first_legal, random_visits(ShutTheBox(tiles=5))), "the visits are of"),
        (lambda: diagnose(METER, first_legal, random_visits(SIX), fit_steps=1), "a network that scores .* a function"),
        (
            lambda: diagnose(METER, first_legal, random_visits(SIX), critic=lambda seen: seen[:3]),
            r"a critic must return values \[B\] or \[B, A\], not shape \(3, ",
        ),
        (
            lambda: diagnose(METER, first_legal, random_visits(SIX), critic=lambda seen: None),
            "the critic returned None",
        ),
    ],
)
def test_other_environments_visits_agents_and_critics_are_refused(refused, error):
    with pytest.raises((TypeError, ValueError), match=error):
        refused()
