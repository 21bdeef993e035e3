"""Python asks what the command asks, without a command line, and gets typed answers."""

import json

import pytest

from stb_gym import Evaluation, Outcome, ShutTheBox, Threes
from stb_gym.cli import evaluating, main, matches, rounds, solving
from stb_gym.cli.advising import Advise, AdviseAnswer, BoardAnswer
from stb_gym.cli.branching import ShowTree, TreeAnswer
from stb_gym.cli.evaluating import Evaluate, Simulate
from stb_gym.cli.judging import Judge, JudgeAnswer
from stb_gym.cli.listing import (
    ListStates,
    ListStrategies,
    ListVariants,
    StatesAnswer,
    StrategiesAnswer,
    StrategyNames,
    VariantsAnswer,
)
from stb_gym.cli.matches import EvaluateMatch, EvaluateTournament
from stb_gym.cli.measuring import Measure, SampledAnswer
from stb_gym.cli.program import QUESTIONS
from stb_gym.cli.rounds import EvaluateRound, FindPar, ParAnswer
from stb_gym.cli.solving import Certify, Solve
from stb_gym.cli.thumbs import CardAnswer, Compare, CompareAnswer, FindCard

BOX, THREES = ShutTheBox(tiles=4), Threes(dice=2)
BOX_WORDS, THREES_WORDS = ["shut-the-box", "--tiles", "4"], ["threes", "--dice", "2"]
FIRST = "tests.measure.test_meter:first_legal"
ASKED = [
    (Solve(objective="shut", exact=True), BOX, BOX_WORDS, "--objective shut --exact", solving.SolveAnswer),
    (ListStates(objective="shut"), BOX, BOX_WORDS, "--objective shut", StatesAnswer),
    (Certify(), THREES, THREES_WORDS, "", solving.CertifyAnswer),
    (
        Evaluate(policy="worst", lead=3, departures=True),
        BOX,
        BOX_WORDS,
        "--policy worst --lead 3 --departures",
        evaluating.EvaluateAnswer,
    ),
    (Advise(where={"open": [1, 3], "roll": 4}), BOX, BOX_WORDS, "--open 1,3 --roll 4", AdviseAnswer),
    (Advise(where={"points": 3, "roll": [2]}), THREES, THREES_WORDS, "--points 3 --roll 2", AdviseAnswer),
    (Advise(where={"points": 3, "dice": 1}), THREES, THREES_WORDS, "--points 3 --dice-in-hand 1", BoardAnswer),
    (
        Advise(lead=4, after=1, ties="nobody", where={"roll": [2, 3]}),
        THREES,
        THREES_WORDS,
        "--lead 4 --after 1 --ties nobody --roll 2,3",
        AdviseAnswer,
    ),
    (ShowTree(where={"open": [1, 3]}, depth=2), BOX, BOX_WORDS, "--open 1,3 --depth 2", TreeAnswer),
    (
        Simulate(policy="random", turns=100, seed=1),
        THREES,
        THREES_WORDS,
        "--policy random --turns 100 --seed 1",
        evaluating.SimulateAnswer,
    ),
    (Measure(agent=FIRST, turns=50, seed=2), BOX, BOX_WORDS, f"--agent {FIRST} --turns 50 --seed 2", SampledAnswer),
    (Measure(agent=FIRST), THREES, THREES_WORDS, f"--agent {FIRST}", evaluating.EvaluateAnswer),
    (Compare(policy=("random", "worst")), BOX, BOX_WORDS, "--policy random,worst", CompareAnswer),
    (
        FindCard(policy="biggest-first", exceptions=2, objective="shut"),
        BOX,
        BOX_WORDS,
        "--policy biggest-first --exceptions 2 --objective shut",
        CardAnswer,
    ),
    (Judge(), None, [], "", JudgeAnswer),
    (
        Judge(files=("ppo-threes", "dqn-threes"), objective="at-most:4"),
        None,
        [],
        "ppo-threes dqn-threes --objective at-most:4",
        JudgeAnswer,
    ),
    (ListVariants(), BOX, BOX_WORDS, "", VariantsAnswer),
    (ListStrategies(), None, [], "", StrategyNames),
    (ListStrategies(objective="at-most:1"), THREES, THREES_WORDS, "--objective at-most:1", StrategiesAnswer),
    (EvaluateRound(shut_wins=True), BOX, BOX_WORDS, "--shut-wins", rounds.RoundAnswer),
    (
        EvaluateRound(policy=("worst", "random")),
        THREES,
        THREES_WORDS,
        "--policy worst,random",
        rounds.RoundAnswer,
    ),
    (FindPar(after=3, policy=("take-all",)), THREES, THREES_WORDS, "--after 3 --policy take-all", ParAnswer),
    (
        EvaluateTournament(policy=("optimal", "random"), limit=9),
        BOX,
        BOX_WORDS,
        "--policy optimal,random --limit 9",
        matches.TournamentAnswer,
    ),
    (
        EvaluateMatch(policy=("optimal", "random"), rounds=3),
        BOX,
        BOX_WORDS,
        "--policy optimal,random --rounds 3",
        matches.MatchAnswer,
    ),
]


@pytest.mark.parametrize(("question", "game", "game_words", "words", "kind"), ASKED)
def test_python_asks_what_the_command_asks(capsys, question, game, game_words, words, kind):
    answer = question.answer(game)
    assert type(answer) is kind
    assert capsys.readouterr() == ("", "")
    line = [question.name, *game_words, *words.split()]
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(answer.to_json()))
    assert main(line) == 0
    assert capsys.readouterr().out == f"{answer}\n"


def test_every_question_is_asked_above_but_for_those_that_write_and_play():
    asked = {type(question) for question, *_ in ASKED}
    assert {question.name for question in set(QUESTIONS) - asked} == {"play", "watch", "explore"}
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS) == 20


def test_answers_are_typed():
    assert isinstance(Evaluate(policy="random").answer(BOX).evaluation, Evaluation)
    match = EvaluateMatch(policy=("optimal", "random")).answer(BOX)
    assert isinstance(match.round, Outcome)
    assert match.match.win > match.round.win
    assert Solve().answer(BOX).objective.name == "score"
    assert Solve().answer(BOX).game == BOX


def test_questions_that_are_not_allowed_raise():
    for question, message in [
        (Solve(objective="win"), "unknown objective 'win'"),
        (Advise(where={"points": 1, "roll": 2}), "unknown position 'points'"),
        (Evaluate(policy="nobody"), "unknown strategy of shut-the-box 'nobody'"),
        (EvaluateRound(players=3, policy=("random",)), "needs as many strategies"),
    ]:
        with pytest.raises(ValueError, match=message):
            question.answer(BOX)
