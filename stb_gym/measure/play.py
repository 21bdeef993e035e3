"""Let an agent play turns in a fixed number of games side by side, and measure its choices.

Game g of G plays the turns g, g + G, g + 2 G, ... So which turns count does not depend on how long they take. For most
agents no environment is stepped: their wrappers are applied to positions (`Positions`). Where a wrapper shows more than
the position, copies of the environment are played (`Copies`), or a copy of the vector environment of stable-baselines3
(`Vector`).
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, IntArray
from stb_gym.envs import Stepper
from stb_gym.layers import copy_of, is_running, layers_of
from stb_gym.measure.agents import Batch, Player
from stb_gym.measure.sampled import SampledEvaluation, measured_choices
from stb_gym.measure.tensors import joined
from stb_gym.measure.wrapped import AgentView
from stb_gym.solver import PerfectPlay
from stb_gym.tracking import tracked

AT_ONCE = 4096  # games
COPIES = 256


class Positions:
    """Games without an environment: positions, and throws of one generator."""

    def __init__(self, view: AgentView, stepper: Stepper, games: int, seed: np.random.SeedSequence):
        self._view = view
        self._stepper = stepper
        self._throws = np.random.default_rng(seed)
        self._start, self._first = stepper.beginnings({})
        self.states: IntArray = np.empty(games, np.int64)
        self._begin(np.arange(games))

    def _begin(self, games: IntArray) -> None:
        throws = self._first[self._throws.integers(len(self._first), size=len(games))]
        self.states[games] = self._stepper.after_throws(self._start, throws)

    def observed(self, games: IntArray, masks: BoolArray) -> Any:
        """Show the positions through the wrappers of the environment."""
        return self._view(self._stepper.observe(self.states[games]), masks)

    def step(self, games: IntArray, actions: IntArray) -> tuple[IntArray, BoolArray]:
        """Move, and throw; begin a new turn where one is over."""
        afterstates = self._stepper.after_actions(self.states[games], actions)
        states = self._stepper.after_throws(
            afterstates, self._throws.integers(self._stepper.num_throws, size=len(games))
        )
        over = self._stepper.is_over(states)
        self.states[games] = states
        self._begin(games[over])
        return states, over


class Copies:
    """Copies of an environment with its wrappers, one for each game."""

    def __init__(self, env: Any, games: int, seed: np.random.SeedSequence):
        self._envs = [copy_of(env) for _ in range(games)]
        self._bases = [copy.unwrapped for copy in self._envs]
        seeds = seed.generate_state(games).tolist()
        self._observations = [copy.reset(seed=seed)[0] for copy, seed in zip(self._envs, seeds, strict=True)]
        self.states: IntArray = np.array([base.state for base in self._bases])

    def observed(self, games: IntArray, masks: BoolArray) -> Any:
        """Return copies of the last observations of the environments."""
        return joined([deepcopy(self._observations[game]) for game in games], np.stack)

    def step(self, games: IntArray, actions: IntArray) -> tuple[IntArray, BoolArray]:
        """Step the environments, and reset those whose turn is over."""
        over = np.zeros(len(games), np.bool_)
        for index, (game, action) in enumerate(zip(games.tolist(), actions.tolist(), strict=True)):
            self._observations[game], _, terminated, truncated, _ = self._envs[game].step(action)
            over[index] = terminated or truncated
            if over[index]:
                self._observations[game], _ = self._envs[game].reset()
            self.states[game] = self._bases[game].state
        return np.array([self._bases[game].last_step.reached for game in games]), over


class Vector:
    """A copy of a vector environment of stable-baselines3. A step is always one of all games."""

    def __init__(self, envs: Any, seed: np.random.SeedSequence):
        self._envs = copy_of(envs)
        self._envs.seed(int(seed.generate_state(1)[0]) >> 1)
        self._observations = self._envs.reset()
        inner = self._envs.unwrapped
        self._bases = [env.unwrapped for env in inner.envs] if isinstance(inner.envs, list) else [inner.envs.unwrapped]
        self.states = self._current_states()

    def _current_states(self) -> IntArray:
        return np.concatenate([base.states for base in self._bases])

    def observed(self, games: IntArray, masks: BoolArray) -> Any:
        """Return a copy of the last observations of all environments."""
        return deepcopy(self._observations)

    def step(self, games: IntArray, actions: IntArray) -> tuple[IntArray, BoolArray]:
        """Step all environments, which reset themselves."""
        self._observations, _, over, _ = self._envs.step(actions)
        self.states = self._current_states()
        return np.hstack([base.last_step.reached for base in self._bases]), over


# G games side by side, with `states` [G]; when a turn is over, the next one begins. `observed` returns what the agent
# sees in some games. `step` takes an action in each, and returns the states that they reached and which turns ended.
Games = Positions | Copies | Vector


def games_of(env: Any, view: AgentView, stepper: Stepper, turns: int, seed: np.random.SeedSequence) -> Games:
    """Return games in which the agent sees what it sees in its environment.

    Args:
        env: the environment, or a game.
        view: what the agent sees.
        stepper: the game.
        turns: how many are to be played.
        seed: of the throws.

    Raises:
        ValueError: if a vector wrapper of Gymnasium shows more than the position, or statistics change during play.
    """
    if not view.memory:
        return Positions(view, stepper, min(AT_ONCE, turns), seed)
    if hasattr(env, "env_method"):  # a VecEnv of stable-baselines3
        return Vector(env, seed)
    layers = layers_of(env)
    single = [layer for layer in layers if not hasattr(layer, "num_envs")]
    if not single or single[-1].observation_space != view.space or any(map(is_running, layers)):
        raise ValueError(f"{view.memory}: record the losses of play with RecordRegret")
    return Copies(single[-1], min(COPIES, turns), seed)


def draw_actions(answers: NDArray[Any], random: np.random.Generator) -> IntArray:
    """Return actions [B]: the answers if they are actions [B], or drawn from probabilities [B, A]."""
    if answers.ndim == 1:
        return answers
    upper = answers.cumsum(axis=1, dtype=float)
    return (upper > random.random((len(answers), 1)) * upper[:, -1:]).argmax(axis=1)


def play_turns(
    optimum: PerfectPlay,
    games: Games,
    stepper: Stepper,
    player: Player,
    illegal: str,
    turns: int,
    seed: np.random.SeedSequence,
) -> SampledEvaluation:
    """Let an agent play turns, and measure its choices; see `RegretMeter.sample`.

    Args:
        optimum: the values of perfect play.
        games: the games that it plays.
        stepper: the game.
        player: the agent.
        illegal: what an illegal action does.
        turns: how many turns are played.
        seed: of the actions that are drawn from the agent's probabilities.

    Raises:
        ValueError: if an illegal action raises, and the agent takes one; or if a wrapper changes what is played.
    """
    draws = np.random.default_rng(seed)
    count = len(games.states)
    turn = np.arange(count)  # the turn that each game plays
    begins = np.ones(count, np.bool_)
    ends = np.empty(turns, np.int64)
    choices: list[tuple[NDArray[Any], ...]] = []  # in the order of the fields of SampledEvaluation

    def played() -> Iterator[tuple[int, int]]:
        """Play all turns. Yield each that is over, with the state at which it ended."""
        while (turn < turns).any():
            everyone = isinstance(games, Vector) or player.memory is not None
            chosen = np.arange(count) if everyone else np.flatnonzero(turn < turns)
            state = games.states[chosen]
            masks = stepper.masks(state).view(np.bool_)
            answered = player(Batch(games.observed(chosen, masks), masks.copy(), turn[chosen], begins[chosen]))
            action = draw_actions(answered, draws)
            is_legal = masks[np.arange(len(state)), action]
            refused = ~is_legal if answered.ndim == 1 else answered.sum(axis=1, where=~masks) > 0
            if illegal == "raise" and refused.any():
                where = stepper.describe(int(state[refused.argmax()]))
                raise ValueError(f"the agent takes an illegal action at {where}")
            counts = turn[chosen] < turns
            measured = measured_choices(optimum, stepper, state[counts], answered[counts], is_legal[counts])
            choices.append((turn[chosen][counts], state[counts], *measured))
            reached, over = games.step(chosen, action)
            if (stepper.is_over(reached) != over).any() or (
                stepper.origin_of(reached) != stepper.after_actions(state, action)
            ).any():
                raise ValueError(
                    "a wrapper does not take the actions of the agent one by one, or truncates turns: record the "
                    "losses of play with RecordRegret"
                )
            ended = chosen[over & counts]
            yield from zip(turn[ended].tolist(), reached[over & counts].tolist(), strict=True)
            begins[chosen] = over
            turn[chosen[over]] += count

    for number, state in tracked(played(), "turns played", "turns", turns):
        ends[number] = state
    columns = [np.concatenate(column) for column in zip(*choices, strict=True)]
    return SampledEvaluation(optimum, stepper, player.masked, ends, *columns)
