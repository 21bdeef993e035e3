"""What all learners have in common: legal moves, the same numbers from the same seed, and learning."""

import numpy as np
import pytest
from agents.checkpoints import load_snapshot, save_snapshot
from agents.policy_array import policies, value_error

from agents import policy_array
from stb_gym import ShutTheBox, evaluate, solve, strategy
from stb_gym.solver import compile_game
from tests.agents.small import OWN, SMALL, config, learner, seen

STEPS = {"ppo": 10_000, "dqn": 6000, "afterstate-network": 6000}  # of which most are more than it takes


def test_policies_of_large_games_are_asked_for_in_parts(monkeypatch):
    agent, game = learner("ppo"), ShutTheBox(tiles=6)
    greedy, exploring = policies(game, agent)
    monkeypatch.setattr(policy_array, "AT_ONCE", 100)
    assert (policies(game, agent)[0] == greedy).all()
    assert policies(game, agent)[1] == pytest.approx(exploring, abs=1e-6)


@pytest.mark.parametrize("algorithm", OWN)
def test_probabilities_are_legal_and_the_greedy_action_is_the_most_probable(algorithm):
    game = ShutTheBox(tiles=6)
    greedy, exploring = policies(game, learner(algorithm))
    tables = compile_game(game)
    assert not exploring[~tables.legal].any()
    assert exploring[tables.decisions].sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert (exploring[tables.decisions] > 0).sum() == len(tables.edge_next)
    assert (greedy == exploring.argmax(axis=1)).all()


@pytest.mark.parametrize("algorithm", OWN)
def test_same_seed_same_weights(algorithm):
    def trained(seed):
        agent = learner(algorithm, seed=seed)
        agent.learn_until(1200, lambda: None)
        return np.concatenate([weights.ravel() for weights in agent.weights().values()])

    assert (trained(1) == trained(1)).all()
    assert (trained(1) != trained(2)).any()


@pytest.mark.parametrize("algorithm", OWN)
def test_another_seed_draws_other_throws_explorations_and_weights(algorithm):
    one, other = (learner(algorithm, seed=seed).snapshot() for seed in (1, 2))
    drawn = [name for name in one if name.endswith(("random", "throw", "layers.0.weight"))]
    assert {name.split(".")[-1] for name in drawn} >= {"random", "throw"}
    assert len([name for name in drawn if name.endswith("random")]) == 2
    for name in drawn:
        assert not np.array_equal(one[name], other[name])


PAIRS = [("three-tiles", 0, 0.5, algorithm) for algorithm in OWN] + [
    ("two-dice", 1, 1, algorithm) for algorithm in OWN if algorithm not in ("ppo", "afterstate-network")
]  # which learn Threes in tests of their own


@pytest.mark.parametrize(("name", "seed", "share", "algorithm"), PAIRS)
def test_learners_learn(algorithm, name, seed, share):
    task = SMALL.tasks[name]
    training = config(algorithm, task, seed=seed, steps=int(share * STEPS.get(algorithm, 20_000)))
    agent, game = training.learner(), task.game()
    random = evaluate(game, strategy(game, "random")).regret
    agent.learn_until(training.steps, lambda: None)
    greedy, exploring = (evaluate(game, policy) for policy in policies(game, agent))
    assert greedy.regret <= 0.05 < random / 4
    assert greedy.regret <= exploring.regret
    assert value_error(agent, greedy) < 0.5


def test_the_error_of_values_is_weighted_by_visits_and_in_points():
    game = ShutTheBox(tiles=6)
    evaluation = evaluate(game, solve(game).policy)

    class Knows:
        def values(self, observations, masks):
            nodes = evaluation.tables.find_nodes(observations)
            assert (masks == evaluation.tables.legal[nodes]).all()
            return evaluation.optimum.node_utility[nodes] + np.where(nodes == often, 3.0, 0)

    often = int(evaluation.visits[evaluation.tables.decisions].argmax())
    often = int(evaluation.tables.decisions[often])
    visits = evaluation.visits[evaluation.tables.decisions].sum()
    assert value_error(Knows(), evaluation) == pytest.approx((9 * evaluation.visits[often] / visits) ** 0.5)


@pytest.mark.parametrize("algorithm", OWN)
def test_a_learner_that_went_on_goes_back_to_its_snapshot(algorithm, tmp_path):
    agent = learner(algorithm)
    agent.learn_until(800, lambda: None)
    save_snapshot(tmp_path / "snapshot", agent.snapshot())
    ends = []
    for _ in range(2):
        agent.learn_until(1600, lambda: None)
        ends.append(np.concatenate([array.ravel() for array in agent.weights().values()]))
        agent.restore(load_snapshot(tmp_path / "snapshot"))
        assert 800 <= agent.num_timesteps < 1600
    assert (ends[0] == ends[1]).all()


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_without_masks_illegal_actions_are_tried_and_what_they_cost_is_learned(algorithm):
    task = SMALL.tasks["five-tiles"]
    training, game = config(algorithm, task, variant="no-masks", steps=5000), task.game()
    agent = training.learner()
    decisions = compile_game(game).decisions
    assert (agent.probabilities(*seen(game, decisions)) > 0).all()
    before = evaluate(game, policies(game, agent)[1], illegal="end")
    agent.learn_until(training.steps, lambda: None)
    after = evaluate(game, policies(game, agent)[1], illegal="end")
    assert before.illegal_mass > 0.8
    assert 0 < after.illegal_mass < before.illegal_mass
    assert after.value < before.value


@pytest.mark.parametrize("algorithm", OWN)
def test_what_is_scheduled_ends_with_the_training(algorithm):
    agent, begun = learner(algorithm), []
    agent.learn_until(1600, lambda: begun.append(agent.num_timesteps))
    assert begun[0] == 0
    assert begun == sorted(set(begun))
    assert begun[-1] < 1600 <= agent.num_timesteps
