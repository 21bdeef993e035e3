"""Why an agent loses: counts beside replays, parts of the regret beside the reference, critics, exact gradients."""

from collections import Counter
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cache

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import Autoreset, TransformAction
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from torch import nn

from stb_gym import RecordVisits, RegretMeter, ShutTheBox, Threes, VectorRecordVisits, diagnose, solve, strategy
from stb_gym.envs import TurnVectorEnv
from stb_gym.measure import Visits, policy_gradient
from stb_gym.sb3 import TurnVecEnv
from stb_gym.solver import compile_game, expected
from tests import reference
from tests.twins import in_their_words, move_of, their_utility, throwing_nodes, twin

pytestmark = pytest.mark.slow

BOX = "stb_gym/ShutTheBox-v0"
SIX = ShutTheBox(tiles=6)
TABLES = compile_game(SIX)
METER = RegretMeter(SIX)
RANDOM = np.random.default_rng(3)


# Visits


def in_words(visits):
    """Return how often each observation was seen, and each (observation, action)."""
    tables = visits.tables
    rows = [tuple(row) for row in tables.observation.tolist()]
    reached = Counter({rows[node]: int(visits.nodes[node]) for node in visits.nodes.nonzero()[0]})
    taken = Counter()
    for edge in visits.edges.nonzero()[0]:
        taken[rows[tables.edge_node[edge]], int(tables.edge_action[edge])] = int(visits.edges[edge])
    return reached, taken


def keys(observations):
    return [tuple(row) for row in np.asarray(observations).astype(int).tolist()]


@pytest.mark.parametrize("limit", [None, 2])
def test_a_wrapper_counts_what_is_played(limit):
    env = RecordVisits(gym.make(BOX, tiles=6, max_episode_steps=limit))
    reached, taken = Counter(), Counter()
    for seed in range(40):
        seen, info = env.reset(seed=seed)
        over = False
        while not over:
            reached += Counter(keys([seen]))
            action = int(RANDOM.choice(np.flatnonzero(info["action_mask"])))
            taken[keys([seen])[0], action] += 1
            seen, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        reached += Counter(keys([seen]))
    assert in_words(env.visits) == (reached, taken)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("limit", [None, 2])
def test_a_vector_wrapper_counts_what_is_played(mode, limit):
    envs = VectorRecordVisits(gym.make_vec(BOX, 30, tiles=6, autoreset_mode=mode, max_episode_steps=limit))
    seen, _ = envs.reset(seed=1)
    reached, taken, over = Counter(keys(seen)), Counter(), np.zeros(30, bool)
    for _ in range(25):
        actions = envs.unwrapped.legal_sample()
        acts = ~over | (mode == "SameStep")
        taken += Counter(zip(keys(seen[acts]), actions[acts].tolist(), strict=True))
        seen, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        if mode == "SameStep":
            reached += Counter(keys(seen))
            reached += Counter(keys(infos["final_obs"][over]) if over.any() else [])
        else:
            reached += Counter(keys(seen))
        if mode == "Disabled" and over.any():
            seen, _ = envs.reset(options={"reset_mask": over})
            reached += Counter(keys(seen[over]))
            over[:] = False
    assert in_words(envs.visits) == (reached, taken)


def test_an_action_counts_as_what_was_played():
    env = RecordVisits(TransformAction(gym.make(BOX, tiles=6), lambda action: action ^ 1, None))
    _, info = env.reset(seed=0)
    action = int(info["action_mask"].argmax())
    env.step(action ^ 1)
    assert [played for _, played in in_words(env.visits)[1]] == [action]


def test_episodes_that_begin_by_themselves_are_counted():
    env = RecordVisits(Autoreset(gym.make(BOX, tiles=4)))
    _, info = env.reset(seed=0)
    ends = 0
    for _ in range(30):
        over = not info["action_mask"].any()
        ends += over
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    assert ends > 3
    assert (env.visits.nodes.sum(), env.visits.edges.sum()) == (31, 30 - ends)


def test_an_illegal_action_is_not_counted():
    env = RecordVisits(gym.make(BOX, tiles=6))
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmin()))
    assert (env.visits.nodes.sum(), env.visits.edges.sum()) == (1, 0)


