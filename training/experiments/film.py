"""Make a film of a run: `python -m training.experiments.film RUN [--steps N,N] [--seed S] [--out FILE.gif]`.

Policies of several measurements play one turn each, with the same dice.
"""

import sys
from pathlib import Path

import numpy as np

from stb_gym.games import check_integer
from stb_gym.measure import load_policies, read_policy
from stb_gym.output import say
from stb_gym.solving import solve
from stb_gym.terminal import Frame, chooser, coach_alone, frames, play, write_film
from training.commands import run_command


def film(run: Path, *, steps: tuple[int, ...] = (), seed: int = 0, out: Path = Path("film.gif")) -> None:
    """Make a film of a run.

    Args:
        run: folder of the run.
        steps: show the first measurement after each of these numbers of steps; by default the first measurement, the
            second and the last.
        seed: seed of the dice.
        out: the film.
    """
    check_integer("seed", seed, 0, 2**63 - 1)
    pictures = make_frames(run, steps, seed)
    write_film(out, pictures)
    say(f"{out}: {len(pictures)} pictures, {sum(frame.seconds for frame in pictures):.0f} seconds", error=True)


def make_frames(run: Path, steps: tuple[int, ...], seed: int) -> list[Frame]:
    """Return the pictures of the film.

    Raises:
        ValueError: if a file of the run is missing or damaged, or it has no measurement after some number of steps.
    """
    last = read_policy(run)
    policies = load_policies(run / "policies.npz", last.game, last.illegal)
    measured = list(policies)
    if late := [number for number in steps if number > measured[-1]]:
        raise ValueError(f"the last measurement of {run} is after {measured[-1]:,} steps, before {late[0]:,}")
    moments = [next(moment for moment in measured if moment >= number) for number in steps]
    coach = coach_alone(solve(last.game, last.objective))
    pictures: list[Frame] = []
    for moment in dict.fromkeys(moments or [*measured[:2], measured[-1]]):
        dice = np.random.default_rng([seed, 0])
        choices = np.random.default_rng([seed, 1])
        turn = play(f"after {moment:,} steps", coach, chooser(coach, policies[moment], choices), dice)
        pictures += frames(turn)
    return pictures


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command("training.experiments.film", film, words, "nothing was written")


if __name__ == "__main__":
    sys.exit(main())
