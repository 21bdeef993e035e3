"""A person's turn at the terminal: the position shown, a move asked for, and what is typed understood."""

import re
import sys
from collections.abc import Hashable

import numpy as np

from stb_gym.games import Game, Move, words_of
from stb_gym.terminal.coach import Coach
from stb_gym.terminal.turns import Position, Step, move_in_words, stopped, take_turn


def your_turn(
    game: Game, coach: Coach | None, dice: np.random.Generator, ahead_of: int | None = None
) -> tuple[list[Step], int]:
    """Let the person at the terminal play a turn; see `take_turn`.

    Raises:
        EOFError: if the person leaves.
    """
    words = words_of(game)

    def choose(position: Position) -> Move | None:
        print(f"\n{words.text(position.held, position.dice, position.faces)}")
        if not any(words.typed_as(move.action) for move in position.moves):
            print(words.no_move(position.held, position.dice, position.faces))
            return position.moves[0] if position.moves else None
        if len(position.moves) == 1:
            [move] = position.moves
            print(f"The only move: {move_in_words(game, position, move)}.")
            return move
        move = _ask_dice(_ask(game, position))
        if coach:
            print(f"Coach: {coach.remark(position, move)}")
        return move

    if coach:
        print(f"Coach: {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play.")
    steps, score = take_turn(game, dice, choose, ahead_of)
    if stopped(steps):
        print("You are ahead and nobody plays after you, so you stop.")
    print(words.ended(score))
    return steps, score


def _ask(game: Game, position: Position) -> list[Move]:
    """The moves that the person means, asked for until there are some; several differ only in the dice thrown next."""
    words = words_of(game)
    typed_as: dict[Hashable, list[Move]] = {}
    for move in position.moves:
        typed_as.setdefault(words.typed_as(move.action), []).append(move)
    while True:
        typed = _read(words.prompt)
        if typed in ("?", "help"):
            print(f"You can {'; '.join(move_in_words(game, position, move) for move in position.moves)}.")
            continue
        understood = words.understood(typed)
        if understood in typed_as:
            return typed_as[understood]
        print(words.hint(position.held, position.dice, position.roll, understood))


def _ask_dice(moves: list[Move]) -> Move:
    """Of moves that differ in the dice thrown next the one that the person chooses."""
    by_dice = {move.dice: move for move in moves}
    if len(by_dice) == 1:
        return moves[0]
    allowed = " or ".join(map(str, by_dice))
    while True:
        typed = _read(f"Throw {allowed} dice next? ")
        if re.fullmatch(r"\d{1,3}", typed) and int(typed) in by_dice:
            return by_dice[int(typed)]
        print(f"Type {allowed}.")


def _read(prompt: str) -> str:
    """A line, in lower case."""
    if sys.stdin is None:  # it was closed before Python began
        raise EOFError
    try:
        typed = input(prompt)
    except UnicodeDecodeError:
        typed = ""
    except EOFError:
        print()
        raise
    if not sys.stdin.isatty():
        print(typed)  # a terminal has shown it already
    typed = typed.strip().lower()
    if typed in ("q", "quit"):
        raise EOFError
    return typed