def test_visits_of_several_environments_are_added():
    envs = SyncVectorEnv([lambda: RecordVisits(gym.make(BOX, tiles=6))] * 3)
    envs.reset(seed=0)
    envs.step(np.array([0, 0, 0]))
    each = envs.get_attr("visits")
    together = sum(each)
    assert (together.nodes == each[0].nodes + each[1].nodes + each[2].nodes).all()
    assert (together.edges == each[0].edges + each[1].edges + each[2].edges).all()
    with pytest.raises(ValueError, match="same game"):
        _ = together + RecordVisits(gym.make(BOX, tiles=5)).visits


def test_what_has_no_counts_is_refused():
    with pytest.raises(ValueError, match="too many positions"):
        RecordVisits(gym.make("stb_gym/ShutTheBox16-v0"))
    for kind, env in ((RecordVisits, gym.make("CartPole-v1")), (VectorRecordVisits, gym.make_vec("CartPole-v1"))):
        with pytest.raises(TypeError, match="of stb_gym"):
            kind(env)


# Parts of the regret


def random_visits(game, turns=20, steps=6):
    """Return the visits of some turns of random play."""
    envs = VectorRecordVisits(TurnVectorEnv(game, turns, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP))
    envs.reset(seed=int(RANDOM.integers(2**31)))
    for _ in range(steps):
        envs.step(envs.unwrapped.legal_sample())
    return envs.visits


def random_agent(tables, illegal):
    """Return random probabilities [N, A], of legal or of all actions."""
    weights = np.maximum(RANDOM.integers(-3, 4, (tables.nodes, tables.actions)), 0) * (illegal | tables.legal)
    weights[weights.sum(axis=1) == 0] = (illegal | tables.legal)[weights.sum(axis=1) == 0]
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)


def as_function(tables, policy):
    return lambda observations: policy[tables.find_nodes(observations)]


def regret_by_the_reference(game, policy, visits, may_stay):
    """Return the regret of the best policy that changes to tried actions: by true chances if it may stay, else seen."""
    tables, other, in_floats = visits.tables, twin(game), in_their_words(visits.tables, policy)
    utility = their_utility(game, "score")
    tried, seen = {}, Counter()
    for node, where, roll in throwing_nodes(tables):
        seen[where, roll] = int(visits.nodes[node])
        seen[where] += int(visits.nodes[node])
        edges = [edge for edge in tables.edges_of(node) if visits.edges[edge]]
        tried[where, roll] = [move_of(tables, edge) for edge in edges]
    chosen = {}

    def plays(where, roll):
        return {move: Fraction(share).limit_denominator(1000) for move, share in in_floats(where, roll).items()}

    def at_node(where, roll):
        after = dict(other.moves(where, roll))
        if not after:
            return Fraction(utility(other.final_score(where)))
        worst = utility(reference.worst_score(other))
        own = sum(
            share * (value(after[move]) if move in after else worst) for move, share in plays(where, roll).items()
        )
        values = {move: value(after[move]) for move in tried[where, roll]}
        chosen[where, roll] = plays(where, roll)
        if values and not (may_stay and own >= max(values.values())):
            chosen[where, roll] = {reference.first_best(values): 1}
            return max(values.values())
        return own

    @cache
    def value(where):
        if other.is_over(where):
            return Fraction(utility(other.final_score(where)))
        by_seen = not may_stay and seen[where] > 0
        return sum(
            (Fraction(seen[where, roll], seen[where]) if by_seen else chance) * at_node(where, roll)
            for roll, chance in other.outcomes(where)
        )

    value(other.start())
    best = reference.value(other, other.start(), utility)
    found = reference.policy_value(other, lambda where, roll: chosen.get((where, roll)) or plays(where, roll), utility)
    return float(best - found)


