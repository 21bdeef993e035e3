"""Look on while others play: `stb-gym watch`."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stb_gym.cli.contests import RoundQuestion, player
from stb_gym.cli.questions import OBJECTIVE, Tell, flag, names, silent
from stb_gym.cli.solving import VALUES, perfect_play
from stb_gym.explorer import titles_of
from stb_gym.games import Game, check_integer, words_of
from stb_gym.measure import is_policy, read_policy
from stb_gym.output import Progress, say
from stb_gym.terminal import (
    Named,
    Throw,
    Turn,
    check_film,
    chooser,
    coach_alone,
    contest,
    frames,
    play,
    play_together,
    say_wrapped,
    show,
    write_film,
)

LONGEST_FILM = 20  # turns of each player


def throws(text: str) -> tuple[Throw, ...]:
    """Parse given dice such as "8,10,3+4": (8, 10, [3, 4])."""
    try:
        dice = [[int(die) for die in throw.split("+")] for throw in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be throws separated by commas, such as 8,10 or 3+4,6: sums, or single dice joined by +"
        ) from None
    return tuple(throw if len(throw) > 1 else throw[0] for throw in dice)


@dataclass(frozen=True, kw_only=True)
class Watch(RoundQuestion):
    """Watch strategies or saved policies play, alone or a round, with what each move loses; in lines, or as a GIF."""

    name: ClassVar[str] = "watch"
    examples = "shut-the-box --policy ppo-nine-tiles,random", "threes --seed 5 --out film.gif"
    needs_game: ClassVar[bool] = False
    interactive: ClassVar[bool] = True

    policy: tuple[str, ...] = flag(
        (),
        "a strategy or a kept policy by name, a saved policy (.npz), or the folder of a run; several play in turn with "
        "the same dice; by default optimal",
        "NAME",
        names,
        repeated=True,
    )
    together: bool = flag(False, "they play a round against each other, in this order, each with dice of their own")
    objective: str | None = flag(
        None,
        f"{OBJECTIVE}; by default what a policy is for if no game is named, else the points",
        "score|shut|at-most:T",
    )
    values: str | None = flag(None, VALUES, "FILE")
    rolls: tuple[Throw, ...] = flag(
        (), "given dice, throws separated by commas: their sums, or single dice joined by +", "8,10,3+4", throws
    )
    turns: int = flag(1, "how many turns each plays, or rounds all of them", "N", int)
    seed: int | None = flag(None, "same seed, same dice", "S", int)
    out: str | None = flag(None, "write a film instead", "FILE.gif")
    pause: float = flag(1.0, "seconds between two moves on a terminal", "S", float)

    def answer(self, game: Game | None, tell: Tell = silent) -> None:
        """Show the turns, or write a film of them.

        Raises:
            ValueError: if neither a game nor a policy of one is named, or there is no such player.
        """
        check_integer("turns", self.turns, 1, 10_000 if self.out is None else LONGEST_FILM)
        if not 0 <= self.pause <= 60:
            raise ValueError(f"pause must be from 0 to 60 seconds, not {self.pause}")
        if self.seed is not None:
            check_integer("seed", self.seed, 0, 2**63 - 1)
        if self.out is not None:
            check_film(self.out)
        if self.rolls and (self.together or self.turns > 1):
            raise ValueError("rolls are for one turn that each player plays alone: leave out --together and --turns")
        objective = self.objective or "score"
        if game is None:
            game, goal = self._of_the_policy()
            objective = self.objective or goal
        seeds = np.random.SeedSequence(self.seed).generate_state(self.turns).tolist()
        policies = self.policy or ("optimal",)
        titles = titles_of(list(dict.fromkeys(policies)))
        players = [(titles[name], player(game, name)) for name in policies]
        turns = self._together(game, players, seeds) if self.together else self._alone(game, objective, players, seeds)
        if self.out is not None:
            film = [frame for turn in turns for frame in frames(turn)]
            write_film(self.out, film)
            say(f"wrote {self.out}: {len(film)} pictures, {sum(frame.seconds for frame in film):.0f} seconds")
            return
        for turn in turns:
            show(turn, self.pause if sys.stdout.isatty() else 0)
            say()

    def _alone(self, game: Game, objective: str, players: list[Named], seeds: list[int]) -> Iterator[Turn]:
        if self.has_own_rules:
            raise ValueError("ties, indifferent and shut-wins are rules of a round: see --together")
        with Progress("stb-gym watch") as progress:
            coach = coach_alone(perfect_play(game, objective, self.values, progress.tell))
        for seed in seeds:
            for name, plays in players:
                dice, choices = (np.random.default_rng([seed, use]) for use in (0, 1))
                yield play(name, coach, chooser(coach, plays, choices), self.rolls or dice)

    def _together(self, game: Game, players: list[Named], seeds: list[int]) -> Iterator[Turn]:
        if self.objective is not None or self.values is not None:
            raise ValueError("objective and values are for turns alone: a round is played to win")
        if len(players) < 2:
            raise ValueError("a round is of two players or more: name each by --policy")
        rules = self.round(game, len(players))
        with Progress("stb-gym watch"):
            turns = play_together(rules, players, seeds)
        if self.out is None:
            say_wrapped(f"{words_of(game).introduction()}: {contest(rules)}.")
            say_wrapped("A move loses what the best one against these others would win more.")
            say()
        return turns

    def _of_the_policy(self) -> tuple[Game, str]:
        """The game and the objective that a policy is for."""
        for name in filter(is_policy, self.policy):
            saved = read_policy(name)
            return saved.game, saved.objective.name
        raise ValueError("watch whom at which game? Name a game, or a saved or kept policy, which is of one")
