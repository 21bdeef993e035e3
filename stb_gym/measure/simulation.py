"""Sampled turns, to hold against the exact numbers: on the vector environment or, of large boxes, by the rules."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TurnVectorEnv
from stb_gym.games import Game, IntArray, check_integer, rolls
from stb_gym.solver import AnyMove, BoardPolicy, Goal, Player, Policy, evaluate, objective_of

GAMES_AT_ONCE = 4096
TURNS_AT_ONCE = 1024  # where the rules look at every roll of each


@dataclass(frozen=True, eq=False)
class Simulation:
    """Sampled turns beside the exact value.

    Attributes:
        final_scores: [G] points of every turn.
        mean: mean value of the turns, in the objective's unit.
        standard_error: of the mean; that of the sample, so 0 if all turns ended alike.
        exact: the exact value.
    """

    final_scores: NDArray[np.int64] = field(repr=False)
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
    policy: Policy | BoardPolicy,
    turns: int,
    seed: int | None = None,
    objective: Goal = "score",
    progress: Callable[[int], None] = lambda played: None,
) -> Simulation:
    """Play turns, each to its end, and compare their mean with the exact value.

    Args:
        game: the rules.
        policy: the policy that plays.
        turns: how many turns, 2 or more.
        seed: of the dice and of the policy's own random choices; the same seed plays the same turns.
        objective: what a turn is played for, see `stb_gym.solve`.
        progress: called after each batch with the number of turns played so far.

    Raises:
        ValueError: if an argument is not allowed.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> played = stb_gym.simulate(game, stb_gym.solve(game).policy, turns=2000, seed=1)
        >>> abs(played.z) < 4
        True
    """
    check_integer("turns", turns, 2, 10**9)
    if seed is not None:
        check_integer("seed", seed, 0, 2**63 - 1)
    exact = evaluate(game, policy, objective).value
    scores = np.empty(turns, np.int64)
    first = 0
    for batch in _turns(game, policy, turns, seed):
        scores[first : first + len(batch)] = batch
        first += len(batch)
        progress(first)
    goal = objective_of(game, objective)
    values = goal.sign * goal.utilities(scores)
    return Simulation(scores, float(values.mean()), float(values.std(ddof=1) / math.sqrt(turns)), exact)


def _turns(game: Game, policy: Policy | BoardPolicy, turns: int, seed: int | None) -> Iterator[IntArray]:
    """The final scores of turns in batches, each of which are played at once."""
    if isinstance(policy, BoardPolicy):
        return _turns_by_rules(game, policy, turns, seed)
    return _turns_in_environments(game, policy, turns, seed)


def _turns_in_environments(game: Game, policy: Policy, turns: int, seed: int | None) -> Iterator[IntArray]:
    dice_seed, policy_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    player = Player(game, policy, policy_seed)
    for first in range(0, turns, GAMES_AT_ONCE):
        batch = np.empty(min(GAMES_AT_ONCE, turns - first), np.int64)
        env = TurnVectorEnv(game, len(batch), illegal="raise")
        observation, _ = env.reset(seed=dice_seed + first)
        playing = np.ones(len(batch), np.bool_)
        while playing.any():
            observation, _, over, _, info = env.step(player(observation))
            ended = playing & over
            if ended.any():
                batch[ended] = info["final_score"][ended]
            playing &= ~over
        yield batch


def _turns_by_rules(game: Game, policy: BoardPolicy, turns: int, seed: int | None) -> Iterator[IntArray]:
    """Without arrays of the game: the rules are asked for the moves at every position."""
    random = np.random.default_rng(seed)
    for first in range(0, turns, TURNS_AT_ONCE):
        held, dice = (np.full(min(TURNS_AT_ONCE, turns - first), each) for each in game.start())
        while dice.any():
            for thrown in np.unique(dice[dice > 0]):
                places = np.flatnonzero(dice == thrown)
                held[places], dice[places] = _moved(game, policy, held[places], int(thrown), random)
        yield game.final_score(held)


def _moved(
    game: Game, policy: BoardPolicy, held: IntArray, dice: int, random: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """What is held and how many dice are thrown next, 0 at the end, after a throw of dice and a move from each [B]."""
    known, edges = rolls(game, dice), game.edges(held, dice)
    roll = known.of_throw[random.integers(len(known.of_throw), size=len(held))]
    legal = np.flatnonzero(edges.roll == roll[edges.state])
    state, next_held, next_dice = edges.state[legal], edges.next_held[legal], edges.next_dice[legal]
    wanted = random.random(len(legal)) if isinstance(policy, AnyMove) else policy.of(next_held, next_dice)
    chosen = np.lexsort((-np.arange(len(legal)), wanted, state))  # the last of each state is that of its lowest action
    last = chosen[np.flatnonzero(np.diff(state, append=-1))]
    moved, throws = held.copy(), np.zeros(len(held), np.int64)
    moved[state[last]], throws[state[last]] = next_held[last], next_dice[last]
    return moved, throws