@pytest.mark.parametrize("illegal", [False, True])
@pytest.mark.parametrize("game", [ShutTheBox(tiles=4), Threes(dice=3)], ids=str)
def test_parts_are_those_of_the_reference(game, illegal):
    meter = RegretMeter(game)
    for turns in (1, 5, 200):
        visits = random_visits(game, turns)
        policy = random_agent(visits.tables, illegal)
        found = diagnose(meter, as_function(visits.tables, policy), visits)
        explored, sampled = (regret_by_the_reference(game, policy, visits, may_stay) for may_stay in (True, False))
        assert found.exploration == pytest.approx(explored, abs=1e-9)
        assert found.sampling == pytest.approx(sampled - explored, abs=1e-9)


def test_parts_add_up_to_the_regret():
    for seed in range(20):
        visits = random_visits(SIX, turns=1 + seed)
        found = diagnose(METER, as_function(TABLES, random_agent(TABLES, illegal=seed % 2 == 1)), visits)
        assert found.exploration >= 0
        assert found.representation is None
        parts = found.exploration, found.sampling, found.optimisation
        assert sum(parts) == pytest.approx(found.evaluation.regret, abs=1e-12)
        assert found.summary()["regret"] == found.evaluation.regret


def test_an_agent_that_tried_everything_often_loses_by_optimisation_alone():
    visits = Visits(TABLES, np.round(1e9 * TABLES.node_probability).astype(int), np.ones(len(TABLES.edge_next), int))
    found = diagnose(METER, lambda observations, masks: masks.argmax(axis=1), visits)
    assert (found.exploration, found.sampling) == (0, 0)
    assert found.optimisation == found.evaluation.regret > 1


def test_an_agent_that_tried_nothing_loses_by_exploration_alone():
    visits = Visits(TABLES, np.zeros(TABLES.nodes, int), np.zeros(len(TABLES.edge_next), int))
    found = diagnose(METER, lambda observations, masks: masks.argmax(axis=1), visits)
    assert found.exploration == found.evaluation.regret
    assert (found.sampling, found.optimisation) == (0, 0)


# Critics


def exact_values(policy):
    """Return the exact values [N] and [N, A] of a policy of SIX in the unit of rewards, illegal actions as -21."""
    found = METER.optimum.evaluate(policy)
    at_states, at_nodes = expected(TABLES, found.weights, METER.objective.utilities(TABLES.final_score).astype(float))
    of_actions = np.full((TABLES.nodes, TABLES.actions), -21.0)
    of_actions[TABLES.edge_node, TABLES.edge_action] = TABLES.after_edges(at_states)
    return at_nodes, of_actions


def diagnosis_of_critic(policy, values, meter=METER):
    """Return the errors of a critic that knows values [N] or [N, A]."""
    visits = random_visits(SIX)
    agent = as_function(TABLES, policy)
    return diagnose(meter, agent, visits, critic=lambda seen: values[TABLES.find_nodes(seen)]).critic


@pytest.mark.parametrize("of_actions", [False, True])
def test_an_exact_critic_has_no_errors(of_actions):
    policy = random_agent(TABLES, illegal=False)
    exact = exact_values(policy)[of_actions]
    found = diagnosis_of_critic(policy, exact)
    assert (found.bias, found.root_mean_square) == pytest.approx((0, 0), abs=1e-9)
    assert found.wrong_signs == 0

    shifted = diagnosis_of_critic(policy, exact + 3)
    assert (shifted.bias, shifted.root_mean_square) == pytest.approx((3, 3))
    if of_actions:
        assert shifted.wrong_signs == 0
        assert diagnosis_of_critic(policy, -exact).wrong_signs == pytest.approx(1)


def test_errors_of_a_critic_are_weighted_by_visits():
    policy = strategy(SIX, "biggest-first")
    exact, _ = exact_values(policy)
    node = int(TABLES.nodes_of(TABLES.start)[3])  # a roll of 5: 4 of 36
    wrong = exact.copy()
    wrong[node] -= 9
    found = diagnosis_of_critic(policy, wrong)
    decisions = METER.optimum.evaluate(policy).visits[TABLES.decisions].sum()
    assert found.bias == pytest.approx(-9 * 4 / 36 / decisions)
    assert found.root_mean_square == pytest.approx((81 * 4 / 36 / decisions) ** 0.5)
    known, wrong, visits = 0.0, 0.0, METER.optimum.evaluate(policy).visits
    _, of_actions = exact_values(policy)
    for each in TABLES.decisions.tolist():
        edges = TABLES.edges_of(each)
        others = [edge for edge in edges if abs(of_actions[each, TABLES.edge_action[edge]] - exact[each]) > 1e-6]
        known += visits[each] * len(others) / len(edges)
        wrong += visits[each] * len(others) / len(edges) * (each == node)
    assert 0 < wrong < known
    assert found.wrong_signs == pytest.approx(wrong / known)


