"""The results of a study: `runs.csv` has a row for every finished run, `curves.csv` the measurements of all of them."""

import hashlib
import math
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

from agents.presets import STANDARD
from stb_gym.output import read_text, write_text
from stb_gym.solver import Policy
from training.rows import from_csv, to_csv
from training.run import Point, Run

RUNS, CURVES = "runs.csv", "curves.csv"


@dataclass(frozen=True)
class Row:
    """A finished run.

    Attributes:
        run: its name.
        algorithm, task, variant, seed: what was trained.
        config: digest of the whole configuration, see `agents.config.Config.digest`.
        steps: steps in all environments together.
        seconds: processor seconds of training and measuring.
        regret, normalised_score, agreement, agreement_by_visits, value, optimum, shut_probability, illegal_mass: of the
            greedy policy at the end, see `stb_gym.solver.Evaluation`; sampled turns tell no `agreement`.
        value_error: of the learner's own values, see `agents.policy_array.value_error`.
        policy: digest of the greedy policy, see `policy_digest`; empty if it is not known as a whole.
        turns, standard_error: of a regret that was sampled, see `training.run.Point`.
    """

    run: str
    algorithm: str
    task: str
    variant: str
    seed: int
    config: str
    steps: int
    seconds: float
    regret: float
    normalised_score: float
    agreement: float
    agreement_by_visits: float
    value: float
    optimum: float
    shut_probability: float
    illegal_mass: float
    value_error: float
    policy: str
    turns: int = 0
    standard_error: float = 0.0

    @property
    def agent(self) -> str:
        """The algorithm, with the variant if that is not the standard one."""
        return self.algorithm if self.variant == STANDARD else f"{self.algorithm} {self.variant}"


@dataclass(frozen=True, kw_only=True)
class CurvePoint(Point):
    """A measurement of a run.

    Attributes:
        run: the name of the run.
    """

    run: str


class Ledger:
    """The finished runs of a study; as a context manager, it is written at the end of the block.

    Before that its files are written when a run is entered, unless that would take more than a twentieth of the time: a
    study of ten thousand runs would do little else. What was not written when a study was killed is entered again from
    the folders of its runs.

    Args:
        folder: folder of the study. Without files of results in it there are no runs yet.

    Raises:
        ValueError: if its files are damaged.

    Attributes:
        rows: by name of the run.
        curves: the measurements of a run, by name of the run.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._next = -math.inf  # when the files may be written again
        self._news = False  # whether they lack a run
        self.rows: dict[str, Row] = {}
        self.curves: dict[str, list[CurvePoint]] = {}
        if not (folder / RUNS).exists():
            return
        try:
            self.rows = {row.run: row for row in from_csv(read_text(folder / RUNS), Row)}
            self.curves = {name: [] for name in self.rows}
            for point in from_csv(read_text(folder / CURVES), CurvePoint):
                if point.run in self.rows:  # curves are written first, and a study may be killed in between
                    self.curves[point.run].append(point)
            if not all(self.curves.values()):
                raise ValueError("they are not of the same runs")
        except (OSError, ValueError) as error:
            raise ValueError(f"{folder / RUNS} or {folder / CURVES} is damaged: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._news:
            self.write()

    def enter(self, name: str, task: str, variant: str, run: Run) -> None:
        """Add a finished run.

        Args:
            name: name of the run.
            task: name of its task.
            variant: variant of its preset.
            run: its folder.
        """
        result = run.result()
        summary = {each.name: result["greedy"][each.name] for each in fields(Row) if each.name in result["greedy"]}
        self.rows[name] = Row(
            **{"agreement": math.nan, **summary},
            run=name,
            algorithm=run.config.algorithm,
            task=task,
            variant=variant,
            seed=run.config.seed,
            config=run.config.digest(),
            steps=result["steps"],
            seconds=result["seconds"],
            value_error=result["value_error"],
            policy="" if run.is_sampled() else policy_digest(run.policy()),
        )
        self.curves[name] = [CurvePoint(**vars(point), run=name) for point in run.curve()]
        self._news = True
        if time.monotonic() >= self._next:
            self.write()

    def merge(self, other: "Ledger") -> None:
        """Add the runs of another study, which replace those of the same names, and write both files again."""
        self.rows |= other.rows
        self.curves |= other.curves
        self.write()

    def write(self) -> None:
        """Write both files again."""
        began = time.monotonic()
        names = sorted(self.rows)
        curves = [_rounded(point) for name in names for point in self.curves[name]]
        write_text(self._folder / CURVES, to_csv(curves, CurvePoint))
        write_text(self._folder / RUNS, to_csv([self.rows[name] for name in names], Row))
        self._news, ended = False, time.monotonic()
        self._next = ended + 20 * (ended - began)


def policy_digest(policy: Policy) -> str:
    """The beginning of the SHA-256 of a greedy policy, as 64-bit integers."""
    return hashlib.sha256(policy.astype("<i8").tobytes()).hexdigest()[:16]


def _rounded(point: CurvePoint) -> CurvePoint:
    """A measurement rounded to six digits, as pictures do not show more."""
    numbers = {name: float(f"{value:.6g}") for name, value in vars(point).items() if isinstance(value, float)}
    return CurvePoint(**{**vars(point), **numbers})
