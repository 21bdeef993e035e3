"""The limit counts every roll, solves the game that the counts describe, and knows nothing else of the dice."""

from dataclasses import replace

import numpy as np
import pytest

from agents.config import Task
from agents.policy_array import policies
from stb_gym import ShutTheBox, evaluate
from stb_gym.solver import compile_game
from tests.agents.small import BOX, SMALL, THREES, learner, seen

FIVE = SMALL.tasks["five-tiles"]


def trained(steps, task=FIVE, **options):
    agent = learner("limit", task, **options)
    agent.learn_until(steps, lambda: None)
    return agent


def rewards_of(envs):
    """Return [N] the rewards of turns that end at each node."""
    return envs.rewards[envs.transitions.endings[:-1]]


def perfect(tables, chance, ends):
    """[N] what nodes are worth by plain recursion, if the chance of each node's roll in its state is `chance` [N]."""
    found = {}

    def state(it):
        if it not in found:
            found[it] = sum(chance[node] * at(node) for node in tables.nodes_of(it))
        return found[it]

    def at(node):
        return max((state(tables.edge_next[edge]) for edge in tables.edges_of(node)), default=ends[node])

    return np.array([at(node) for node in range(tables.nodes)])


def test_it_goes_on_from_its_beginning_as_if_it_had_not_been_stopped():
    """The first throws are counted, and made use of after the first rollout alone."""
    whole, other = (learner("limit", Task(BOX), changes={"shared_dice": True}) for _ in range(2))
    other.learn_until(5000, lambda: None)
    other.restore(whole.snapshot())
    assert (whole._best == other._best).all()
    for each in (whole, other):
        each.learn_until(20_000, lambda: None)
    assert (whole.weights()["counts"] == other.weights()["counts"]).all()


def test_every_throw_is_counted_once():
    agent = learner("limit", FIVE)
    turns, step = [], agent._envs.step

    def counting(actions):
        answer = step(actions)
        turns.append(answer[2].sum())
        return answer

    agent._envs.step = counting
    before = agent.weights()["counts"].copy()
    assert before.sum() == len(before) + 64  # every roll once beforehand, and those that begin the first turns
    agent.learn_until(10_000, lambda: None)
    assert sum(turns) > 1000
    assert (agent.weights()["counts"] - before).sum() == agent.num_timesteps + sum(turns)


def test_rolls_are_counted_in_proportion_to_their_chances_those_that_end_a_turn_too():
    agent, tables = trained(200_000), compile_game(FIVE.game())
    counts = agent.weights()["counts"]
    throws = np.bincount(tables.node_state, counts)[tables.node_state]
    chance = tables.node_probability
    often = throws > 2000
    assert (tables.choices[often] == 0).sum() > 20
    sigmas = (counts - throws * chance) / np.sqrt(throws * chance * (1 - chance) + 1)
    assert abs(sigmas[often]).max() < 5


def of_turn(tables, chance, worth):
    """What a turn is worth."""
    return sum(chance[node] * worth[node] for node in tables.nodes_of(tables.start))


@pytest.mark.parametrize("variant", ["standard", "shared-dice"])
def test_it_solves_the_game_that_the_counts_describe(variant):
    agent, tables = trained(3000, variant=variant), compile_game(FIVE.game())
    counts = agent.weights()["counts"][agent._kind]
    chance = counts / np.bincount(tables.node_state, counts)[tables.node_state]
    assert abs(chance - tables.node_probability).max() > 0.005
    worth = perfect(tables, chance, rewards_of(agent._envs))
    np.testing.assert_allclose(agent.values(*seen(FIVE.game(), range(tables.nodes))), worth, rtol=1e-12)
    after = np.bincount(tables.node_state, chance * worth)[tables.edge_next]
    greedy, _ = policies(FIVE.game(), agent)
    taken = after[tables.edge_action == tables.at_edges(greedy)]
    np.testing.assert_allclose(taken, worth[tables.decisions], rtol=1e-12)
    assert agent.figures["value"] == pytest.approx(of_turn(tables, chance, worth))


def test_it_learns_the_dice_that_are_thrown_not_those_of_the_rules():
    task = Task(BOX, {"tiles": 5, "dice": 1})
    agent, tables = learner("limit", task), compile_game(task.game())
    loaded = np.array([0, 0, 0, 0, 1, 2])  # of six throws four show a one
    fair = agent._envs.transitions
    agent._envs.stepper = replace(fair, node_of_throw=fair.node_of_throw[:, loaded])
    agent.learn_until(100_000, lambda: None)
    often = np.bincount(agent._envs.transitions.node_of_throw[:-1].ravel(), minlength=tables.nodes) / 6
    worth = perfect(tables, often, rewards_of(agent._envs))
    expected = of_turn(tables, often, worth)
    by_the_rules = perfect(tables, tables.node_probability, rewards_of(agent._envs))
    assert abs(expected - of_turn(tables, tables.node_probability, by_the_rules)) > 1
    assert agent.figures["value"] == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("env", "kinds"), [(BOX, [1, 11]), (THREES, [1, 6, 21, 56, 126, 252])])
def test_dice_are_shared_by_their_number(env, kinds):
    """A roll of n dice is a sum in Shut the Box, a multiset in Threes; with no dice to throw there is but one."""
    agent = learner("limit", Task(env), changes={"shared_dice": True})
    tables = compile_game(Task(env).game())
    counted = [np.unique(agent._kind[tables.dice[tables.node_state] == dice]) for dice in np.unique(tables.dice)]
    assert [len(each) for each in counted] == kinds
    assert len(np.unique(np.concatenate(counted))) == sum(kinds)
    same = [(tables.dice[tables.node_state[node]], tuple(tables.node_roll(node))) for node in range(tables.nodes)]
    assert len({*zip(agent._kind, same, strict=True)}) == sum(kinds)


def test_who_knows_that_all_states_share_the_dice_needs_fewer_throws():
    def regret(steps, shared_dice):
        changes = {"num_envs": 256, "shared_dice": shared_dice}
        agents = [trained(steps, Task(BOX), seed=seed, changes=changes) for seed in range(3)]
        return np.mean([evaluate(ShutTheBox(), policies(ShutTheBox(), agent)[0]).regret for agent in agents])

    assert 1e-5 < regret(20_000, True) < 0.005 < regret(200_000, False) < 0.05 < regret(20_000, False)
    assert regret(200_000, True) < 1e-4


def test_from_the_same_counts_it_plays_the_same():
    agent, other = trained(3000), learner("limit", FIVE, seed=1)
    other.load_weights(agent.weights())
    everywhere = seen(FIVE.game(), compile_game(FIVE.game()).decisions)
    assert (other.probabilities(*everywhere) == agent.probabilities(*everywhere)).all()
    assert (other.values(*everywhere) == agent.values(*everywhere)).all()
