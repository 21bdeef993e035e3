"""Policies: their forms, what is refused, and how one is played."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.solver import Player, StateScorePolicy, UniformRandom, compile_game, edge_weights, policy_array
from tests.twins import squares

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
RANDOM = strategy(GAME, "random")
NODE = int(TABLES.decisions[20])
ILLEGAL = int((~TABLES.legal(np.array([NODE]))[0]).argmax())


def changed(policy, node, entry):
    policy = policy.copy()
    policy[node] = entry
    return policy


@pytest.mark.parametrize(
    ("policy", "key_word"),
    [
        (changed(solve(GAME).policy, NODE, ILLEGAL), "illegal action"),
        (changed(solve(GAME).policy, NODE, TABLES.actions), "takes the action"),
        (changed(solve(GAME).policy, NODE, -1), "takes the action"),
        (changed(RANDOM, [NODE, NODE + 50], 1 / TABLES.actions), "illegal action"),
        (changed(RANDOM, NODE, RANDOM[NODE] / 2), "sum to 0.5"),
        (changed(RANDOM, NODE, -RANDOM[NODE]), "negative"),
        (changed(RANDOM, NODE, np.nan), "not a number"),
    ],
)
def test_a_policy_that_breaks_the_rules_is_refused_naming_the_first_node(policy, key_word):
    with pytest.raises(ValueError, match=f"{key_word}.* at {TABLES.describe_node(NODE)}$"):
        evaluate(GAME, policy)


@pytest.mark.parametrize(
    "policy",
    [np.zeros(3, int), np.zeros((TABLES.nodes, 2)), np.zeros(TABLES.nodes), [1, 2], "random", max, None],
    ids=repr,
)
def test_other_arrays_names_and_agents_are_refused(policy):
    with pytest.raises(ValueError, match=f"an array of {TABLES.nodes} integers"):
        evaluate(GAME, policy)


def test_unknown_treatments_of_illegal_actions_are_refused():
    with pytest.raises(ValueError, match="illegal"):
        edge_weights(TABLES, RANDOM, "ignore")


def test_entries_of_nodes_without_a_move_are_ignored():
    over = TABLES.choices == 0
    for policy, entry in ((solve(GAME).policy, 99), (RANDOM, np.nan)):
        for found, expected in zip(
            edge_weights(TABLES, changed(policy, over, entry)), edge_weights(TABLES, policy), strict=True
        ):
            assert found == pytest.approx(expected)


def test_probabilities_that_sum_to_nearly_one_are_scaled_to_one():
    weights, illegal = edge_weights(TABLES, RANDOM * (1 + 5e-6))
    assert weights == pytest.approx(TABLES.uniform, rel=1e-15)
    assert not illegal.any()


def test_weight_on_illegal_actions_may_be_allowed():
    policy = changed(RANDOM, NODE, np.eye(TABLES.actions)[ILLEGAL] / 4 + RANDOM[NODE] * 3 / 4)
    weights, illegal = edge_weights(TABLES, policy, "end")
    assert weights[TABLES.edges_of(NODE)].sum() == illegal[NODE] * 3 == 0.75
    assert illegal.sum() == 0.25


def test_rules_are_the_arrays_that_play_the_same():
    assert (policy_array(TABLES, UniformRandom()) == RANDOM).all()
    assert (RANDOM[TABLES.edge_node, TABLES.edge_action] == TABLES.uniform).all()
    biggest_first = StateScorePolicy(lambda boards, dice: -boards)
    assert (policy_array(TABLES, biggest_first) == strategy(GAME, "biggest-first")).all()
    threes = solve(Threes(), squares)
    by_value = policy_array(threes.tables, StateScorePolicy(threes.utilities_at))
    assert threes.evaluate(by_value).regret == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize(
    "score",
    [lambda held, dice: 1, lambda held, dice: held * np.nan, lambda held, dice: held[1:], lambda held, dice: held * 1j],
    ids=["one", "not a number", "too few", "complex"],
)
def test_scores_must_be_a_finite_number_for_each_state(score):
    with pytest.raises(ValueError, match="score must give a finite number"):
        evaluate(GAME, StateScorePolicy(score))


def test_a_player_plays_its_policy():
    policy = solve(GAME).policy
    player = Player(GAME, policy)
    actions = player(TABLES.observation)
    assert (actions[TABLES.decisions] == policy[TABLES.decisions]).all()
    assert not np.delete(actions, TABLES.decisions).any()
    assert player(TABLES.observation[NODE]) == policy[NODE]
    assert type(player(TABLES.observation[NODE])) is int
    with pytest.raises(ValueError, match="observation"):
        player(np.zeros(3))


def test_a_player_chooses_with_the_probabilities_of_its_policy():
    node = int(TABLES.choices.argmax())
    actions = TABLES.edge_action[TABLES.edges_of(node)]
    shares = np.arange(len(actions)) / np.arange(len(actions)).sum()  # the first has none
    policy = changed(RANDOM, node, 0)
    policy[node, actions] = shares
    player = Player(GAME, policy, seed=1)
    chosen = player(np.repeat(TABLES.observation[node][None], 100_000, axis=0))
    assert np.bincount(chosen, minlength=TABLES.actions)[actions] / 100_000 == pytest.approx(shares, abs=0.01)
    assert actions[0] not in chosen
    for _ in range(20):
        assert TABLES.legal()[TABLES.decisions, player(TABLES.observation)[TABLES.decisions]].all()


def test_a_player_repeats_its_choices_with_its_seed():
    first, again, other = (Player(GAME, RANDOM, seed)(TABLES.observation).tolist() for seed in (1, 1, 2))
    assert first == again != other
