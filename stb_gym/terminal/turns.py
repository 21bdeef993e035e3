"""Play a turn throw by throw, keep the scores of a round in progress, and describe both in words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from stb_gym.console import at_terminal, say
from stb_gym.games import Game, Roll, locate, perfect_score, throw_faces
from stb_gym.rounds import TIES, Round, ScoresSoFar
from stb_gym.solver import Move, legal_moves
from stb_gym.words import drawn_dice, words_of

Throw = int | Sequence[int]  # given dice: their faces, or their sum where only the sum matters
Dice = np.random.Generator | Iterator[Throw]


class ThrownState(NamedTuple):
    """A state as a player sees it, with the legal moves.

    Attributes:
        progress, dice: the afterstate before the throw.
        faces: the faces of the dice, in the order in which they fell.
        roll: the roll that the rules make of the faces.
        moves: the legal moves, lowest action first.
    """

    progress: int
    dice: int
    faces: Roll
    roll: Roll
    moves: list[Move]


Choose = Callable[[ThrownState], Move | None]


class Step(NamedTuple):
    """A state and the move made there, or None if there is no legal move."""

    state: ThrownState
    move: Move | None

    @property
    def afterstate(self) -> tuple[int, int]:
        """The afterstate (progress, dice) after the move; 0 dice if the turn is over."""
        return (self.state.progress, 0) if self.move is None else (self.move.progress, self.move.dice)


def take_turn(game: Game, dice: Dice, choose: Choose, steps: list[Step]) -> int:
    """Play a turn.

    Args:
        game: the rules.
        dice: a generator that throws the dice, or an iterator of given throws. The turn stops where those run out.
        choose: returns one of the legal moves, or None if there is none.
        steps: an empty list, filled with the steps of the turn.

    Returns:
        The final score in points.

    Raises:
        ValueError: if a given throw is impossible at its state.
    """
    progress, left = game.start()
    while left > 0:
        if isinstance(dice, np.random.Generator):
            throw: Throw | None = throw_faces(int(dice.integers(game.faces**left)), left, game.faces)
        else:
            throw = next(dice, None)
        if throw is None:
            break
        try:
            _, _, roll = locate(game, {**game.options_at(progress, left), "roll": throw})
        except ValueError as error:
            raise ValueError(f"the throw at {game.describe_afterstate(progress, left)}: {error}") from None
        assert roll is not None
        faces = (throw,) if isinstance(throw, int | np.integer) else tuple(throw)
        state = ThrownState(progress, left, faces, roll, legal_moves(game, progress, left, roll))
        move = choose(state)
        steps.append(Step(state, move))
        if move is None:
            break
        progress, left = move.progress, move.dice
    return game.final_score(progress)


def goes_on_at(game: Game, steps: Sequence[Step]) -> str:
    """Describe the afterstate at which the given throws ran out; return "" if the turn is over."""
    progress, dice = steps[-1].afterstate if steps else game.start()
    return game.describe_afterstate(progress, dice) if dice else ""


def step_in_words(game: Game, step: Step) -> tuple[str, str, str]:
    """Return the dice, the move and the afterstate it leads to."""
    state, move = step
    return (
        words_of(game).throw(state.faces),
        moves_in_words(game, state, [move]),
        game.describe_afterstate(*step.afterstate),
    )


def moves_in_words(game: Game, state: ThrownState, moves: Sequence[Move | None], separator: str = " or ") -> str:
    """Return moves at a state in words; None is "no move"."""
    texts = [game.describe_move(move.action, move.dice > 0, state.roll) if move else "no move" for move in moves]
    return separator.join(texts)


def say_state(game: Game, state: ThrownState) -> None:
    """Print a state and, at a terminal, its dice."""
    words = words_of(game)
    say(f"\n{words.text(state.progress, state.dice, state.faces)}")
    if at_terminal() and state.faces:
        say(drawn_dice(state.faces))


# Rounds


def round_in_words(rules: Round) -> str:
    """Describe the rules of a round."""
    perfect = words_of(rules.game).score(perfect_score(rules.game))
    sudden = f", whoever ends with {perfect} wins at once" if rules.shut_wins else ""
    best = "highest" if rules.game.more_is_better else "lowest"
    return f"a round of {rules.players}, the {best} score wins, {TIES[rules.ties]}{sudden}"


def seat_names(players: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the names of players (name, strategy) in turn order, with the seat if several share a name."""
    names = [name for name, _ in players]
    return [name if names.count(name) == 1 else f"{name} (seat {seat})" for seat, name in enumerate(names, 1)]


@dataclass
class RoundState:
    """A round in progress.

    Attributes:
        rules: the rules of the round.
        names: the names of the players, in turn order.
        scores: the final scores so far; append one after every turn.
    """

    rules: Round
    names: Sequence[str]
    scores: list[int] = field(default_factory=list)

    @property
    def seat(self) -> int:
        """The next player's index in turn order, from 0."""
        return len(self.scores)

    @property
    def scores_so_far(self) -> ScoresSoFar:
        """The scores so far, as the next player sees them."""
        after = self.rules.players - 1 - self.seat
        if not self.scores:
            return ScoresSoFar(None, 0, after)
        best = max(self.scores, key=lambda score: self.rules.game.sign * score)
        return ScoresSoFar(best, self.scores.count(best), after)

    @property
    def is_over(self) -> bool:
        """Whether the round is over: everybody has played, or a score has ended it."""
        table, lead = self.rules.scores_so_far, self.scores_so_far.lead
        ended = lead is not None and bool(table.over[table.lead == table.tables.place_of(lead)].any())
        return ended or self.seat == self.rules.players

    @property
    def leaders(self) -> str:
        """The players with the best score so far, such as "random and optimal with 8 points"; "nobody" at first."""
        best = self.scores_so_far.lead
        if best is None:
            return "nobody"
        names = [name for name, score in zip(self.names, self.scores, strict=False) if score == best]
        return f"{' and '.join(names)} with {words_of(self.rules.game).score(best)}"

    @property
    def situation(self) -> str:
        """The score to beat and the players to come, such as "to beat: random with 8 points, still to play: nobody"."""
        after = " and ".join(self.names[self.seat + 1 :]) or "nobody"
        return f"to beat: {self.leaders}, still to play: {after}"
