"""Test rounds against the player-by-player reference, best responses and ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, evaluate, strategy
from stb_gym.rounds import INDIFFERENT, TIES, OptimalTurn, Round, ScoresSoFar, scores_so_far
from stb_gym.solver import compile_game
from tests import cases, reference_rounds
from tests.rounds.agents import arbitrary_strategy
from tests.twins import choice, games, moves_at, our_score, throwing_states, twin

NINE, FIVE_DICE = ShutTheBox(), Threes()
ONE_TILE = ShutTheBox(tiles=1, dice=1, faces=2)  # a 1 shuts the box, a 2 leaves the 1 open
ROUNDS = games(3, 2), st.integers(1, 3), st.sampled_from(list(TIES)), st.booleans()


# Against the reference


@settings(max_examples=6)
@given(*ROUNDS, st.sampled_from(list(INDIFFERENT)))
def test_the_seats_of_the_equilibrium_are_those_of_the_reference(game, players, ties, shut_wins, indifferent):
    """Compare the seats' expected wins, and test that no seat can gain by another strategy."""
    rules, first = Round(game, players, ties, shut_wins, indifferent), ScoresSoFar(after=players - 1)
    solution = rules.solve()
    exact = reference_rounds.seat_values(twin(game), (None,) * players, ties, shut_wins, indifferent)
    assert solution.seats == pytest.approx(np.array(exact, float), abs=1e-13)
    assert solution.exploitability == pytest.approx(0, abs=1e-12)
    for plays in ("optimal", lambda _, seen: solution.policy(seen)):
        assert rules.evaluate([plays] * players).seats == pytest.approx(solution.seats, abs=1e-13)
    assert solution.at(first).value == pytest.approx(solution.seats[0])
    assert solution.at(first).evaluate(rules.policy("optimal", first)).regret == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=8)
@given(*ROUNDS, st.sampled_from(list(INDIFFERENT)))
def test_every_choice_of_the_equilibrium_is_that_of_the_reference(game, players, ties, shut_wins, indifferent):
    """Test that the tolerance for equal floats finds the same ties as the fractions."""
    solution, other = Round(game, players, ties, shut_wins, indifferent).solve(), twin(game)
    tables = compile_game(game)
    for scores in cases.observable_scores(other, players, shut_wins):
        lead, *others = cases.scores_so_far(scores, players)
        policy = solution.policy(ScoresSoFar(our_score(game, lead), *others))
        plays = reference_rounds.equilibrium_policy(other, players, ties, shut_wins, indifferent, scores)
        for state, where, roll in throwing_states(tables):
            if moves_at(tables, state):
                assert choice(tables, state, policy) == plays(where, roll)


def test_the_approximation_is_that_of_the_reference():
    game = Threes(dice=3, faces=4)
    tables = compile_game(game)
    for seen in (ScoresSoFar(after=3), ScoresSoFar(3, 1, 2), ScoresSoFar(5, 2, 0)):
        policy = Round(game, 4).policy("approximation", seen)
        exact = reference_rounds.approximation(twin(game), seen.lead, seen.after)
        for state, where, roll in throwing_states(tables):
            assert choice(tables, state, policy) == exact(where, roll)


@pytest.mark.nightly
@settings(max_examples=4)
@given(*ROUNDS)
def test_evaluations_and_best_responses_are_those_of_the_reference(game, players, ties, shut_wins):
    strategies = [strategy(game, "random"), *(arbitrary_strategy(game, seed) for seed in range(1, players))]
    rules = Round(game, players, ties, shut_wins)
    evaluation = rules.evaluate(strategies)
    seats, best = np.array(cases.arbitrary_players(twin(game), players, ties, shut_wins), float)
    assert evaluation.seats == pytest.approx(seats, abs=1e-12)
    assert evaluation.exploitability == pytest.approx((best - seats).sum())
    for seat in range(players):
        found = evaluation.best_response(seat)
        assert (found.value, found.gain) == pytest.approx((best[seat], best[seat] - seats[seat]), abs=1e-12)
        responding = [*strategies]
        responding[seat] = lambda _, seen, turn=found.turn: turn.policy(seen)
        assert rules.evaluate(responding).seats[seat] == pytest.approx(best[seat], abs=1e-12)


# What must hold of any round


def test_a_shut_box_may_end_the_round():
    assert Round(ONE_TILE, 2, shut_wins=True).solve().outcome == pytest.approx((1 / 2, 1 / 4, 1 / 4))
    assert Round(ONE_TILE, 3, shut_wins=True).solve().throws == pytest.approx([1, 1 / 2, 1 / 4])
    assert Round(ShutTheBox(tiles=5), 3, "nobody", shut_wins=True).solve().survival[:, 0] == pytest.approx([1, 1, 1])


def test_survival_throws_and_outcome_are_those_of_the_single_turns():
    names = ["take-all", "random", "optimal-score"]
    evaluation = Round(FIVE_DICE, 3).evaluate(names)
    turns = [evaluate(FIVE_DICE, strategy(FIVE_DICE, name)) for name in names]
    stands = [sum(p for score, p in turn.score_distribution.items() if score >= 6) for turn in turns]
    assert evaluation.survival[:, 6] == pytest.approx([1, stands[2], stands[2] * stands[1]])
    assert evaluation.throws == pytest.approx([turn.mean_throws for turn in turns])
    two = Round(FIVE_DICE, 2, "nobody").evaluate(["threes-only", "optimal"])
    assert two.seats == pytest.approx([two.outcome.win, two.outcome.loss])
    assert sum(two.outcome) == pytest.approx(1)


@pytest.mark.slow
def test_batches_and_the_scale_of_a_win_do_not_matter(monkeypatch):
    whole = Round(NINE, 3).solve()
    first = whole.turns[-1]
    smaller = OptimalTurn(first.scores_so_far, first.holder_value * 1e-30)
    assert (smaller.policy(ScoresSoFar(after=2)) == whole.policy(ScoresSoFar(after=2))).all()
    monkeypatch.setattr(scores_so_far, "LARGEST_BATCH", 5 * 7104)
    Round.solve.cache_clear()
    in_batches = Round(NINE, 3).solve()
    assert in_batches.seats == pytest.approx(whole.seats, abs=1e-15)
    assert in_batches.exploitability == pytest.approx(0, abs=1e-12)


# What is refused


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Round(NINE, 102), "players must be"),
        (lambda: Round(NINE, 2, "both"), "ties"),
        (lambda: Round(NINE, indifferent="any"), "equally good"),
        (lambda: Round(NINE, shut_wins="yes"), "shut_wins"),
        pytest.param(lambda: Round(ShutTheBox(tiles=10, score="digits"), 101), "fit", marks=pytest.mark.nightly),
        (lambda: Round(NINE, 3).evaluate(["random"]), "strategies"),
        (lambda: Round(NINE, 1).evaluate([np.zeros(3, int)]), "a policy of"),
        (lambda: Round(NINE).evaluate(["random", lambda tables, seen: None]), "holders=1"),
        (lambda: Round(NINE, 3).evaluate(["random"] * 3).outcome, "2 players"),
        (lambda: Round(NINE).policy("approximation", ScoresSoFar(46, 1)), "lead"),
        (lambda: Round(NINE).solve().at(ScoresSoFar(after=2)), "players after"),
    ],
)
def test_wrong_arguments_are_refused(make, error):
    with pytest.raises(ValueError, match=error):
        make()


def test_numbers_of_numpy_make_the_same_round():
    assert repr(Round(NINE, np.int64(3), shut_wins=np.True_)) == repr(Round(NINE, 3, shut_wins=True))
