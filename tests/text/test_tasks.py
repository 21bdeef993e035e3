"""Test tasks drawn by a seed: each can be solved, and its difficulty is that of perfect play."""

import random
from collections import Counter

import numpy as np
import pytest

import stb_gym
from stb_gym.envs import stepper_of
from stb_gym.games import entry_of
from stb_gym.text import TextGame, draw_task
from stb_gym.text.game import decision_at
from stb_gym.text.tasks import _draw_rules
from tests import every
from tests.text.test_game import position_in


def choices_of(best):
    """Yield (state, share of the choices of perfect play, losses of its legal moves) for each choice that it meets."""
    tables = best.tables
    visits = best.evaluate(best.policy).visits * (tables.choices > 1)
    for state in np.flatnonzero(visits).tolist():
        pairs, losses = best.ranked_pairs(state)
        yield state, visits[state] / visits.sum(), dict(zip(tables.pair_action[pairs].tolist(), losses, strict=True))


@pytest.mark.parametrize("seed", every(4, [5, 1, 11, 14], pytest.mark.slow))
def test_tasks_are_solved_and_their_difficulty_is_that_of_perfect_play(seed):
    task = draw_task(seed)
    game, objective = task.text.game, task.text.objective
    best = stb_gym.solve(game, objective)
    answers = []
    for each in task.text.questions():
        state = best.tables.find_state(*position_in(each["id"]))
        answers.append((each["id"], task.text.answer(int(best.policy[state]))))
    assert len(answers) >= 20
    grade = task.text.grade(answers)
    assert (grade.evaluation.regret, grade.illegal_mass) == pytest.approx((0, 0), abs=1e-12)
    met = list(choices_of(best))
    errors = [sum(share * np.mean([loss > 0 for loss in losses.values()]) for _, share, losses in met)]
    for name in entry_of(game).heuristics:
        policy = stb_gym.strategy(game, name)
        errors.append(sum(share * (losses[int(policy[state])] > 0) for state, share, losses in met))
    lost = sum(share * np.mean([*losses.values()]) for _, share, losses in met)
    stepper = stepper_of(game)
    worst = sum(share * task.text.loss(task.text.identity(decision_at(stepper, state)), "") for state, share, _ in met)
    habits = Counter()
    for state, share, _ in met:
        habits[int(best.policy[state])] += share
    difficulty = 0
    for _, share, losses in met:
        wrong = sum(habits[action] for action, loss in losses.items() if loss > 0)
        difficulty += share * wrong / sum(habits[action] for action in losses)
    entropy = sum(share * -np.log(share) for _, share, _ in met)
    assert (task.difficulty, task.missed, task.mean_loss, np.log(task.choices)) == pytest.approx(
        (difficulty, min(errors), lost / worst, entropy), abs=1e-9
    )
    assert task.missed >= 0.05


def test_seeds_draw_the_same_tasks_and_different_rules():
    one, again, other = (draw_task(seed) for seed in (3, np.int64(3), 4))
    assert one.text.rules == again.text.rules != other.text.rules
    assert one.text.rules != TextGame(one.text.game, one.text.objective, seed=0).rules  # its names are drawn, too
    assert (one.difficulty, one.missed) == (again.difficulty, again.missed)
    draw = random.Random(0)
    rules = [_draw_rules(draw) for _ in range(4000)]
    opened = {str(game) for game, _ in rules if game.name == "shut-the-box"}
    assert len(opened) > 2500
    assert {objective for _, objective in rules} == {"score", "shut", *(f"at-most:{points}" for points in range(1, 7))}
    with pytest.raises(ValueError, match="seed must be"):
        draw_task(-1)
