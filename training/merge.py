"""Bring the results of a study to those of others: `python -m training.merge STUDY_FOLDER docs/results`."""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from agents.presets import FILE, read_presets
from stb_gym.output import write_text
from training.arguments import answered, read_arguments
from training.ledger import Ledger
from training.results import results_page
from training.run_writer import alone
from training.study_plots import plot_study


@dataclass(frozen=True)
class Arguments:
    """Add the finished runs of a study to a folder of results, and make its pictures and its page again."""

    study: tyro.conf.Positional[Path]
    """Folder of the study, of which runs.csv and curves.csv are needed."""
    into: tyro.conf.Positional[Path]
    """Folder of the results."""
    presets: Path = FILE
    """File of the presets."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.merge")

    def work() -> None:
        presets, into = read_presets(options.presets), options.into
        with alone(into, waits=False):
            for folder in (options.study, *([into] if Ledger(into).rows else [])):
                results_page(folder, presets)  # which refuses what is damaged, or not of the presets
            Ledger(into).merge(Ledger(options.study))
            plot_study(into, presets)
            write_text(into / "README.md", results_page(into, presets))

    return answered("training.merge", work)


if __name__ == "__main__":
    sys.exit(main())
