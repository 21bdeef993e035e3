"""A training in rounds, against selves of the learner or against others, and the folder that it is written to.

config.json             what is trained
curve.csv               the measurements: exact, and seat by seat
weights.safetensors     the networks at the last of them
checkpoint.safetensors  everything to go on from; removed when it is finished
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode

from agents.checkpoints import load_snapshot, save_snapshot, save_weights
from agents.config import ALGORITHMS, Config
from agents.learner import Snapshot, check_finite
from agents.self_play import SELVES, Selves
from agents.snapshots import named, part
from stb_gym.games import check_choice, check_integer
from stb_gym.output import read_text, write_text
from stb_gym.rounds import RoundEvaluation, RoundMeter, RoundVectorEnv
from training.entries import check_entries
from training.rows import csv_rows, csv_text

LEARNERS = ("ppo", "dqn", "afterstate-network")
CONFIG, CURVE, WEIGHTS, CHECKPOINT = "config.json", "curve.csv", "weights.safetensors", "checkpoint.safetensors"
Measurement = dict[str, float]


@dataclass(frozen=True)
class RoundConfig:
    """What is trained.

    Attributes:
        learner: the learner with its settings, steps and seed, as for a training on the turn of the game alone.
        players: how many play.
        opponents: one of `SELVES`, or the name of a strategy that all the others play.
        ties: the tie rule.
        measurements: how often it is measured and, in self-play, another self is made.

    Raises:
        ValueError: naming the first entry that is not allowed.
    """

    learner: Config
    players: int = 2
    opponents: str = "naive"
    ties: str = "split"
    measurements: int = 40

    def __post_init__(self) -> None:
        check_choice("learner of rounds", self.learner.algorithm, LEARNERS)
        if self.learner.task.objective != "score":
            raise ValueError(f"in a round it is a win that is rewarded, not {self.learner.task.objective!r}")
        check_integer("players", self.players, 2, 101)
        check_integer("measurements", self.measurements, 1, 10**6)

    def make_envs(self) -> RoundVectorEnv:
        """The rounds to learn from; in self-play against random play until there is a self."""
        num_envs: int = self.learner.settings.num_envs  # type: ignore[union-attr]
        opponents = "random" if self.opponents in SELVES else self.opponents
        game, same_step = self.learner.task.game(), AutoresetMode.SAME_STEP
        return RoundVectorEnv(
            game, num_envs, self.players, opponents=opponents, ties=self.ties, autoreset_mode=same_step
        )


class RoundTraining:
    """A training in rounds as it stands.

    Args:
        config: what is trained.

    Attributes:
        learner: the learner.
        envs: the rounds that it plays.
        measured: the measurements so far, each after so many `steps` and processor `seconds`: `gain_1`, `gain_2` ... is
            what each seat could win more by a best response, `gain` the largest of these, and `wins_1`, `wins_2` ...
            what each seat wins. In self-play all that is of rounds in which the newest self plays in every seat: how
            exploitable it is; and `gain_of_average` is the gain if each player is any of the selves.
    """

    def __init__(self, config: RoundConfig):
        self.config, self.envs = config, config.make_envs()
        _, make = ALGORITHMS[config.learner.algorithm]
        self.learner = make(self.envs, config.learner.settings, config.learner.seed)
        self._meter = RoundMeter(self.envs)
        self._selves: Selves | None = None
        self.measured: list[Measurement] = []

    @property
    def is_finished(self) -> bool:
        """Whether all steps were made and measured."""
        return bool(self.measured) and self.measured[-1]["steps"] >= self.config.learner.steps

    @property
    def is_due(self) -> bool:
        """Whether it is time for a measurement."""
        interval = max(1, self.config.learner.steps // self.config.measurements)
        return not self.measured or self.learner.num_timesteps // interval > self.measured[-1]["steps"] // interval

    def measure(self, seconds: float) -> Measurement:
        """Measure the learner and, in self-play, let it play against its newer selves from now on.

        Raises:
            ValueError: if learning has diverged.
        """
        check_finite(self.learner)
        made = {"steps": self.learner.num_timesteps, "seconds": round(seconds, 3)}
        found = self._against_selves() if self.config.opponents in SELVES else self._against_others()
        self.measured.append({**made, **found})
        return self.measured[-1]

    def _greedy(self, observations: Any, masks: Any) -> Any:
        return self.learner.probabilities(observations, masks).argmax(axis=1)

    def _against_others(self) -> Measurement:
        found = self._meter(self._greedy)
        return {"gain": float(found.gains.max()), **_by_seat("gain", found.gains), **_by_seat("wins", found.seats)}

    def _against_selves(self) -> Measurement:
        newest = self.envs.round.evaluate([self._meter.strategy(self._greedy)] * self.config.players)
        if self._selves is None:
            self._selves = Selves(self.config.opponents, newest)
        else:
            self._selves.add(newest)
        self.envs.set_opponents(self._selves.opponents)
        gains = _gains(newest)
        largest = {"gain": max(gains), "gain_of_average": max(_gains(self._selves.average))}
        return {**largest, **_by_seat("gain", gains), **_by_seat("wins", newest.seats)}

    def snapshot(self) -> dict[str, Any]:
        """Everything to go on from."""
        selves = self._selves.snapshot() if self._selves else {}
        return {**named("learner", self.learner.snapshot()), **named("selves", selves), "measured": self.measured}

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of the same training exactly as that one would have."""
        check_entries({"measured": snapshot.get("measured")}, {"measured": list[dict[str, float]]})
        self.measured = snapshot["measured"]
        if self.config.opponents in SELVES:
            self._selves = Selves.restored(self.config.opponents, self.envs.round, part(snapshot, "selves"))
            self.envs.set_opponents(self._selves.opponents)
        self.learner.restore(part(snapshot, "learner"))

    def read(self, folder: Path) -> None:
        """Go on from the files of the training: from its end, from its checkpoint, or from nothing.

        Raises:
            ValueError: if a file is damaged.
        """
        try:
            if (folder / CHECKPOINT).exists():
                self.restore(load_snapshot(folder / CHECKPOINT))
            elif (folder / CURVE).exists():
                self.measured = _from_csv(read_text(folder / CURVE))
                if not all(math.isfinite(number) for row in self.measured for number in (row["gain"], *row.values())):
                    raise ValueError(f"{CURVE} has numbers that are not finite")
                if not self.is_finished or not (folder / WEIGHTS).exists():  # there is nothing to go on from
                    self.measured = []
        except (KeyError, TypeError, ValueError, RuntimeError) as error:  # RuntimeError is torch's
            raise ValueError(f"{folder} holds a damaged file: {error}") from None

    def write(self, folder: Path, checkpoint: bool) -> None:
        """Write the files of the training and, where wanted, before them everything to go on from."""
        if checkpoint:
            save_snapshot(folder / CHECKPOINT, self.snapshot())
        save_weights(folder / WEIGHTS, self.learner)
        write_text(folder / CURVE, csv_text(self.measured[0], self.measured))


def _gains(lineup: RoundEvaluation) -> list[float]:
    return [lineup.best_response(seat).gain for seat in range(lineup.rules.players)]


def _by_seat(name: str, numbers: Any) -> Measurement:
    return {f"{name}_{seat}": float(number) for seat, number in enumerate(numbers, 1)}


def _from_csv(text: str) -> list[Measurement]:
    return [
        {name: int(told) if name == "steps" else float(told) for name, told in row.items()} for row in csv_rows(text)
    ]
