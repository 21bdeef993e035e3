"""Measure a learner against perfect play, exactly or by turns that it plays."""

from functools import lru_cache
from typing import NamedTuple

from stable_baselines3.common.base_class import BaseAlgorithm

from agents.common import Learner
from agents.ppo import PPO
from agents.presets import Config
from stb_gym import Game, RegretMeter
from stb_gym.measure.critics import errors_of_critic
from stb_gym.solver import Measured, Policy

ILLEGAL = "end"  # an illegal action, possible without masks, ends the turn as it does in the environment
TURNS = 10_000  # played in a sampled measurement


class Measurement(NamedTuple):
    """How good a learner is.

    Attributes:
        greedy: the evaluation of its greedy policy.
        policy: [S] the greedy policy, or None if the measurement is sampled.
        value_error: the root mean square error of the values that it has learned, see `CriticErrors`; None if it has
            learned none, or the measurement is sampled.
    """

    greedy: Measured
    policy: Policy | None = None
    value_error: float | None = None

    def summary(self) -> dict[str, float]:
        """Return the summary of the evaluation, and the value error if there is one."""
        return self.greedy.summary() | ({} if self.value_error is None else {"value_error": self.value_error})


def measure(config: Config, learner: Learner, turns: int | None = None) -> Measurement:
    """Measure a learner: exactly where the game fits into tables, otherwise by turns that it plays.

    Args:
        config: the configuration of the learner.
        learner: the learner.
        turns: play this many turns, whatever the size of the game.

    Returns:
        The measurement. Losses of choices are exact in sampled measurements, too.
    """
    meter = _meter(config.game(), config.objective)
    if turns is None and meter.is_exact:
        policy = meter.policy(learner.player)
        greedy = meter.solution.evaluate(policy, ILLEGAL)
        model = getattr(learner, "agent", None)
        model = model if isinstance(model, BaseAlgorithm) else None  # other agents may have a `policy` of another kind
        plays = meter.policy(learner.probabilities) if isinstance(learner, PPO) else policy
        errors = errors_of_critic(meter, model, None, plays, learner.critic)
        return Measurement(greedy, policy, None if errors is None else errors.root_mean_square)
    return Measurement(meter.sample(learner.player, TURNS if turns is None else turns, config.seed))


def train_and_measure(config: Config) -> Measurement:
    """Train a learner without writing files, and measure it."""
    learner = config.make_learner(config.make_envs())
    learner.learn(config.steps)
    return measure(config, learner)


@lru_cache(maxsize=1)  # a run measures again and again, and The 300 takes seconds to solve
def _meter(game: Game, objective: str) -> RegretMeter:
    return RegretMeter(game, objective, ILLEGAL)
