"""Look on while others play: `stb-gym watch`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from stb_gym.command.contests import player
from stb_gym.command.questions import OBJECTIVE, Question, Tell, flag, silent
from stb_gym.command.solving import VALUES, perfect_play
from stb_gym.games import Game, check_integer
from stb_gym.measure import is_policy, read_policy
from stb_gym.output import Progress
from stb_gym.terminal import Frame, chooser, coach_alone, frames, play, show, write_film

LONGEST_FILM = 20  # turns of each player


@dataclass(frozen=True, kw_only=True)
class Watch(Question):
    """Watch strategies or saved policies play, move by move, with what each move loses; in lines, or as a GIF."""

    name: ClassVar[str] = "watch"
    needs_game: ClassVar[bool] = False
    interactive: ClassVar[bool] = True

    player: tuple[str, ...] = flag(
        (),
        "a strategy or a kept policy by name, a saved policy (.npz), or the folder of a run; several play in turn with "
        "the same dice; by default optimal",
        "NAME",
        repeated=True,
    )
    objective: str | None = flag(
        None,
        f"{OBJECTIVE}; by default what a policy is for if no game is named, else the points",
        "score|shut|at-most:T",
    )
    values: str | None = flag(None, VALUES, "FILE")
    games: int = flag(1, "how many turns each plays", "N", int)
    seed: int | None = flag(None, "same seed, same dice", "S", int)
    out: str | None = flag(None, "write a film instead", "FILE.gif")
    pause: float = flag(1.0, "seconds between two moves on a terminal", "S", float)

    def answer(self, game: Game | None, tell: Tell = silent) -> None:
        """Show the turns, or write a film of them.

        Raises:
            ValueError: if neither a game nor a policy of one is named, or there is no such player.
        """
        check_integer("games", self.games, 1, 10_000 if self.out is None else LONGEST_FILM)
        if self.out is not None and not self.out.lower().endswith(".gif"):
            raise ValueError(f"a film is a GIF: --out must end in .gif, unlike {self.out}")
        objective = self.objective or "score"
        if game is None:
            game, goal = self._of_the_policy()
            objective = self.objective or goal
        with Progress("stb-gym watch") as progress:
            coach = coach_alone(perfect_play(game, objective, self.values, progress.tell))
        seeds = np.random.SeedSequence(self.seed).generate_state(self.games).tolist()
        players = [(name, player(game, name)) for name in self.player or ("optimal",)]
        film: list[Frame] = []
        for seed in seeds:
            for name, plays in players:
                dice, choices = (np.random.default_rng([seed, use]) for use in (0, 1))
                turn = play(Path(name).stem, coach, chooser(coach, plays, choices), dice)
                if self.out is None:
                    show(turn, self.pause if sys.stdout.isatty() else 0)
                    print()
                else:
                    film += frames(turn)
        if self.out is not None:
            write_film(self.out, film)
            print(f"wrote {self.out}: {len(film)} pictures, {sum(frame.seconds for frame in film):.0f} seconds")

    def _of_the_policy(self) -> tuple[Game, str]:
        """The game and the objective that a policy is for."""
        for name in filter(is_policy, self.player):
            saved = read_policy(name)
            return saved.game, saved.objective.name
        raise ValueError("watch whom at which game? Name a game, or a saved or kept policy, which is of one")
