"""An environment in words, to train language models."""

import string
from functools import cached_property
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from stb_gym.arguments import checked
from stb_gym.envs import TurnEnv
from stb_gym.layers import layers_of
from stb_gym.measure.optimal_values import OptimalValues, optimal_values
from stb_gym.measure.recording import MeanRegret
from stb_gym.measure.visits import CountsVisits
from stb_gym.messages import quoted
from stb_gym.text.game import Decision, TextGame, decision_at

RECORDERS = MeanRegret, CountsVisits, gym.wrappers.RecordEpisodeStatistics
MONITOR = "stable_baselines3.common.monitor"  # the module of another


class TextEnv(gym.Wrapper[str, str, Any, Any], RecordConstructorArgs):
    """An environment in words: observations are prompts, actions are answers, and rewards are minus exact losses.

    The first observation of a turn has the rules; the others are questions. An answer that names no action ends the
    turn with the worst score, as an illegal one does; the environment inside is not stepped then. Infos also have the
    `loss` of the last answer, the `regret` of the turn so far, and the `action`, -1 if the answer named none.

    Args:
        env: an environment of one turn, which ends at illegal actions.
        seed: as for `TextGame`.
        list_moves: as for `TextGame`.
        wording: as for `TextGame`.

    Attributes:
        text: the game in words.
        decision: the state that is asked about; None if no turn is running.

    Raises:
        TypeError: if `env` is not an environment of one turn of stb_gym.
        ValueError: if the environment refuses illegal actions or has a recorder inside, there is no such wording, or
            names cannot be given.

    Example:
        >>> import gymnasium as gym
        >>> from stb_gym.text import TextEnv
        >>> env = TextEnv(gym.make("stb_gym/Threes-v0"))
        >>> prompt, _ = env.reset(seed=0)
        >>> print(prompt.splitlines()[-2])
        Roll: 2, 4, 4, 5, 6
        >>> _, reward, _, _, info = env.step("I keep two dice.")
        >>> round(reward, 4), round(info["loss"], 4)
        (-3.3999, 3.3999)
    """

    @checked
    def __init__(
        self, env: gym.Env[Any, Any], *, seed: int | None = None, list_moves: bool = False, wording: str = "example"
    ):
        RecordConstructorArgs.__init__(self, seed=seed, list_moves=list_moves, wording=wording)
        super().__init__(env)
        base = env.unwrapped
        if not isinstance(base, TurnEnv):
            raise TypeError(f"TextEnv needs an environment of one turn of stb_gym, not {quoted(env)}")
        if base.illegal != "end":
            raise ValueError('TextEnv needs an environment with illegal="end"')
        for layer in layers_of(env):
            if isinstance(layer, RECORDERS) or type(layer).__module__ == MONITOR:
                raise ValueError(
                    f"{type(layer).__name__} misses answers that name no action: leave it out, and read the losses in "
                    "the infos of TextEnv"
                )
        self.text = TextGame(env, seed=seed, list_moves=list_moves, wording=wording)
        self.observation_space = gym.spaces.Text(20_000, charset=string.printable)
        self.action_space = gym.spaces.Text(20_000, charset=string.printable)
        self._base = base
        self.decision: Decision | None = None
        self._regret = 0.0
        self._info: dict[str, Any] = {}

    @cached_property
    def _values(self) -> OptimalValues:
        return optimal_values(self._base)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a turn.

        Returns:
            The rules with the first question, and the info.
        """
        _, info = self.env.reset(seed=seed, options=options)
        self._regret = 0.0
        question = self._next_question(info, is_over=False)
        return f"{self.text.rules}\n\n{question}", info | {"loss": 0.0, "regret": 0.0, "action": -1}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the action that an answer names.

        Returns:
            The next question, the reward (minus the loss of the answer), whether the turn is terminated and truncated,
            and the info.

        Raises:
            RuntimeError: before the first reset, or if the turn is over.
        """
        if self.decision is None:
            raise RuntimeError("no turn is running: call reset()")
        state, stepper = self._base.state, self._base.stepper
        chosen = self.text.parse(action, self.decision)
        truncated = False
        if chosen is None:
            terminated, after = True, stepper.illegal_afterstate
            final = {"final_score": int(stepper.scores[-1]), "illegal_action": True}
            info = self._info | {"action_mask": stepper.masks(stepper.illegal_state), **final}
        else:
            after = stepper.after_actions(state, chosen)
            _, _, terminated, truncated, info = self.env.step(chosen)  # type: ignore[arg-type]
        loss = float(self._values.of_states(state) - self._values.of_afterstates(after))
        self._regret += loss
        question = self._next_question(info, terminated or truncated)
        of_answer = {"loss": loss, "regret": self._regret, "action": -1 if chosen is None else chosen}
        return question, 0.0 - loss, terminated, truncated, info | of_answer

    def _next_question(self, info: dict[str, Any], is_over: bool) -> str:
        self._info = info
        self.decision = None if is_over else decision_at(self._base.stepper, self._base.state)
        return "The turn is over." if self.decision is None else self.text.question(self.decision)
