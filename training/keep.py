"""Keep the best policies of a study, with a card each: `python -m training.keep STUDY_FOLDER`."""

import shlex
import sys
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import tyro

from agents.config import ALGORITHMS, Config
from agents.presets import FILE, STANDARD, Presets, read_presets
from stb_gym import load_policy, save_policy
from stb_gym.games import check_choice
from stb_gym.output import say
from stb_gym.solver import Policy
from training.arguments import answered, read_arguments
from training.commands import train_command
from training.leaderboard import write_card
from training.ledger import Ledger, Row, policy_digest
from training.pictured import agent_in_words
from training.results import config_of
from training.run import Run


@dataclass(frozen=True)
class Arguments:
    """Write the greedy policy with the least regret of every algorithm and task, and a card about each."""

    study: tyro.conf.Positional[Path]
    """Folder of the study, with its runs."""
    algorithms: tuple[str, ...] = ("ppo", "dqn")
    """Algorithms whose policies are kept."""
    presets: Path = FILE
    """File of the presets."""
    out: Path = Path("stb_gym/measure/policies")
    """Folder of the policies and cards: those of the leaderboard."""
    who: str = "The stb_gym authors"
    """Who made them."""
    licence: str = "MIT"
    """Their licence, as an SPDX identifier."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.keep")

    def work() -> None:
        presets = read_presets(options.presets)
        for path in keep(options.study, options.algorithms, presets, options.out, options.who, options.licence):
            say(path, error=True)

    return answered("training.keep", work)


def keep(study: Path, algorithms: tuple[str, ...], presets: Presets, out: Path, who: str, licence: str) -> list[Path]:
    """Write NAME.npz and NAME.toml into `out` for the best run of every algorithm and task; returns the policies.

    Raises:
        ValueError: if there are no such runs, a run was trained with other settings than its preset has, or a policy is
            not the one whose digest is in `runs.csv`.
    """
    for algorithm in algorithms:
        check_choice("algorithm", algorithm, list(ALGORITHMS))
    rows = [r for r in Ledger(study).rows.values() if r.algorithm in algorithms and r.variant == STANDARD]
    if not rows:
        raise ValueError(f"there are no runs of {', '.join(algorithms)} in {study}")
    kept = []
    for (algorithm, task), seeds in groupby(sorted(rows, key=_name), key=_name):
        candidates = list(seeds)
        best = min(candidates, key=lambda row: row.regret)
        path, config = out / f"{algorithm}-{task}.npz", config_of(best, study, presets)
        policy = _policy(study, best, path, config)
        save_policy(path, config.task.game(), policy, config.illegal, config.task.objective)
        write_card(
            path,
            who=who,
            how=agent_in_words(best),
            command=shlex.join(train_command(config, STANDARD, presets)),
            settings=", ".join(f"{name} {value}" for name, value in asdict(config.settings).items()),
            steps=best.steps,
            seeds=len(candidates),
            licence=licence,
        )
        kept.append(path)
    return kept


def _policy(study: Path, row: Row, path: Path, config: Config) -> Policy:
    """The greedy policy of a run: in its folder or, if that is gone, where it was kept before."""
    folder, game = study / row.run, config.task.game()
    kept_before = not folder.exists() and path.exists()
    policy = load_policy(path, game, config.illegal) if kept_before else Run.open(folder).policy()
    if policy_digest(policy) != row.policy:
        where = path if kept_before else folder
        raise ValueError(f"{where} has another policy than the one recorded in {study / 'runs.csv'}")
    return policy


def _name(row: Row) -> tuple[str, str]:
    return row.algorithm, row.task


if __name__ == "__main__":
    sys.exit(main())
