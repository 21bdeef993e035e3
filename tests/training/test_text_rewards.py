"""Test the study of rewards for language models: answers, weights, and short trainings."""

import numpy as np
import pytest
import torch

from stb_gym import ShutTheBox, Threes
from stb_gym.text import TextGame, draw_task
from training.experiments import task_difficulty, text_rewards
from training.experiments.language_model import CHARACTERS, Transformer, answered
from training.experiments.text_rewards import REWARDS, Batch, Course, play, weigh

BOX = ShutTheBox(tiles=5, dice=1)


@pytest.fixture
def course():
    return Course(TextGame(BOX))


@pytest.fixture
def model():
    """A model without training that writes digits and line breaks."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    model = Transformer()
    with torch.no_grad():
        model.scores.bias[:] = -9
        model.scores.bias[[0, *range(4, 14)]] = 0
    return model


def test_greedy_answers_are_those_of_the_supervised_study(course, model):
    question = np.arange(len(course.asked))
    text, end = course.write(model, question, greedy=True)
    lines = ["".join(CHARACTERS[each] for each in row[:last]) for row, last in zip(text.tolist(), end, strict=True)]
    prompts, written = zip(*(line.split("\n", 1) for line in lines), strict=True)
    expected = answered(model, [f"{prompt}\n" for prompt in prompts])
    assert [each.rstrip("\n") for each in written] == [each[: text_rewards.LONGEST_ANSWER] for each in expected]
    assert len({*expected}) > 1


@pytest.mark.nightly
def test_the_measurement_of_drawn_answers_agrees_with_played_turns(course, model, monkeypatch):
    monkeypatch.setattr(text_rewards, "TURNS", 4000)
    batch = play(course, model, np.random.default_rng(0))
    own = course.evaluation(model)
    mean = own.utilities[0][course.tables.start]
    assert abs(batch.score.mean() - mean) < 4 * batch.score.std() / np.sqrt(len(batch.score))
    drawn = np.bincount(batch.pair[batch.pair >= 0], minlength=len(own.weights))
    asked = course.tables.at_pairs(np.bincount(course.asked[batch.question], minlength=course.tables.num_states))
    [often] = np.argsort(drawn)[-1:]
    share = own.weights[often]
    assert abs(drawn[often] / asked[often] - share) < 4 * np.sqrt(share * (1 - share) / asked[often])


def test_weights_of_answers(course, model, monkeypatch):
    """Two turns begin with the same throw: one has one answer, the other a legal and an illegal one."""
    monkeypatch.setattr(text_rewards, "GROUP_SIZE", 2)
    best = course.best
    first, second = course.pairs[[0, -1]]
    question = course.question[[0, -1, 0]]
    pair = np.array([first, second, -1])
    text = torch.zeros(3, 1)
    batch = Batch(question, text, text[:, 0], pair, np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([-3.0, -15.0]))
    one, other = best.advantage[[first, second]]
    illegal = -15 - best.state_utilities[course.asked[question[2]]]
    assert weigh(course, "RLOO", batch, np.zeros(3), None) == pytest.approx([12, -12, -12])
    assert weigh(course, "GRPO", batch, np.zeros(3), None) == pytest.approx([1, -0.5, -0.5])
    difference = one - (other + illegal)
    assert weigh(course, "losses of a turn", batch, np.zeros(3), None) == pytest.approx(
        [difference, -difference, illegal]
    )
    own = course.evaluation(model)
    after, before = own.utilities
    expected = [*after[course.tables.pair_afterstate[[first, second]]], -15] - before[course.asked[question]]
    assert weigh(course, "advantages", batch, np.zeros(3), own) == pytest.approx(expected)


@pytest.mark.nightly
def test_every_reward_improves_a_model(monkeypatch):
    monkeypatch.setitem(text_rewards.GAMES, "three dice", Threes(dice=3))
    monkeypatch.setattr(text_rewards, "POINTS", (0, 4000))
    monkeypatch.setattr(text_rewards, "NUMBERS", text_rewards.NUMBERS[:6])
    monkeypatch.setattr(text_rewards, "STEPS", 15)
    for reward in REWARDS:
        before, _, _, after, illegal, unparsable = text_rewards.train("three dice", reward, 0)
        assert after < before / 2, reward
        assert illegal + unparsable < 0.01, reward


@pytest.mark.nightly
def test_pass_rates_rise_with_training():
    few, many = (task_difficulty.pass_rates(1000, steps) for steps in (1, 60))
    assert sum(few[:3]) < sum(many[:3]) - 0.3
    task = draw_task(1000)
    assert few[3:] == many[3:] == [task.difficulty, task.missed, task.mean_loss, task.choices]
