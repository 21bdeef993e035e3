"""A film of a run: what it had learned at several measurements plays the same dice: `python -m training.film RUN`."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from stb_gym import solve
from stb_gym.games import check_integer
from stb_gym.output import say
from stb_gym.terminal import Frame, chooser, coach_alone, frames, play, write_film
from training.arguments import answered, read_arguments
from training.run import Run


@dataclass(frozen=True)
class Arguments:
    """Write a film of a run: its policies of several measurements play a turn each, with the same dice."""

    run: tyro.conf.Positional[Path]
    """Folder of the run."""
    steps: tuple[int, ...] = ()
    """Steps after which it is seen, or the next measurement; by default at first, soon after and at last."""
    seed: int = 0
    """Same seed, same dice."""
    out: Path = Path("film.gif")
    """The film."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.film")

    def work() -> None:
        check_integer("seed", options.seed, 0, 2**63 - 1)
        film = film_of(Run.open(options.run), options.steps, options.seed)
        write_film(options.out, film)
        say(f"{options.out}: {len(film)} pictures, {sum(frame.seconds for frame in film):.0f} seconds", error=True)

    return answered("training.film", work)


def film_of(run: Run, steps: tuple[int, ...], seed: int) -> list[Frame]:
    """The film of a run.

    Args:
        run: the run.
        steps: after which its policies are seen; see `Arguments`.
        seed: of the dice.

    Raises:
        ValueError: if a file of the run is missing or damaged, or no measurement is as late as asked.
    """
    coach, policies = coach_alone(solve(run.game(), run.config.task.objective)), run.policies()
    measured = list(policies)
    if late := [each for each in steps if each > measured[-1]]:
        raise ValueError(f"{run.folder} was measured up to {measured[-1]:,} steps, not after {late[0]:,}")
    wanted = steps or (measured[0], *measured[1:2], measured[-1])
    film: list[Frame] = []
    for at in dict.fromkeys(next(each for each in measured if each >= steps) for steps in wanted):
        dice, choices = (np.random.default_rng([seed, use]) for use in (0, 1))
        name = f"{run.config.algorithm} after {at:,} steps"
        film += frames(play(name, coach, chooser(coach, policies[at], choices), dice))
    return film


if __name__ == "__main__":
    sys.exit(main())
