"""Others play, and one looks on: every move and what it loses, in lines for a terminal or as the pictures of a film."""

import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stb_gym.games import Game, Picture, below, needed, words_of
from stb_gym.output import say, write_aside
from stb_gym.terminal.coach import Coach
from stb_gym.terminal.turns import Choose, Step, Throw, move_in_words, stopped, take_turn

CREAM, NIGHT, LINE = (255, 243, 220), (30, 20, 14), 30  # what stands below the pictures of a film
THROWN, MOVED, ENDED = 0.9, 1.6, 3.0  # seconds
COLOURS = 48  # of all pictures of a film together
COLUMNS = 80  # of a terminal


class Frame(NamedTuple):
    """A picture of a film, and how many seconds it is shown."""

    picture: Picture
    seconds: float


class Turn(NamedTuple):
    """A turn that was played, and the coach who says what each move lost.

    Attributes:
        name: of who played.
        coach: knows perfect play.
        steps: what happened.
        score: the final score.
        task: what was to be beaten in a round; empty for a turn alone.
        result: how the round ended, if it ended with this turn; or that given dice were left over; else "".
    """

    name: str
    coach: Coach
    steps: list[Step]
    score: int
    task: str = ""
    result: str = ""

    @property
    def game(self) -> Game:
        """The rules."""
        return self.coach.game

    @property
    def opening(self) -> str:
        """What is played, and what perfect play may expect of it."""
        task, unit = self.task or f"{self.name} plays {words_of(self.game).introduction()}", self.coach.unit
        return f"{task}. {unit.value(self.coach.start)} {unit.heading} with perfect play."

    @property
    def end(self) -> str:
        """How it ended, in words."""
        last = self.steps[-1].move
        if last is not None and stopped(self.steps) and not self.task:
            at = words_of(self.game).state(last.held, last.dice)
            return f"{self.name} needs more dice: the turn goes on at {at}."
        ends = "is ahead, and stops" if stopped(self.steps) else "ends"
        return f"{self.name} {ends} with {words_of(self.game).score(self.score)}."

    @property
    def summary(self) -> str:
        """What dice and choices did, in a sentence."""
        account = self.coach.account(self.steps)
        dice, lost = account.total("dice"), -account.total("choices")
        luck = f"the dice {'helped by' if dice > 0 else 'cost'} {account.unit.size(dice)}"
        choices = f"the choices cost {account.unit.size(lost) if lost > 0 else 'nothing'}"
        return f"In {account.unit.name}: {luck}, {choices}."

    def remark(self, step: Step) -> str:
        """What a move lost, or why there is none."""
        position, move = step
        words = words_of(self.game)
        if move is None or not words.typed_as(move.action):
            return words.no_move(position.held, position.dice, position.faces)
        said = "the only move." if len(position.moves) == 1 else self.coach.remark(position, move)
        return f"{move_in_words(self.game, position, move)}: {said}"


def play(name: str, coach: Coach, choose: Choose, dice: np.random.Generator | Sequence[Throw]) -> Turn:
    """Let somebody play a turn.

    Args:
        name: of who plays, to be shown.
        coach: knows perfect play.
        choose: how that player chooses.
        dice: throws the dice; or the given throws, in order.

    Raises:
        ValueError: if a given throw is impossible at the position that the player has reached.
    """
    if isinstance(dice, np.random.Generator):
        return Turn(name, coach, *take_turn(coach.game, dice, choose))
    try:
        steps, score = take_turn(coach.game, iter(dice), choose)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    result = "" if len(steps) == len(dice) else f"The turn ended after {len(steps)} of {len(dice)} given throws."
    return Turn(name, coach, steps, score, result=result)


def show(turn: Turn, pause: float = 0) -> None:
    """Print a turn, move by move.

    Args:
        turn: what was played.
        pause: seconds between two moves.
    """
    words = words_of(turn.game)
    say_wrapped(turn.opening)
    for step in turn.steps:
        say(f"\n{words.text(*step.position[:3])}")
        say_wrapped(turn.remark(step))
        sys.stdout.flush()
        time.sleep(pause)
    say()
    say_wrapped(turn.end)
    say_wrapped(turn.summary)
    if turn.result:
        say()
        say_wrapped(turn.result)


def say_wrapped(text: str) -> None:
    """Print a text in lines that fit into a terminal."""
    say(textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False))


def frames(turn: Turn) -> Iterator[Frame]:
    """The pictures of a film of a turn: every throw, every move with what it lost, and the end."""
    words, unit = words_of(turn.game), turn.coach.unit

    def frame(picture: Picture, utility: float, said: str, seconds: float) -> Frame:
        worth = f"{turn.name}; perfect play: {unit.value(utility)} {unit.heading}"
        return Frame(_captioned(picture, worth, said), seconds)

    for number, step in enumerate(turn.steps, 1):
        (held, dice, faces, _, _), move = step
        picture, thrown = words.picture(held, dice, faces, f"throw {number}"), turn.coach.choice(step.position).utility
        yield frame(picture, thrown, "" if move else turn.remark(step), THROWN)
        if move is not None:
            told = move_in_words(turn.game, step.position, move)
            picture = words.picture(move.held, move.dice, (), told, held)
            yield frame(picture, turn.coach.known.worth(move.held, move.dice), turn.remark(step), MOVED)
    yield Frame(_captioned(picture, turn.end, turn.summary), ENDED)
    if turn.result:
        yield Frame(_captioned(picture, turn.result, ""), ENDED)


def _captioned(picture: Picture, *lines: str) -> Picture:
    return below(picture, list(lines), LINE, CREAM, NIGHT)


def check_film(path: str | Path) -> None:
    """Raise a ValueError if a film would have the name of something else."""
    if Path(path).suffix.lower() != ".gif":
        raise ValueError(f"a film is a GIF: --out must end in .gif, unlike {path}")


def write_film(path: str | Path, film: list[Frame]) -> None:
    """Write a film as a GIF that begins anew when it is over.

    Args:
        path: the file, which appears whole or not at all.
        film: its pictures, all of one size.

    Raises:
        ImportError: if Pillow is not installed, saying how it is.
    """
    image = needed("PIL.Image", "Pillow", "films")
    every = image.fromarray(np.concatenate([frame.picture for frame in film]))
    colours = every.quantize(COLOURS, dither=image.Dither.NONE)
    first, *others = (
        image.fromarray(each.picture).quantize(palette=colours, dither=image.Dither.NONE) for each in film
    )
    milliseconds = [round(1000 * frame.seconds) for frame in film]
    with write_aside(path) as aside:
        first.save(aside, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0, optimize=False)