def test_the_values_of_a_critic_are_in_the_unit_of_rewards():
    policy = strategy(SIX, "biggest-first")
    meter = RegretMeter(gym.make(BOX, tiles=6, reward_scale=0.1))
    found = diagnosis_of_critic(policy, 0.1 * exact_values(policy)[0] + 1, meter)
    assert (found.bias, found.root_mean_square) == pytest.approx((1, 1))


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN, MaskablePPO])
def test_models_of_stable_baselines3_have_critics_and_parts(algorithm):
    env = gym.make(BOX, tiles=4)
    model = algorithm("MlpPolicy", env, seed=1, device="cpu")
    meter, visits = RegretMeter(env), random_visits(env.unwrapped.game)
    found = diagnose(meter, model, visits, masked=algorithm is MaskablePPO, fit_steps=40)
    parts = found.exploration, found.sampling, found.representation, found.optimisation
    assert sum(parts) == pytest.approx(found.evaluation.regret, abs=1e-12)
    assert found.critic.root_mean_square >= abs(found.critic.bias) > 0
    assert 0 < found.critic.wrong_signs < 1


def test_the_critic_of_an_actor_is_compared_with_the_stochastic_policy():
    env = gym.make(BOX, tiles=6)
    model = MaskablePPO("MlpPolicy", env, seed=1, device="cpu")
    meter = RegretMeter(env)
    policy = meter.policy(model, deterministic=False)
    with torch.no_grad():
        values = model.policy.predict_values(torch.as_tensor(TABLES.observation.astype(np.float32))).numpy()[:, 0]
    found = diagnose(meter, model, random_visits(SIX))
    expected_errors = asdict(diagnosis_of_critic(policy, values))
    assert asdict(found.critic) == pytest.approx(expected_errors, rel=1e-6)
    assert found.evaluation.regret == meter(model).regret != meter(model, deterministic=False).regret


def test_a_critic_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"a critic must return values \[B\] or \[B, A\], not shape \(3, "):
        diagnose(METER, as_function(TABLES, METER.optimum.policy), random_visits(SIX), critic=lambda seen: seen[:3])


# Representation


def test_a_network_that_cannot_represent_perfect_play_loses_by_representation():
    visits = Visits(TABLES, np.ones(TABLES.nodes, int), np.ones(len(TABLES.edge_next), int))
    torch.manual_seed(0)
    regrets = {}
    for width in (1, 64):
        network = nn.Sequential(
            nn.Linear(TABLES.observation.shape[1], width), nn.ReLU(), nn.Linear(width, TABLES.actions)
        )
        weights = [weight.clone() for weight in network.parameters()]
        found = diagnose(METER, network, visits, masked=True, fit_steps=100)
        regrets[width] = found.exploration + found.sampling + found.representation
        assert all((weight == before).all() for weight, before in zip(network.parameters(), weights, strict=True))
    assert regrets[1] > 10 * regrets[64]
    assert regrets[64] < 0.1


# The gradient


def double_network(seed):
    torch.manual_seed(seed)
    layers = nn.Linear(TABLES.observation.shape[1], 8), nn.Tanh(), nn.Linear(8, TABLES.actions)
    return nn.Sequential(*layers).double()


