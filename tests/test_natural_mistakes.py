"""What people try first and is not meant so: told in a line, and never measured or stored as something else."""

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import Objective, ShutTheBox, Threes, compare, evaluate, solve, strategy
from stb_gym.large import evaluate_boards, solve_boards
from stb_gym.measure import pocket_card
from stb_gym.rounds import Outcome, Round, RoundMeter, match, series, tournament
from stb_gym.solver import StateScorePolicy, UniformRandom

NINE, ROUND, BOX = ShutTheBox(), "stb_gym/ThreesRound-v0", "stb_gym/ShutTheBox-v0"


@pytest.mark.parametrize("stepper", ["tables", "boards"])
def test_a_function_that_answers_otherwise_now_rewards_so(stepper):
    """As in a notebook, where a utility reads a variable of the cell before."""
    power = [0.0]
    goal = Objective("risk", lambda points: -(points.astype(float) ** power[0]))
    rewards = []
    for power[0] in (1.0, 2.0, 1.0):
        env = gym.make(BOX, objective=goal, stepper=stepper)
        env.reset(seed=0)
        rewards.append(env.step(0)[1])
    assert rewards == [-45, -2025, -45]


def test_the_policy_of_a_solution_is_an_array_of_ones_own():
    best = solve(NINE)
    mine, node = best.policy, 5616
    mine[node] = 12
    [mistake] = best.evaluate(mine).mistakes(1)
    assert (mistake.plays, mistake.best) == (12, best.policy[node])


@pytest.mark.parametrize("policy", [UniformRandom(), StateScorePolicy(lambda boards, dice: -boards)])
def test_what_looks_at_where_moves_lead_is_stored_as_what_it_plays(policy, tmp_path):
    stb_gym.save_policy(tmp_path / "mine.npz", NINE, policy)
    assert stb_gym.measure.read_policy(tmp_path / "mine.npz").evaluate().regret == evaluate(NINE, policy).regret


def test_who_wants_the_worst_is_not_paid_for_illegal_actions():
    found = solve(NINE, worst=True).evaluate(np.zeros(5622, int), illegal="end")
    assert found.value == pytest.approx(sum(score * p for score, p in found.score_distribution.items()))
    assert found.value > 40


def test_several_environments_of_a_round_are_alike():
    def made(seat, opponents):
        return lambda: gym.make(ROUND, opponents=opponents, seat=seat)

    for other in (made(1, "random"), made(0, "optimal")):
        with pytest.raises(ValueError, match="SyncVectorEnv have different seats, opponents or rounds"):
            RoundMeter(gym.vector.SyncVectorEnv([made(0, "random"), other]))
    RoundMeter(gym.vector.SyncVectorEnv([made(0, "random")] * 2))


MISTAKES = [
    lambda: match(Outcome(0.5, 0.5, 0.5), 5),
    lambda: compare({}, {}),
    lambda: compare(evaluate(NINE, UniformRandom()), {1: 1.0}),
    lambda: pocket_card(NINE, solve(NINE).policy, 3),
    lambda: pocket_card(solve(NINE), strategy(NINE, "random"), 3),
    lambda: pocket_card(solve(NINE), solve(NINE).policy, -3),
    lambda: Round(NINE).evaluate("optimal"),
    lambda: series(Round(NINE), "optimal", 2),
    lambda: tournament(NINE, "optimal"),
    lambda: evaluate_boards(NINE, UniformRandom()),
    lambda: evaluate_boards(solve_boards(NINE), solve(NINE).policy),
    lambda: evaluate(NINE, solve(NINE).policy + 100, illegal="end"),
    *(lambda env=env: RoundMeter(env) for env in (NINE, ROUND, None)),
]


def test_other_mistakes_are_refused_in_one_line(snapshot):
    told = []
    for mistake in MISTAKES:
        with pytest.raises((ValueError, TypeError)) as error:
            mistake()
        told.append(f"{type(error.value).__name__}: {error.value}")
    assert told == snapshot


@pytest.mark.parametrize("make", [gym.make, lambda name, **options: gym.make_vec(name, 2, **options)])
@pytest.mark.parametrize("name", [BOX, ROUND])
def test_before_the_first_turn_there_is_nothing_to_be_seen(make, name):
    with pytest.raises(RuntimeError, match="has begun: call reset"):
        make(name, render_mode="ansi").unwrapped.render()


def test_win_loss_and_tie_may_be_given_as_they_come():
    assert match((0.5, 0.25, 0.25), 2) == match(Outcome(0.5, 0.25, 0.25), 2)


def test_a_series_of_any_length_is_shown_in_a_line():
    found = series(Round(Threes()), ["optimal", "optimal"], rounds=100)
    assert repr(found).startswith("<100 rounds: players win [0.2845 0.6791], tied")
    assert len(repr(found)) < 80


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: gym.make(BOX, tiles=8), lambda: gym.make(BOX)),
        (lambda: gym.make_vec(BOX, 2, tiles=8), lambda: gym.make_vec(BOX, 2)),
        (lambda: gym.make(ROUND, players=3), lambda: gym.make(ROUND, players=4)),
        (
            lambda: stb_gym.rounds.SelfPlayVectorEnv("threes", 2, ties="nobody"),
            lambda: stb_gym.rounds.SelfPlayVectorEnv("threes", 2),
        ),
    ],
)
def test_a_snapshot_of_other_rules_is_refused_and_changes_nothing(one, other):
    first, second = one().unwrapped, other().unwrapped
    first.reset(seed=1)
    second.reset(seed=2)
    before = second.snapshot()
    with pytest.raises(ValueError, match=r"^the snapshot is not of (one turn|2 turns) of "):
        second.restore(first.snapshot())
    np.testing.assert_equal(second.snapshot(), before)
