"""Measure an agent's regret against perfect play."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.checks import check_integer
from stb_gym.envs import stepper_of
from stb_gym.games import Game, fits
from stb_gym.measure.agents import Batch, Player, player_of
from stb_gym.measure.play import games_of, play_turns
from stb_gym.measure.repetition import warn_of_other_answers
from stb_gym.measure.sampled import SampledEvaluation
from stb_gym.measure.wrapped import AgentView
from stb_gym.solver import Evaluation, GameOrEnv, Goal, PerfectPlay, Policy, Solution, untried_task
from stb_gym.solving import perfect_play
from stb_gym.trial import check_wrappers

MOST_TURNS = 10**6
AT_ONCE = 2**16  # states in one question to an agent


class RegretMeter:
    """Measures agents against perfect play. It solves the game once.

    A call asks the agent about every position and is exact. `sample` lets the agent play turns and adds up the exact
    losses of its choices, for games with too many positions to ask about each.

    An agent receives B observations [B, O] as its environment shows them, and masks [B, A] bool of their legal actions;
    each has at least one. An agent is one of these:

    - a function of observations. It also receives masks if it has a second argument without a default, or one with
      "mask" in its name. It returns actions [B], or probabilities [B, A], as arrays, lists, tensors or a distribution
      with `probs`. If it draws its actions at random, a call measures one draw: return probabilities instead, use
      `sample`, or say `deterministic=False`;
    - a torch module, called in the same way with tensors of its own type and device, in evaluation mode and without
      gradients. It returns scores [B, A], such as logits or Q-values, or a distribution with `logits`. The action of
      the greatest score is played, or if not deterministic, softmax over the scores;
    - a model with stable-baselines3's `predict`. If not deterministic, its policy must be an actor-critic policy, which
      is measured by its exact probabilities; `sample` lets any model draw its own actions.

    Masks matter: the same weights may have a small regret with them, and a large one without. A function that receives
    masks applies them itself. A model receives them if its `predict` takes `action_masks`. With `masked=True`, a module
    or a model without that argument plays the best legal action, or samples among the legal ones. With `masked=False`,
    nothing keeps them from illegal actions. If a module chooses illegal actions and neither is given, the meter raises.

    `sample` also measures agents with a memory. A model with `predict` is given `state` and `episode_start`. A function
    with an argument `turns` is given [B] the number of the turn that each position belongs to. An environment whose
    wrappers show more than the position, such as a stack of frames, is copied and played.

    The meter tries wrappers that it does not know on a copy of the environment, for 200 random turns or a second. It
    refuses those that change what is played: actions, dice, masks, or where turns begin and end. It also refuses other
    rewards, unless `objective` says what counts, and models whose own environment shows positions otherwise. It cannot
    notice what a wrapper changes in less than one of several hundred steps, nor the wrappers of a `SubprocVecEnv`.

    Args:
        env: the environment that the agent was made for, however wrapped (see `stb_gym.solve`), or a game. Limits that
            truncate turns are refused, and a `SubprocVecEnv`: pass one of its environments.
        objective: what the agent plays for; by default the objective of the environment, and for a game "score".
        illegal: an illegal action ends the turn with the worst score ("end"), or raises ("raise"); by default what the
            environment does, and for a game "end".

    Attributes:
        game: the rules.
        objective: the `Objective`.
        illegal: what an illegal action does.
        optimum: the values of perfect play; `solution` has the tables, too.
        view: what agents see, a function of observations and masks.

    Raises:
        TypeError: if `env` is neither a game nor an environment of one.
        ValueError: if a wrapper changes what is played or cannot be copied, or another argument is not allowed.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> meter = stb_gym.RegretMeter(gym.make("stb_gym/ShutTheBox-v0"))
        >>> round(meter(lambda observations, masks: masks.argmax(axis=1)).regret, 4)
        12.9927
        >>> round(meter(lambda observations, masks: masks / masks.sum(axis=1, keepdims=True)).value, 9)
        20.418812228
    """

    def __init__(self, env: GameOrEnv, objective: Goal | None = None, illegal: str | None = None):
        if illegal is None and isinstance(env, Game):
            illegal = "end"
        self.game, self.objective, self.illegal = untried_task(env, objective, illegal)
        trial = None if env is self.game else check_wrappers(env, rewards=objective is None)
        self.optimum: PerfectPlay = perfect_play(self.game, self.objective)
        self._env = env
        self.view = AgentView(env, self.game, trial)
        if self.view.width != len(self.game.observation_high):
            raise ValueError(
                "the innermost environment must show the observations of the game: use a wrapper to change them"
            )

    def __repr__(self) -> str:
        """Return the game, what it is played for, and the value of perfect play."""
        best = f"{self.optimum.value:.6g} {self.objective.unit}"
        return f"<RegretMeter of {self.game}: {self.objective.name} {best} by perfect play>"

    def __call__(self, agent: Any, deterministic: bool = True, masked: bool | None = None) -> Evaluation:
        """Measure an agent exactly.

        Args:
            agent: see the class.
            deterministic: whether a torch module or a model with `predict` plays its best action, or samples. A
                function returns its own probabilities; False says that it draws its actions.
            masked: whether a torch module or a model chooses among legal actions only. By default a model does if its
                `predict` takes `action_masks`, and a module must choose no illegal action.

        Returns:
            An `Evaluation`: `regret`, `value` and other numbers in the objective's unit, `visits` [S], the costliest
            mistakes, and `summary()`, which has the numbers by name.

        Raises:
            TypeError: if it is not an agent, or its answer has a wrong type.
            ValueError: if it was made for other observations or actions, has a memory or sees more than the position,
                its answer is not a policy of the game, or the game has too many positions; or if `masked` must be
                given.
        """
        player = player_of(agent, self.view, deterministic, masked)
        return replace(self.solution.evaluate(self._ask(player, deterministic), self.illegal), masked=player.masked)

    def policy(self, agent: Any, deterministic: bool = True, masked: bool | None = None) -> Policy:
        """Return the policy of an agent as an array, which `stb_gym.save_policy` stores.

        Args:
            agent: see the class.
            deterministic: see the call.
            masked: see the call.

        Returns:
            [S] actions or [S, A] probabilities, at the S states of `solution.tables`; -1 or 0 where no action is legal.

        Raises:
            TypeError: as the call does.
            ValueError: as the call does.

        Example:
            >>> import stb_gym
            >>> meter = stb_gym.RegretMeter(stb_gym.Threes())
            >>> meter.policy(lambda observations, masks: masks.argmax(axis=1)).shape
            (2442,)
        """
        return self._ask(player_of(agent, self.view, deterministic, masked), deterministic)

    def _ask(self, player: Player, deterministic: bool) -> Policy:
        """Return the policy of an agent; warn if its answers are not its own choice for each position."""
        tables = self.solution.tables

        def answers_at(states: IntArray) -> NDArray[Any]:
            masks = tables.legal[states]
            return player(Batch(self.view(tables.observation[states], masks), masks))

        states = tables.decisions
        answers = np.concatenate(
            [answers_at(states[first : first + AT_ONCE]) for first in range(0, len(states), AT_ONCE)]
        )
        if deterministic:
            warn_of_other_answers(answers, lambda some: answers_at(states[some]))
        return tables.policy(answers)

    def sample(
        self,
        agent: Any,
        turns: int = 10_000,
        seed: int = 0,
        deterministic: bool = True,
        masked: bool | None = None,
    ) -> SampledEvaluation:
        """Measure an agent by turns that it plays, with the exact loss of each of its choices.

        Args:
            agent: see the class.
            turns: how many, 2 to 1,000,000.
            seed: of the dice and of the actions that are drawn from the agent's probabilities. A model that does not
                reveal them draws by its own random numbers.
            deterministic: see the call.
            masked: see the call.

        Returns:
            A `SampledEvaluation`: `regret` and `value` in the objective's unit, the `standard_error` of both, and the
            state, action and loss of each choice.

        Raises:
            TypeError: as the call does, at the positions that occur.
            ValueError: as the call does, at the positions that occur; or if a wrapper changes what is played.

        Example:
            >>> import stb_gym
            >>> meter = stb_gym.RegretMeter(stb_gym.ShutTheBox())
            >>> evaluation = meter.sample(lambda observations, masks: masks.argmax(axis=1), turns=10_000)
            >>> round(evaluation.regret, 2), round(evaluation.standard_error, 2)  # exactly 12.99
            (12.98, 0.03)
        """
        check_integer("turns", turns, 2, MOST_TURNS)
        check_integer("seed", seed, 0, 2**63 - 1)
        player = player_of(agent, self.view, deterministic, masked, at_play=True)
        stepper = stepper_of(self.game)
        throws, draws = np.random.SeedSequence(seed).spawn(2)
        games = games_of(self._env, self.view, stepper, turns, throws)
        return play_turns(self.optimum, games, stepper, player, self.illegal, turns, draws)

    @property
    def is_exact(self) -> bool:
        """Whether the game has few enough positions to ask an agent about each."""
        return fits(self.game)

    @property
    def solution(self) -> Solution:
        """Perfect play of a game with tables.

        Raises:
            ValueError: if the game is too large for tables.
        """
        if isinstance(self.optimum, Solution):
            return self.optimum
        raise ValueError(f"{self.game} has too many positions for a table: use `sample`, and `optimum`")
