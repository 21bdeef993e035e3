"""Policies: what is refused, and how one plays."""

import numpy as np
import pytest

from stb_gym import (
    Player,
    ShutTheBox,
    Threes,
    compile_game,
    evaluate,
    solve,
    strategy,
)

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)


def test_a_policy_with_an_illegal_action_is_refused_naming_the_node():
    policy = solve(GAME).policy.copy()
    node = int(TABLES.decisions[100])
    policy[node] = np.flatnonzero(~TABLES.legal(np.array([node]))[0])[0]
    with pytest.raises(ValueError, match=f"takes the illegal action {policy[node]} at {TABLES.describe_node(node)}$"):
        evaluate(GAME, policy)


def test_a_policy_with_weight_on_an_illegal_action_is_refused_naming_the_first_node():
    policy = strategy(GAME, "random").copy()
    for node in TABLES.decisions[[300, 20]]:
        policy[node] = 1 / TABLES.actions
    node = int(TABLES.decisions[20])
    illegal = int((~TABLES.legal(np.array([node]))[0]).argmax())
    with pytest.raises(
        ValueError, match=f"has weight on the illegal action {illegal} at {TABLES.describe_node(node)}$"
    ):
        evaluate(GAME, policy)


@pytest.mark.parametrize(
    ("factor", "message"),
    [(0.5, "probabilities that sum to 0.5, not 1"), (-1, "negative or not a number"), (np.nan, "negative or not")],
)
def test_a_policy_that_is_no_distribution_is_refused(factor, message):
    policy = strategy(GAME, "random").copy()
    policy[TABLES.decisions[7]] *= factor
    with pytest.raises(ValueError, match=message):
        evaluate(GAME, policy)


@pytest.mark.parametrize("policy", [np.zeros(3, int), np.zeros((TABLES.nodes, 2)), np.zeros(TABLES.nodes), [1, 2]])
def test_a_policy_of_another_shape_is_refused(policy):
    with pytest.raises(ValueError, match=f"is an array of {TABLES.nodes} integers"):
        evaluate(GAME, policy)


@pytest.mark.parametrize("policy", ["random", lambda observations, masks: masks.argmax(axis=1), None])
def test_names_and_agents_are_told_where_to_go(policy):
    with pytest.raises(ValueError, match=r"stb_gym.strategy makes one of a name, and stb_gym.RegretMeter measures age"):
        evaluate(GAME, policy)


def test_a_player_plays_its_policy():
    policy = solve(GAME).policy
    player = Player(GAME, policy)
    assert (player(TABLES.observation[TABLES.decisions]) == policy[TABLES.decisions]).all()
    for node in TABLES.decisions[::50]:
        assert player(TABLES.observation[node]) == policy[node]
        assert type(player(TABLES.observation[node])) is int


def test_a_player_chooses_with_the_probabilities_of_its_policy():
    policy = strategy(GAME, "random").copy()
    node = int(TABLES.decisions[np.diff(TABLES.edge_start)[TABLES.decisions].argmax()])
    actions = np.flatnonzero(policy[node])
    policy[node, actions] = np.arange(len(actions)) / np.arange(len(actions)).sum()
    chosen = Player(GAME, policy, seed=1)(np.repeat(TABLES.observation[node][None], 100_000, axis=0))
    shares = np.bincount(chosen, minlength=TABLES.actions) / 100_000
    assert shares == pytest.approx(policy[node], abs=0.01)
    assert shares[actions[0]] == 0


def test_a_player_gives_legal_actions_everywhere_and_0_where_the_turn_is_over():
    player = Player(GAME, strategy(GAME, "random"), seed=2)
    for _ in range(20):
        actions = player(TABLES.observation)
        assert TABLES.legal()[TABLES.decisions, actions[TABLES.decisions]].all()
        assert (np.delete(actions, TABLES.decisions) == 0).all()


def test_what_is_no_observation_is_refused():
    player = Player(GAME, solve(GAME).policy)
    with pytest.raises(ValueError, match=r"has 17 numbers, not shape \(3,\)"):
        player(np.zeros(3))
    two_rolls = TABLES.observation[TABLES.decisions[0]].copy()
    two_rolls[-2:] = 1
    with pytest.raises(ValueError, match="is no observation of ShutTheBox"):
        player(two_rolls)
    with pytest.raises(ValueError, match="is no observation of ShutTheBox"):
        player(np.stack((TABLES.observation[5], two_rolls)))  # one of several
    with pytest.raises(ValueError, match="is no observation of ShutTheBox"):
        player(TABLES.observation[5] * 256.0)


def test_unknown_strategies_are_refused():
    with pytest.raises(ValueError, match="unknown strategy of threes 'biggest-first': allowed are random, threes-only"):
        strategy(Threes(), "biggest-first")
