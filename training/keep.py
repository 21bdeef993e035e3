"""Keep the best policies of a study, with a card each: `python -m training.keep STUDY_FOLDER`."""

import hashlib
import shlex
import sys
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import jinja2
import tyro

from agents.config import ALGORITHMS, Config
from agents.presets import FILE, STANDARD, Presets, read_presets
from stb_gym import Policy, evaluate, load_policy, save_policy
from stb_gym.command.evaluating import mistakes_in_words
from stb_gym.games import check_choice
from stb_gym.output import write_text
from training.ledger import Ledger, Row, policy_digest
from training.results import agent_in_words, config_of, evaluate_command
from training.run import Run
from training.train import train_command

MISTAKES = 5


@dataclass(frozen=True)
class Arguments:
    """Write the greedy policy with the least regret of every algorithm and task, and a card about each."""

    study: tyro.conf.Positional[Path]
    """Folder of the study, with its runs."""
    algorithms: tuple[str, ...] = ("ppo", "dqn")
    """Algorithms whose policies are kept."""
    presets: Path = FILE
    """File of the presets."""
    out: Path = Path("docs/policies")
    """Folder of the policies and cards."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = tyro.cli(Arguments, args=arguments, prog="training.keep")
    try:
        for path in keep(options.study, options.algorithms, read_presets(options.presets), options.out):
            print(path, file=sys.stderr)
    except (ValueError, OSError) as error:
        print(f"training.keep: {error}", file=sys.stderr)
        return 2
    return 0


def keep(study: Path, algorithms: tuple[str, ...], presets: Presets, out: Path) -> list[Path]:
    """Write NAME.npz and NAME.md into `out` for the best run of every algorithm and task; returns the policies' paths.

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
        save_policy(path, config.task.game(), policy)
        command = train_command(config, STANDARD, presets)
        write_text(path.with_suffix(".md"), _card(config, policy, best, path, len(candidates), command))
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


def _card(config: Config, policy: Policy, row: Row, path: Path, seeds: int, command: list[str]) -> str:
    """What a policy is, how it was trained, how good it is, and where it still goes wrong."""
    task = config.task
    game = task.game()
    evaluation = evaluate(game, policy, task.objective)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), trim_blocks=True)
    return environment.get_template("card.md.j2").render(
        path=path,
        agent=agent_in_words(row),
        game=game,
        objective=task.objective,
        unit=evaluation.optimum.objective.unit,
        seeds=seeds,
        row=row,
        evaluation=evaluation,
        evaluate_command=shlex.join([*evaluate_command(task), "--policy", path.as_posix()]),
        train_command=shlex.join(command),
        settings=", ".join(f"{name} {value}" for name, value in asdict(config.settings).items()),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        mistakes=mistakes_in_words(evaluation, MISTAKES),
    )


if __name__ == "__main__":
    sys.exit(main())
