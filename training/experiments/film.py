"""Make a film of a run: `python -m training.experiments.film RUN [--steps N,N] [--seed S] [--out FILE.gif]`.

Policies of several measurements play one turn each, with the same dice.
"""

import sys
from pathlib import Path

import numpy as np

from stb_gym.measure import load_policies, read_policy
from stb_gym.output import say
from stb_gym.solving import solve
from stb_gym.terminal import Frame, chooser, coach_alone, frames, play, write_film
from training.commands import run_command


def film(run: Path, *, steps: tuple[int, ...] = (), seed: int = 0, out: Path = Path("film.gif")) -> None:
    """Make a film of a run.

    Args:
        run: folder of the run.
        steps: show the first measurement after each of these numbers of steps, or the last one; by default the first,
            the second and the last measurement.
        seed: seed of the dice.
        out: the film.
    """
    last = read_policy(run)
    policies = load_policies(run / "policies.npz", last.game, last.illegal)
    measured = list(policies)
    coach = coach_alone(solve(last.game, last.objective))
    pictures: list[Frame] = []
    for number in steps or (measured[0], measured[min(1, len(measured) - 1)], measured[-1]):
        moment = next((moment for moment in measured if moment >= number), measured[-1])
        dice = np.random.default_rng([seed, 0])
        choices = np.random.default_rng([seed, 1])
        turn = play(f"after {moment:,} steps", coach, chooser(coach, policies[moment], choices), dice)
        pictures += frames(turn)
    write_film(out, pictures)
    say(f"{out}: {len(pictures)} pictures, {sum(frame.seconds for frame in pictures):.0f} seconds", error=True)


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.film", film, None))
