"""Test the coach: luck averages to zero, and accounts add up to the result."""

from itertools import product

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, strategy
from stb_gym.games import rolls
from stb_gym.rounds import TIES, Round, ScoresSoFar
from stb_gym.solver import compile_game, legal_moves
from stb_gym.terminal.coach import CAUSES, RoundCoach, coach_alone
from stb_gym.terminal.turns import RoundState, ThrownState, take_turn
from stb_gym.terminal.watching import by_policy
from tests import every
from tests.twins import MostThrees

SMALL = [ShutTheBox(tiles=4, dice=1, faces=4), Threes(dice=2, faces=4)]


def turn_by(game, policy, random):
    """Play a turn; return its steps and the final score."""
    steps = []
    return steps, take_turn(game, random, by_policy(game, policy, random), steps)


def end_of(account):
    return account.start + sum(map(account.total, CAUSES))


@pytest.mark.parametrize("game", [ShutTheBox(tiles=3), ShutTheBox(tiles=5, dice=1, score="count"), Threes(dice=2)])
def test_luck_averages_to_zero_at_every_state(game, solved):
    tables, rules = compile_game(game), Round(game, 3)
    coaches = [coach_alone(solved(game)), coach_alone(solved(game, "shut"))]
    scores_so_far = ScoresSoFar(int(tables.final_score.max()), 1, 1)
    coaches.append(RoundCoach(rules.evaluate(["random", "random", "optimal"]), 1).at(scores_so_far))
    for progress, dice in zip(tables.progress.tolist(), tables.dice.tolist(), strict=True):
        table = rolls(game, dice)
        states = [
            ThrownState(progress, dice, (), roll, legal_moves(game, progress, dice, roll)) for roll in table.shown
        ]
        for coach in coaches:
            luck = [coach.choice(state).utility - coach.utility(progress, dice) for state in states]
            assert table.counts @ luck / table.counts.sum() == pytest.approx(0, abs=1e-12)


def wins(ties, scores, player):
    """Return what a player of a round wins."""
    if player >= len(scores) or scores[player] > min(scores):
        return 0
    return {"all-win": 1, "split": 1 / scores.count(min(scores)), "nobody": int(scores.count(min(scores)) == 1)}[ties]


@pytest.mark.parametrize(("game", "ties", "shut_wins"), every(5, [*product(SMALL, TIES, [False, True])]), ids=str)
def test_start_luck_choices_and_the_others_make_the_result_of_a_round(game, ties, shut_wins):
    rules, random = Round(game, 3, ties, shut_wins), np.random.default_rng(2)
    strategies = ["random", "optimal", strategy(game, "worst")]
    evaluation, turns_played = rules.evaluate(strategies), set()
    for seat in range(3):
        coach = RoundCoach(evaluation, seat)
        for number in range(5):
            scores, steps = [], []
            state = RoundState(rules, "abc", scores)
            while not state.is_over:
                policy = strategy(game, "random")
                if state.seat == seat and number % 2:
                    policy = evaluation.best_response(seat).turn.policy(state.scores_so_far)
                played, score = turn_by(game, policy, random)
                steps = played if state.seat == seat else steps
                scores.append(score)
            turns_played.add(len(scores))
            account = coach.account("abc", scores, steps)
            assert end_of(account) == pytest.approx(wins(ties, scores, seat), abs=1e-12)
            assert account.start == pytest.approx(evaluation.best_response(seat).value, abs=1e-12)
            assert len(account.events) == len(steps) + len(scores) - (seat < len(scores))
            assert account.total("choices") <= 0
            assert account.total("choices") == 0 or number % 2 == 0
    assert (min(turns_played) < 3) == shut_wins


def test_plus_is_good_for_the_player_whether_fewer_or_more_points_are_better(solved):
    for game in (ShutTheBox(), MostThrees()):
        unit = coach_alone(solved(game)).unit
        assert [unit.change(each) for each in (1.5, -0.25, -0.001, 0.0)] == ["+1.50", "-0.25", "0.00", "0.00"]
