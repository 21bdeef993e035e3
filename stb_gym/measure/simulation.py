"""Sampled games on the vector environment, to hold against the exact numbers."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TurnVectorEnv
from stb_gym.exact import Goal, Player, Policy, evaluate, objective_of
from stb_gym.games import Game, check_integer

GAMES_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Simulation:
    """Sampled games beside the exact value.

    Attributes:
        final_scores: [G] points of every game.
        mean: mean value of the games, in the objective's unit.
        standard_error: of the mean; that of the sample, so 0 if all games ended alike.
        exact: the exact value.
    """

    final_scores: NDArray[np.int64]
    mean: float
    standard_error: float
    exact: float

    @property
    def z(self) -> float:
        """How many standard errors the mean lies above the exact value; 0 where they agree to rounding."""
        difference = self.mean - self.exact
        if abs(difference) < 1e-12:
            return 0.0
        return difference / self.standard_error if self.standard_error else math.copysign(math.inf, difference)


def simulate(
    game: Game,
    policy: Policy,
    games: int,
    seed: int | None = None,
    objective: Goal = "score",
    progress: Callable[[int], None] = lambda played: None,
) -> Simulation:
    """Play games, each to its end, and compare their mean with the exact value.

    Args:
        game: the rules.
        policy: the policy that plays.
        games: how many games, 2 or more.
        seed: of the dice and of the policy's own random choices; the same seed plays the same games.
        objective: what a turn is played for, see `stb_gym.solve`.
        progress: called after each batch with the number of games played so far.

    Raises:
        ValueError: if an argument is not allowed.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> played = stb_gym.simulate(game, stb_gym.solve(game).policy, games=2000, seed=1)
        >>> abs(played.z) < 4
        True
    """
    check_integer("number of games", games, 2, 10**9)
    if seed is not None:
        check_integer("seed", seed, 0, 2**63 - 1)
    exact = evaluate(game, policy, objective).value
    dice_seed, policy_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    player = Player(game, policy, policy_seed)
    scores = np.empty(games, np.int64)
    env: TurnVectorEnv | None = None
    for first in range(0, games, GAMES_AT_ONCE):
        batch = scores[first : first + GAMES_AT_ONCE]
        if env is None or env.num_envs != len(batch):
            env = TurnVectorEnv(game, len(batch), objective, "raise")
            observation, _ = env.reset(seed=dice_seed + first)
        else:
            observation, _ = env.reset()
        playing = np.ones(len(batch), np.bool_)
        while playing.any():
            observation, _, over, _, info = env.step(player(observation))
            ended = playing & over
            if ended.any():
                batch[ended] = info["final_score"][ended]
            playing &= ~over
        progress(first + len(batch))
    goal = objective_of(game, objective)
    values = goal.sign * goal.utilities(scores)
    return Simulation(scores, float(values.mean()), float(values.std(ddof=1) / math.sqrt(games)), exact)
