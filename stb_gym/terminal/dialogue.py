"""A person's turn at the terminal: the position shown, a move asked for, and what is typed understood."""

import re
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from stb_gym.games import Game, Move, words_of
from stb_gym.output import say as say  # for who asks, too
from stb_gym.terminal.coach import Coach
from stb_gym.terminal.turns import Dice, Position, Step, TakenBack, move_in_words, stopped, take_turn

HELP, HINT, BACK, LEAVE = ("?", "help"), ("hint", "h"), ("back", "take back", "b"), ("q", "quit")
CAN_BE_TYPED = "Type ? for your moves, hint for advice, back to take a move back, q to leave."


@dataclass
class Sitting:
    """What happens while a person plays a turn; filled as it goes on.

    Attributes:
        steps: the throws and moves, without those taken back.
        hints: how many hints were asked for.
        taken_back: how many moves were taken back.
    """

    steps: list[Step] = field(default_factory=list)
    hints: int = 0
    taken_back: int = 0

    def __str__(self) -> str:
        """The help that the person had, in a sentence; nothing if there was none."""
        helps = [(self.hints, "hint", "hints"), (self.taken_back, "move taken back", "moves taken back")]
        had = [f"{count} {one if count == 1 else more}" for count, one, more in helps if count]
        return f"With {' and '.join(had)}." if had else ""


def your_turn(
    game: Game,
    coach: Coach | None,
    dice: Dice,
    ahead_of: int | None = None,
    adviser: Callable[[], Coach] | None = None,
    sitting: Sitting | None = None,
) -> tuple[list[Step], int]:
    """Let the person at the terminal play a turn; see `take_turn`.

    Args:
        game: the rules.
        coach: says what every choice costs; None for nobody.
        dice: throws the dice.
        ahead_of: see `take_turn`.
        adviser: who is to give hints, made when the first is asked for; by default the coach.
        sitting: filled with what happens.

    Raises:
        EOFError: if the person leaves.
    """
    words, sitting = words_of(game), sitting or Sitting()

    def choose(position: Position) -> Move | None:
        say(f"\n{words.text(position.held, position.dice, position.faces)}")
        if not any(words.typed_as(move.action) for move in position.moves):
            say(words.no_move(position.held, position.dice, position.faces))
            return position.moves[0] if position.moves else None
        if len(position.moves) == 1:
            [move] = position.moves
            say(f"The only move: {move_in_words(game, position, move)}.")
            return move
        move = _ask_dice(_ask(game, position, sitting, adviser or (lambda: coach)))
        if coach:
            say(f"Coach: {coach.remark(position, move)}")
            if move not in coach.choice(position).best:
                say(coach.ranking(position, move))
        return move

    if coach:
        say(f"Coach: {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play.")
    steps, score = take_turn(game, dice, choose, ahead_of, sitting.steps)
    if stopped(steps):
        say("You are ahead and nobody plays after you, so you stop.")
    say(words.ended(score))
    return steps, score


def _ask(game: Game, position: Position, sitting: Sitting, adviser: Callable[[], Coach | None]) -> list[Move]:
    """The moves that the person means, asked for until there are some; several differ only in the dice thrown next."""
    words = words_of(game)
    typed_as: dict[Hashable, list[Move]] = {}
    for move in position.moves:
        typed_as.setdefault(words.typed_as(move.action), []).append(move)
    while True:
        typed = read(words.prompt)
        understood = words.understood(typed)
        if understood in typed_as:
            return typed_as[understood]
        if typed in HELP:
            say(f"You can {'; '.join(move_in_words(game, position, move) for move in position.moves)}.")
        elif typed in HINT:
            sitting.hints += 1
            say(_hint(adviser(), position))
        elif typed not in BACK:
            say(words.hint(position.held, position.dice, position.roll, understood))
        elif any(len(step.position.moves) > 1 for step in sitting.steps):
            sitting.taken_back += 1
            raise TakenBack
        else:
            say("There is no move of yours to take back.")


def _hint(adviser: Coach | None, position: Position) -> str:
    if adviser is None:
        return "There is nobody to give a hint."
    choice = adviser.choice(position)
    best = " or ".join(move_in_words(adviser.game, position, move) for move in choice.best)
    return f"Hint: {best}, {adviser.unit.value(choice.utility)} {adviser.unit.heading}."


def _ask_dice(moves: list[Move]) -> Move:
    """Of moves that differ in the dice thrown next the one that the person chooses."""
    by_dice = {move.dice: move for move in moves}
    if len(by_dice) == 1:
        return moves[0]
    allowed = " or ".join(map(str, by_dice))
    while True:
        typed = read(f"Throw {allowed} dice next? ")
        if re.fullmatch(r"\d{1,3}", typed) and int(typed) in by_dice:
            return by_dice[int(typed)]
        say(f"Type {allowed}.")


def read(prompt: str) -> str:
    """A line, in lower case.

    Raises:
        EOFError: if the person leaves.
    """
    if sys.stdin is None:  # it was closed before Python began
        raise EOFError
    try:
        typed = input(prompt)
    except UnicodeDecodeError:
        typed = ""
    except EOFError:
        say()
        raise
    if not sys.stdin.isatty():
        say(typed)  # a terminal has shown it already
    typed = typed.strip().lower()
    if typed in LEAVE:
        raise EOFError
    return typed
