"""The commands that ask a language model, and grade its answers."""

import json
from collections.abc import Container
from pathlib import Path

from stb_gym.cli.answers import Answer
from stb_gym.cli.policies import measured
from stb_gym.console import say
from stb_gym.files import from_json, read_text, reading
from stb_gym.games import Game
from stb_gym.messages import quoted
from stb_gym.text import TextGame


def ask(game: Game, *, objective: str = "score", names: int | None = None, moves: bool = False) -> None:
    """Print questions for a language model.

    Each is a line of JSON with the keys id, rules and question.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        names: Name tiles or faces by other words, drawn by this seed.
        moves: List the legal moves in every question.

    Raises:
        ValueError: if there is nothing to ask.
    """
    questions = list(TextGame(game, objective, seed=names, list_moves=moves).questions())
    if not questions:
        raise ValueError(f"there is nothing to ask about {game}: no position has more than one legal move")
    for question in questions:
        say(json.dumps(question))


def grade(
    game: Game, *, answers: Path, objective: str = "score", names: int | None = None, moves: bool = False
) -> Answer:
    """Measure the answers of a language model exactly.

    Print how much they lose, and which are illegal, name no action or are missing.

    Args:
        game: the rules.
        answers: File of answers, a line of JSON with the keys id and answer for each; several to a question share its
            probability.
        objective: What the questions were asked for.
        names: The seed of the names in the questions.
        moves: The questions listed the legal moves.
    """
    text = TextGame(game, objective, seed=names, list_moves=moves)
    asked = {question["id"] for question in text.questions()}
    pairs = []
    with reading(answers):
        for number, line in enumerate(read_text(answers).split("\n"), 1):
            if line.strip():
                try:
                    identity, answer = _answer(line.strip(), asked)
                except ValueError as error:
                    raise ValueError(f"line {number}: {error}") from None
                if answer is not None:
                    pairs.append((identity, answer))
    found = text.grade(pairs)
    sentence = "Playing {game}, these answers lose {regret}{unit} per turn against perfect play."
    return measured(sentence, found.evaluation, numbers=found.summary(), answers=str(answers))


def _answer(line: str, asked: Container[str]) -> tuple[str, str | None]:
    """Return the id and the answer of a line; raise a ValueError that says what is wrong."""
    try:
        entry = from_json(line.removeprefix("\ufeff"))  # where files were joined
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON from column {error.colno} on") from None
    match entry:
        case {"id": str(identity), "answer": str() | None as answer}:
            if identity not in asked:
                raise ValueError(f"no question has the id {quoted(identity)}: use the flags of ask")
            return identity, answer
    raise ValueError("it must be an object with the texts id and answer; null is no answer")
