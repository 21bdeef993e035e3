"""The commands that ask a language model, and grade its answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from stb_gym.cli.answers import Answer, form_of
from stb_gym.cli.flags import Names, numbers_or_ranges
from stb_gym.cli.policies import FORMATS, ILLEGAL, INTERVAL, TABLES, measured
from stb_gym.console import say
from stb_gym.envs import make_turn
from stb_gym.files import from_json, read_text, reading
from stb_gym.games import Game
from stb_gym.messages import quoted
from stb_gym.text import Grade, SampledGrade, TextEnv, TextGame, grade_turns

Seeds = Annotated[int | list[int] | None, Parameter(converter=numbers_or_ranges)]
SHOWN = ["wording", "names", "regret", "fallback_regret", "illegal_mass", "unparsable_mass", "missing_mass"]
NO_MOVE = "an answer without a legal move"
LOSE = "Playing {game}, these answers lose {regret}{unit} a turn against perfect play"
UNASKED = (
    " But {missing} of the {questions} questions of these turns have no answer, which counts as the worst score: ask "
    "them with the same --turns."
)
SPREAD = "Playing {game}, these answers lose from {least} to {most}{unit} a turn, by how the questions are asked."


def ask(
    game: Game,
    *,
    objective: str = "score",
    names: Seeds = None,
    moves: bool = False,
    wording: Names = (),
    turns: int | None = None,
    answers: Path | None = None,
) -> None:
    """Print questions for a language model.

    Each is a line of JSON with the keys id, rules and question.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        names: Name tiles or faces by other words, drawn by this seed; several seeds, separated by commas, ask every
            question once for each.
        moves: List the legal moves in every question.
        wording: The wording: example (shows an answer, which a weak model may copy), last-line or json; several,
            separated by commas (default: example).
        turns: Ask only what this many turns need to know next, given the answers so far. Repeat until nothing is asked.
        answers: File of the answers so far, as for stb-gym grade; for --turns.

    Raises:
        ValueError: if there is nothing to ask, or answers are given without turns.
    """
    if answers is not None and turns is None:
        raise ValueError("--answers is for --turns: other questions do not depend on answers")
    envs = _envs(game, objective, names, moves, wording)
    given = {} if answers is None else _read_answers(answers, envs)
    for env in envs:
        for question in env.text.questions() if turns is None else grade_turns(env, given, turns).unanswered:
            say(json.dumps(question))


def grade(
    game: Game,
    *,
    answers: Path,
    objective: str = "score",
    names: Seeds = None,
    moves: bool = False,
    wording: Names = (),
    turns: int | None = None,
) -> Answer:
    """Measure the answers of a language model exactly.

    Print how much they lose, and which are illegal, name no action or are missing.

    Args:
        game: the rules.
        answers: File of answers, a line of JSON with the keys id and answer for each; several to a question share its
            probability.
        objective: What the questions were asked for.
        names: The seed of the names in the questions, or several.
        moves: The questions listed the legal moves.
        wording: The wording of the questions, or several (default: example).
        turns: Estimate the regret by as many turns as were asked.
    """
    envs = _envs(game, objective, names, moves, wording)
    given = _read_answers(answers, envs)
    rows = []
    for env in envs:
        text = env.text
        if turns is None:
            pairs = [(name, each) for name in filter(text.has_question, given) for each in given[name]]
            found: Grade | SampledGrade = text.grade(pairs)
        else:
            found = grade_turns(env, given, turns)
        rows.append({"wording": text.wording, "names": text.seed, **found.summary()})
    goal = envs[0].text.objective
    if len(rows) > 1:
        regrets = [row["regret"] for row in rows]
        return Answer(
            SPREAD,
            game,
            goal,
            tables={"prompts": "The regret for each way to ask:"},
            columns={"prompts": [name for name in SHOWN if name in rows[0]]},
            formats=FORMATS,
            least=min(regrets),
            mean=sum(regrets) / len(regrets),
            most=max(regrets),
            prompts=rows,
            answers=str(answers),
        )
    if isinstance(found, Grade):
        return measured(
            LOSE,
            found.evaluation,
            numbers=found.summary(),
            tables={"facts": "", **TABLES, "mistakes": TABLES["mistakes"].replace(ILLEGAL, NO_MOVE)},
            illegal=NO_MOVE,
            answers=str(answers),
        )
    formats = {**FORMATS, "interval": form_of(goal.unit)}
    sentence = f"{LOSE}{INTERVAL}." + (UNASKED if found.unanswered else "")
    return Answer(sentence, game, goal, tables={"facts": ""}, formats=formats, **found.summary(), answers=str(answers))


def _envs(game: Game, objective: str, names: Seeds, moves: bool, wordings: tuple[str, ...]) -> list[TextEnv]:
    """Return an environment for each combination of wording and names."""
    turn = make_turn(game, objective=objective)
    seeds = names if isinstance(names, list) else [names]
    return [
        TextEnv(turn, seed=seed, list_moves=moves, wording=wording)
        for wording in dict.fromkeys(wordings or ["example"])
        for seed in dict.fromkeys(seeds)
    ]


def _read_answers(path: Path, envs: list[TextEnv]) -> dict[str, list[str]]:
    """Return the answers of a file by the id of their question; raise a ValueError about the first bad line."""
    texts = [env.text for env in envs]
    given: dict[str, list[str]] = {}
    with reading(path):
        for number, line in enumerate(read_text(path).split("\n"), 1):
            if line.strip():
                try:
                    identity, answer = _answer(line.strip(), texts)
                except ValueError as error:
                    raise ValueError(f"line {number}: {error}") from None
                if answer is not None:
                    given.setdefault(identity, []).append(answer)
    return given


def _answer(line: str, texts: Sequence[TextGame]) -> tuple[str, str | None]:
    """Return the id and the answer of a line; raise a ValueError that says what is wrong."""
    try:
        entry = from_json(line.removeprefix("\ufeff"))  # a byte-order mark stays where files were joined
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON from column {error.colno} on") from None
    match entry:
        case {"id": str(identity), "answer": str() | None as answer}:
            if not any(text.has_question(identity) for text in texts):
                raise ValueError(f"no question has the id {quoted(identity)}: use the flags of ask")
            return identity, answer
    raise ValueError("it must be an object with the strings id and answer, or null for a missing answer")
