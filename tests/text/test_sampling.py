"""Test numbers beside the exact regret of answers: fallbacks, bounds, sampled turns, and other wordings."""

import itertools
import re

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import ShutTheBox, Threes, evaluate, strategy
from stb_gym.text import TextEnv, TextGame, grade_turns, sample_turns
from stb_gym.text.wording import WORDINGS
from tests.text.test_game import check_every_action, player, position_in

THREE_DICE = TextGame(Threes(dice=3))


def test_the_fallback_regret_replaces_faults_by_random_legal_moves():
    questions = [each["id"] for each in THREE_DICE.questions()]
    answers = {**dict.fromkeys(questions[::3], "keep 1"), **dict.fromkeys(questions[1::3], "?")}
    tables = stb_gym.solve(THREE_DICE.game).tables
    policy = tables.legal / np.maximum(tables.choices, 1)[:, None]
    for name in questions[::3]:
        policy[tables.find_state(*position_in(name))] = np.arange(tables.num_actions) == THREE_DICE.game.actions.index(
            1
        )
    grade = THREE_DICE.grade(answers.items())
    assert grade.fallback_regret == pytest.approx(evaluate(THREE_DICE.game, policy).regret, abs=1e-12)
    assert grade.fallback_regret < grade.evaluation.regret


def test_bounds_of_missing_answers_are_the_best_and_the_worst_answers():
    game = TextGame(ShutTheBox(tiles=5), list_moves=True)
    questions = list(game.questions())
    missing = [each for each in questions if "Roll: 5" in each["question"] or "Roll: 3" in each["question"]][-5:]
    moves = [each["question"].partition("Legal moves: ")[2].partition("\n")[0].split("; ") for each in missing]
    worst = [(each["id"], "shut 1" if each in questions[::2] else "shut 2") for each in questions]
    given = {name: answer for name, answer in worst if name not in {each["id"] for each in missing}}
    grade = game.grade(given.items())
    regrets = []
    for choice in itertools.product(*([*each, "?"] for each in moves)):
        whole = {**given, **dict(zip((each["id"] for each in missing), choice, strict=True))}
        regrets.append(game.grade(whole.items()).evaluation.regret)
    assert grade.missing == 5
    assert (grade.least_regret, grade.evaluation.regret) == pytest.approx((min(regrets), max(regrets)), abs=1e-12)
    assert min(regrets) < max(regrets)
    assert game.grade(worst).least_regret == game.grade(worst).evaluation.regret


def env_and_model(rules, name):
    """Return an environment in words, and a model that plays a strategy."""
    env = TextEnv(stb_gym.envs.make_turn(rules))
    return env, player(env.text, strategy(rules, name))


def test_sampled_turns_ask_each_question_once_and_cover_the_exact_regret():
    rules = ShutTheBox(tiles=6)
    env, model = env_and_model(rules, "lowest-first")
    prompts = []
    grade = sample_turns(env, lambda prompt: prompts.append(prompt) or model(prompt), turns=400)
    assert len(prompts) == len({*prompts}) == grade.questions < len(list(env.text.questions()))
    exact = evaluate(rules, strategy(rules, "lowest-first")).regret
    assert abs(grade.regret - exact) < 4 * grade.standard_error < exact / 10
    assert np.mean(grade.interval) == pytest.approx(grade.regret)
    assert grade.summary()["regret"] == pytest.approx(np.mean(grade.lost))
    assert (grade.illegal_mass, grade.unparsable_mass, grade.missing_mass, grade.unanswered) == (0, 0, 0, [])


def test_rounds_of_questions_end_with_the_sampled_regret():
    env, model = env_and_model(Threes(dice=3), "take-all")
    answers, rounds = {}, 0
    while unanswered := grade_turns(env, answers, 50).unanswered:
        assert grade_turns(env, answers, 50).missing_mass > 0
        for each in unanswered:
            answers[each["id"]] = [model(f"{each['rules']}\n\n{each['question']}")]
        rounds += 1
    assert 1 <= rounds <= 2  # a turn of three dice has two choices at most
    once = sample_turns(env, model, 50)
    again = grade_turns(env, answers, 50)
    assert again.summary() == once.summary()
    assert once.questions == len(answers)


def test_sampled_turns_count_faults_apart_and_draw_among_several_answers():
    env = TextEnv(gym.make("stb_gym/ShutTheBox-v0", tiles=5), list_moves=True)
    questions = list(env.text.questions())
    names = [each["id"] for each in questions]
    faults = grade_turns(env, {name: [["?"], ["5"], []][i % 3] for i, name in enumerate(names)}, 60)
    masses = (faults.illegal_mass, faults.unparsable_mass, faults.missing_mass)
    assert min(masses) > 0
    assert {each["id"] for each in faults.unanswered} <= {*names[2::3]}
    moves = {each["id"]: each["question"].split("Legal moves: ")[1].split("\n")[0].split("; ") for each in questions}
    mixed = grade_turns(env, moves, 2000)
    exact = env.text.grade((name, answer) for name in names for answer in moves[name]).evaluation.regret
    assert abs(mixed.regret - exact) < 4 * mixed.standard_error
    assert mixed.standard_error < exact / 10


def test_boxes_too_large_for_tables_are_sampled():
    env = TextEnv(gym.make("stb_gym/ShutTheBox-v0", tiles=16, dice=3), list_moves=True)
    [first, *_] = asked = grade_turns(env, {}, 5).unanswered
    assert {*first} == {"id", "rules", "question"}
    grade = grade_turns(env, {each["id"]: ["?"] for each in asked}, 5)
    assert grade.unparsable_mass == 1
    assert env.text.has_question(first["id"])
    assert not TextGame(ShutTheBox(tiles=16, dice=3), seed=1).has_question(first["id"])
    with pytest.raises(ValueError, match="turns must be"):
        grade_turns(env, {}, 1)


@pytest.mark.parametrize("wording", WORDINGS)
def test_every_wording_has_its_own_questions_and_takes_every_answer(wording):
    game = TextGame(ShutTheBox(tiles=6), wording=wording)
    check_every_action(game)
    position = game.position(0b111111, 2, (7,))
    for action in position.legal:
        assert game.parse(f'{{"move": "{game.answer(action)}"}}', position) == action
    assert game.parse(game.question(position).splitlines()[-1], position) is None  # a model may repeat the request
    assert re.findall(r"shut [\d,]+", game.prompt(position)) == (["shut 3,5"] if wording == "example" else [])
    others = [TextGame(game.game, wording=name) for name in WORDINGS if name != wording]
    assert not any(other.has_question(game.identity(position)) for other in others)