@pytest.mark.parametrize("masked", [False, True])
def test_the_gradient_equals_finite_differences(masked):
    network = double_network(4)
    gradient = policy_gradient(METER, network, masked)
    weights = torch.nn.utils.parameters_to_vector(network.parameters()).detach()
    assert gradient.shape == weights.shape
    for place in RANDOM.choice(len(weights), 25, replace=False).tolist():
        values = []
        for step in (1e-4, -1e-4):
            moved = weights.clone()
            moved[place] += step
            torch.nn.utils.vector_to_parameters(moved, network.parameters())
            values.append(-METER(network, deterministic=False, masked=masked).value)
        torch.nn.utils.vector_to_parameters(weights, network.parameters())
        assert gradient[place] == pytest.approx((values[0] - values[1]) / 2e-4, abs=1e-6)


def test_the_gradient_of_a_model_equals_finite_differences():
    env = gym.make(BOX, tiles=4)
    meter, model = RegretMeter(env), MaskablePPO("MlpPolicy", env, seed=2, device="cpu")
    gradient = policy_gradient(meter, model)
    start = 0
    for name, weight in model.policy.named_parameters():
        if name == "action_net.bias":
            break
        start += weight.numel()
    for place in range(len(weight)):
        values = []
        for step in (0.03, -0.06):  # in single precision
            with torch.no_grad():
                weight[place] += step
            values.append(-meter(model, deterministic=False).value)
        with torch.no_grad():
            weight[place] += 0.03
        assert gradient[start + place] == pytest.approx((values[0] - values[1]) / 0.06, abs=1e-4)


def test_a_given_gradient_is_compared_with_the_exact_one():
    network, visits = double_network(5), random_visits(SIX)
    exact = policy_gradient(METER, network, masked=True)
    parts, start = [], 0
    for weight in network.parameters():
        parts.append(torch.as_tensor(-2 * exact[start : start + weight.numel()]).reshape(weight.shape))
        start += weight.numel()
    for given in (parts, torch.cat([part.flatten() for part in parts])):
        assert diagnose(METER, network, visits, masked=True, gradient=given).gradient_cosine == pytest.approx(-1)


def test_a_given_gradient_may_lack_parameters_but_not_numbers():
    env = gym.make(BOX, tiles=6)
    model, visits = MaskablePPO("MlpPolicy", env, seed=2, device="cpu"), random_visits(SIX)
    meter = RegretMeter(env)
    names = [name for name, _ in model.policy.named_parameters()]
    exact = torch.as_tensor(policy_gradient(meter, model))
    parts = exact.split([weight.numel() for weight in model.policy.parameters()])
    given = [None if "value" in name else part for name, part in zip(names, parts, strict=True)]
    assert None in given
    assert diagnose(meter, model, visits, gradient=given).gradient_cosine == pytest.approx(1)
    for short in (given[:-1], exact[1:]):
        with pytest.raises(ValueError, match="numbers, but the agent's network"):
            diagnose(meter, model, visits, gradient=short)


def test_an_agent_without_a_network_has_no_gradient():
    for options in ({"gradient": torch.zeros(3)}, {"fit_steps": 1}):
        with pytest.raises(ValueError, match="needs a network that scores actions, not a function"):
            diagnose(METER, lambda observations, masks: masks.argmax(axis=1), random_visits(SIX), **options)


def test_tables_of_an_equal_game_fit():
    visits = replace(random_visits(SIX), tables=replace(TABLES))
    assert (visits + random_visits(SIX)).nodes.sum() > visits.nodes.sum()
    assert diagnose(METER, as_function(TABLES, METER.optimum.policy), visits).evaluation.regret == 0


def test_visits_of_another_game_are_refused():
    with pytest.raises(ValueError, match="the visits are of"):
        diagnose(METER, as_function(TABLES, METER.optimum.policy), random_visits(ShutTheBox(tiles=5)))


def test_an_agent_of_stable_baselines3_is_counted_while_it_learns():
    envs = VectorRecordVisits(gym.make_vec(BOX, 8, tiles=4, autoreset_mode="SameStep"))
    model = PPO("MlpPolicy", TurnVecEnv(envs), n_steps=16, seed=0, device="cpu").learn(256)
    assert envs.visits.nodes.sum() > 256
    found = diagnose(RegretMeter(envs), model, envs.visits, masked=False)
    assert found.exploration + found.sampling + found.optimisation == pytest.approx(found.evaluation.regret)
    assert solve(envs.unwrapped.game).value < found.evaluation.value
