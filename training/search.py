"""A search over settings: which of them leave the least regret, known exactly, after a number of steps.

The tree-structured Parzen estimator of Optuna proposes settings. A trial trains with them once for each seed, and is
given up when at one of its measurements three of four others were better. Regret is exact, so nothing but the seed
makes two trainings of the same settings differ. Every proposal follows from the trials before it and from nothing else,
so that a search that was interrupted goes on as if it had not been.
"""

import math
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from agents.budgets import rounded
from agents.config import Config, settings_from
from stb_gym.games import check_choice, check_names
from stb_gym.output import read_text
from training.run import measure

SPACES = Path(__file__).with_name("spaces.toml")
PARTS = 4  # of a training, after each of which it is measured
MOST_STEPS = 1.05  # of those asked for, as a training makes its last rollout whole
LEAST_REGRET = 1e-12  # so that perfect play has a logarithm
FINISHED = "finished"

Space = Mapping[str, tuple[int | float, int | float]]


class TrialError(Exception):
    """A trial ends before it has been trained with every seed; the text says why."""


@dataclass
class Trial:
    """Settings that were tried, and how they did.

    Attributes:
        settings: those that were searched, by name.
        outcome: "finished", or why it was given up.
        minutes: the most processor time that a training took, measuring included.
        curve: the logarithm of the regret of the greedy policy after each part of each training.
        regrets: of the greedy policy at the end of the training with each seed.
        fresh: the same with other seeds than those that it was chosen by.
    """

    settings: dict[str, int | float]
    outcome: str = FINISHED
    minutes: float = 0.0
    curve: list[float] = field(default_factory=list)
    regrets: list[float] = field(default_factory=list)
    fresh: list[float] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Whether it was not given up."""
        return self.outcome == FINISHED


@dataclass(frozen=True)
class Search:
    """What is searched.

    Attributes:
        config: the training as it is without the search; its settings are tried first, and its seed is the first one.
        space: the lowest and the highest value of the settings that are searched.
        seeds: how many times the settings of a trial are trained.
        limit_minutes: the most processor time that a training may take, measuring included; None for any.
    """

    config: Config
    space: Space
    seeds: int
    limit_minutes: float | None

    def config_of(self, trial: Trial, seed: int) -> Config:
        """The training of a trial with one of the seeds, counted from 0.

        Raises:
            ValueError: if the settings do not go with each other or with the steps.
        """
        settings = settings_from(self.config.algorithm, asdict(self.config.settings) | trial.settings)
        return replace(self.config, settings=settings, seed=self.config.seed + seed)

    def next_trial(self, made: Sequence[Trial]) -> Trial:
        """Propose settings by the trials that were made, and try them."""
        study = self._study(made)
        asked = study.ask(self._distributions())
        trial = Trial({name: rounded(value, isinstance(value, int)) for name, value in asked.params.items()})

        def note(regret: float) -> None:
            trial.curve.append(mean_log([regret]))
            asked.report(trial.curve[-1], len(trial.curve))
            if asked.should_prune():
                raise TrialError("worse than others")

        try:
            for seed in range(self.seeds):
                trial.regrets.append(self._train(trial, seed, note))
        except TrialError as reason:
            trial.outcome = str(reason)
        return trial

    def train_afresh(self, trial: Trial, seeds: int) -> None:
        """Train the settings of a finished trial with so many seeds that it was not chosen by."""
        try:
            while len(trial.fresh) < seeds:
                trial.fresh.append(self._train(trial, self.seeds + len(trial.fresh), lambda regret: None))
        except TrialError as reason:
            trial.outcome = str(reason)

    def _train(self, trial: Trial, seed: int, note: Callable[[float], None]) -> float:
        """The regret at the end of a training, and after each of its parts for `note`."""
        began, parts, regret = time.process_time(), 0, math.inf
        try:
            config = self.config_of(trial, seed)
            learner = config.learner()

            def before_rollout() -> None:
                nonlocal parts, regret
                minutes = (time.process_time() - began) / 60
                trial.minutes = max(trial.minutes, round(minutes, 4))
                if self.limit_minutes is not None and minutes > self.limit_minutes:
                    raise TrialError("too slow")
                if learner.num_timesteps > MOST_STEPS * config.steps:
                    raise TrialError(f"its rollouts end after {learner.num_timesteps:,} steps")
                made = min(PARTS * learner.num_timesteps // config.steps, PARTS)
                if made > parts:
                    regret = measure(config, learner).greedy.regret
                while parts < made:  # a rollout may be longer than a part
                    parts += 1
                    note(regret)

            learner.learn_until(config.steps, before_rollout)
            before_rollout()
        except ValueError as error:  # settings that do not go together, or learning that diverges
            raise TrialError(str(error)) from None
        return regret

    def _study(self, made: Sequence[Trial]) -> optuna.Study:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=self.config.seed + len(made), multivariate=True),
            pruner=optuna.pruners.PercentilePruner(75.0),
        )
        for trial in made:
            study.add_trial(
                create_trial(
                    state=TrialState.COMPLETE if trial.finished else TrialState.PRUNED,
                    value=mean_log(trial.regrets) if trial.finished else None,
                    params=trial.settings,
                    distributions=self._distributions(),
                    intermediate_values=dict(enumerate(trial.curve, start=1)),
                )
            )
        if not made:
            now = {name: getattr(self.config.settings, name) for name in self.space}
            study.enqueue_trial({name: min(max(now[name], low), high) for name, (low, high) in self.space.items()})
        return study

    def _distributions(self) -> dict[str, BaseDistribution]:
        return {name: _distribution(low, high) for name, (low, high) in self.space.items()}


def mean_log(regrets: Sequence[float]) -> float:
    """The mean of the logarithms of regrets: the logarithm of their geometric mean."""
    return float(np.mean(np.log(np.maximum(regrets, LEAST_REGRET))))


def best_of(trials: Sequence[Trial], most: int) -> list[Trial]:
    """The finished trials of the least regret with the seeds of the search, the best first."""
    return sorted((trial for trial in trials if trial.finished), key=lambda trial: mean_log(trial.regrets))[:most]


def read_space(file: Path, config: Config) -> Space:
    """The settings of an algorithm that are searched, and from where to where.

    Args:
        file: a table for each algorithm, with `setting = [lowest, highest]`.
        config: the training whose settings are searched.

    Raises:
        ValueError: naming the file and what is missing, unknown or not allowed in it.
    """
    try:
        spaces = tomllib.loads(read_text(file))
        check_choice("space", config.algorithm, list(spaces))
        space, settings = spaces[config.algorithm], asdict(config.settings)
        if not isinstance(space, dict) or not space:
            raise ValueError(f"[{config.algorithm}] is empty, or no table")
        check_names("setting", space, list(settings))
        for name, ends in space.items():
            if not isinstance(ends, list) or len(ends) != 2 or any(isinstance(end, bool) for end in ends):
                raise ValueError(f"{name} must be the lowest and the highest value, not {ends!r}")
            for end in ends:
                settings_from(config.algorithm, {**settings, name: end})
            if not ends[0] < ends[1]:
                raise ValueError(f"the lowest value of {name} must be below the highest, not {ends!r}")
        return {name: (low, high) for name, (low, high) in space.items()}
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None


def _distribution(low: int | float, high: int | float) -> BaseDistribution:
    whole = isinstance(low, int) and isinstance(high, int)
    return IntDistribution(int(low), int(high), log=low > 0) if whole else FloatDistribution(low, high, log=low > 0)
