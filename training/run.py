"""The folder of a run, which says what was trained, how it went and how good the result is; `run_writer` writes it.

config.json                   the configuration
curve.csv                     a `Point` for every measurement, which says whether it is exact or sampled
log.csv                       what the learner told of itself at every measurement, if that is logged
weights.safetensors           the networks, or the table, at the last measurement
policy.npz                    their greedy policy, which `stb_gym.load_policy` reads without a network
policies.npz                  the greedy policy of every measurement; neither is there of boxes too large for it
result.json                   how good it is
checkpoint-STEPS.safetensors  everything to go on from, at two of the last measurements; removed when it is finished
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agents.checkpoints import load_weights
from agents.config import Config
from agents.learner import Learner, check_finite
from agents.policy_array import policies
from stb_gym import Game, RegretMeter, load_policy, solve
from stb_gym.envs import fits_tables
from stb_gym.measure import SampledEvaluation, load_policies
from stb_gym.output import from_json, read_text
from stb_gym.solver import Evaluation, Policy
from training.entries import check_entries
from training.rows import from_csv

TURNS = 10_000  # of a measurement that is sampled

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A measurement during training: exact, or sampled with the exact loss of every choice.

    Attributes:
        steps: steps so far, in all environments together.
        seconds: processor seconds of training and measuring so far, so that other work on the machine does not count.
        regret: regret of the greedy policy, in the objective's unit.
        exploring_regret: regret of the policy it explores with.
        agreement, agreement_by_visits, value, shut_probability, illegal_mass: of the greedy policy, see
            `stb_gym.solver.Evaluation`; of sampled turns there is no `agreement`, which is not a number then.
        value_error: of the learner's own values, see `agents.policy_array.value_error`.
        turns: how many turns were sampled, 0 if nothing was.
        standard_error: of the regret, 0 if nothing was sampled.
    """

    steps: int
    seconds: float
    regret: float
    exploring_regret: float
    agreement: float
    agreement_by_visits: float
    value: float
    shut_probability: float
    illegal_mass: float
    value_error: float
    turns: int = 0
    standard_error: float = 0.0


class Measurement(NamedTuple):
    """A measurement with what goes with it.

    Attributes:
        point: the measurement.
        figures: what the learner told of its last update, such as its losses.
        policy: [N] its greedy policy, if the measurement was exact.
    """

    point: Point
    figures: Mapping[str, float]
    policy: Policy | None


class Measures(NamedTuple):
    """What a learner is worth.

    Attributes:
        policy: [N] its greedy policy, if all of it is known.
        greedy: the measure of that policy.
        exploring: that of the policy it explores with.
    """

    policy: Policy | None
    greedy: Evaluation | SampledEvaluation
    exploring: Evaluation | SampledEvaluation


def measure(config: Config, learner: Learner, turns: int | None = None) -> Measures:
    """Measure a learner: exactly where environments have tables, else by turns that it plays.

    Args:
        config: what is trained.
        learner: the learner.
        turns: how many turns are played, whatever the size; by default TURNS where there are no tables.

    Raises:
        ValueError: if learning has diverged.
    """
    check_finite(learner)
    game, objective = config.task.game(), config.task.objective
    if turns is None and fits_tables(game):
        greedy, exploring = policies(game, learner)
        optimum = solve(game, objective)
        return Measures(greedy, optimum.evaluate(greedy, config.illegal), optimum.evaluate(exploring, config.illegal))
    meter = _meter(game, objective, config.illegal)
    agents = lambda seen, masks: learner.probabilities(seen, masks).argmax(axis=1), learner.probabilities
    return Measures(None, *(meter.sample(agent, TURNS if turns is None else turns, config.seed) for agent in agents))


@lru_cache(maxsize=8)
def _meter(game: Game, objective: str, illegal: str) -> RegretMeter:
    return RegretMeter(game, objective, illegal)


@dataclass(frozen=True)
class Run:
    """The folder of a run; its files are read and checked when they are asked for.

    Every method raises a ValueError that names the file if one is missing, damaged or not of this run.

    Attributes:
        folder: the folder.
        config: what was trained.
    """

    folder: Path
    config: Config

    @staticmethod
    def open(folder: Path) -> "Run":
        """The run in a folder."""
        if not folder.is_dir():
            raise ValueError(f"there is no folder {folder}")
        return Run(folder, _read(folder / "config.json", lambda text: Config.from_json(from_json(text))))

    def game(self) -> Game:
        """The rules it was trained on."""
        return self.config.task.game()

    def learner(self) -> Learner:
        """The learner with what it had learned at the last measurement."""
        learner = self.config.learner()
        load_weights(self.folder / "weights.safetensors", learner)
        return learner

    def is_sampled(self) -> bool:
        """Whether its measurements are sampled, so that its policies are not known as a whole."""
        return self.curve()[-1].turns > 0

    def policy(self) -> Policy:
        """The greedy policy of the last measurement."""
        return load_policy(self.folder / "policy.npz", self.game(), self.config.illegal)

    def policies(self) -> dict[int, Policy]:
        """The greedy policy of every measurement, by its steps."""
        return load_policies(self.folder / "policies.npz", self.game(), self.config.illegal)

    def evaluation(self) -> Evaluation | SampledEvaluation:
        """Its greedy policy at the last measurement, measured again."""
        if self.is_sampled():
            return measure(self.config, self.learner(), self.curve()[-1].turns).greedy
        return solve(self.game(), self.config.task.objective).evaluate(self.policy(), self.config.illegal)

    def curve(self) -> list[Point]:
        """The measurements."""
        return _read(self.folder / "curve.csv", lambda text: from_csv(text, Point))

    def result(self) -> dict[str, Any]:
        """How good it was at the last measurement."""
        return _read(self.folder / "result.json", _parse_result)

    def progress(self) -> str:
        """The steps that were made, such as "5,000", or "4,000 of 5,000" in a run that is not finished."""
        result = self.result()
        return f"{result['steps']:,}" + ("" if result["finished"] else f" of {self.config.steps:,}")


def _parse_result(text: str) -> dict[str, Any]:
    result: dict[str, Any] = from_json(text)
    kinds = {"finished": bool, "steps": int, "seconds": float, "greedy": dict, "exploring": dict, "value_error": float}
    check_entries(result, kinds)
    return result


def _read(path: Path, parse: Callable[[str], T]) -> T:
    try:
        return parse(read_text(path))
    except FileNotFoundError:
        raise ValueError(f"{path.parent} is no run, or not a whole one: there is no {path.name}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or no file of a run: {error}") from None
