"""The meter: how far from perfect play is anybody's agent?"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, check_integer
from stb_gym.measure.agents import answers_of
from stb_gym.measure.losses import Losses, losses_of
from stb_gym.measure.sampled import SampledEvaluation
from stb_gym.measure.sampling import play
from stb_gym.measure.shown import Shown, rows
from stb_gym.solver import (
    BoardValues,
    Evaluation,
    Goal,
    Policy,
    Solution,
    checked_answer,
    fits,
    policy_of_answers,
    solve,
    solve_boards,
    task_of,
)

MOST_TURNS = 10**6


class RegretMeter:
    """Measures agents against perfect play. It solves once.

    A call asks the agent about every position, and is exact. `sample` lets it play turns and adds the exact loss of
    each of its choices, which is all that can be done where positions are hundreds of millions.

    An agent is handed observations [B, O] as its environment shows them, and masks [B, A] bool, of the B nodes that
    have a legal action. It is one of these:

    - a function of observations, and of masks if it has a second argument that must be given or is called a mask. It
      returns actions [B], or probabilities [B, A], as arrays, lists, tensors or a distribution with `probs`. One that
      draws its actions at random is measured by that one draw: return probabilities, or use `sample`;
    - a torch module, called in the same way with tensors of its own type and device, in evaluation mode and without
      gradients. It returns scores [B, A], such as logits or Q-values, or a distribution with `logits`. The legal
      action of the greatest score is played; if not deterministic, softmax over the legal ones;
    - anything with stable-baselines3's `predict`. Masks are handed over if it takes `action_masks`; without them it
      may take illegal actions. If not deterministic, an actor-critic policy is measured by its exact probabilities,
      and DQN with those of its `exploration_rate`.

    Args:
        what: a game, or the environment that the agent was made for, however wrapped: see `stb_gym.solve`. Wrappers
            that show more than the position, such as a stack of frames, and limits that truncate turns are refused. A
            wrapper of your own that changes what is seen is asked for it if it is a Gymnasium `ObservationWrapper`;
            what any other `step` and `reset` do to observations and actions is not known.
        objective: what is wanted; by default what the environment rewards, whatever wrappers make of rewards, and of a
            game "score".
        illegal: an illegal action ends the turn with the worst score ("end"), or is refused ("raise"); by default what
            the environment does, and of a game "end".

    Attributes:
        game: the rules.
        objective: the `Objective`.
        illegal: what an illegal action does.
        optimum: the `Solution` that agents are measured against; of boxes too large for arrays, `BoardValues`.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if another argument is not allowed, or what a wrapper shows depends on more than the position.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> meter = stb_gym.RegretMeter(gym.make("stb_gym/ShutTheBox-v0"))
        >>> round(meter(lambda observations, masks: masks.argmax(axis=1)).regret, 4)
        12.9927
        >>> round(meter(lambda observations, masks: masks / masks.sum(axis=1, keepdims=True)).value, 9)
        20.418812228
    """

    def __init__(self, what: Any, objective: Goal | None = None, illegal: str | None = None):
        of_game = "end" if isinstance(what, Game) else None
        self.game, self.objective, self.illegal = task_of(what, objective, of_game if illegal is None else illegal)
        self.optimum: Solution | BoardValues
        self.optimum = (solve if fits(self.game) else solve_boards)(self.game, self.objective)
        self._shown = Shown(what, self.game)
        if self._shown.numbers != len(self.game.observation_high):
            raise ValueError("the environment shows more than the position of a turn: measure rounds with a RoundMeter")

    def __call__(self, agent: Any, deterministic: bool = True) -> Evaluation:
        """Measure an agent exactly.

        Args:
            agent: see above.
            deterministic: whether a torch module or a model with `predict` plays its best action, or samples. A
                function says its probabilities itself.

        Raises:
            TypeError: if it is no agent, or its answer has a wrong type.
            ValueError: if it is one of other observations or actions, its answer is no policy of the game, or the game
                has too many positions.
        """
        return self.solution.evaluate(self.policy(agent, deterministic), self.illegal)

    def policy(self, agent: Any, deterministic: bool = True) -> Policy:
        """The policy of an agent: [N] actions or [N, A] probabilities, as `stb_gym.save_policy` stores it."""
        answers, (seen, masks) = answers_of(agent, deterministic, self._shown), self._decisions

        def ask(part: slice) -> Any:
            return answers(self._shown.now(rows(seen, part), masks[part]), masks[part].copy())

        return policy_of_answers(self.solution.tables, ask)

    def sample(
        self,
        agent: Any,
        turns: int = 10_000,
        seed: int = 0,
        deterministic: bool = True,
        progress: Callable[[int, int], None] = lambda played, turns: None,
    ) -> SampledEvaluation:
        """Measure an agent by turns that it plays, with the exact loss of each of its choices.

        Args:
            agent: see above.
            turns: how many, 2 or more.
            seed: of the dice, and of what is drawn from the agent's probabilities.
            deterministic: as above.
            progress: called now and then with the number of turns that were played, and of all.

        Raises:
            TypeError, ValueError: as above, at the positions that are met.

        Example:
            >>> import stb_gym
            >>> meter = stb_gym.RegretMeter(stb_gym.ShutTheBox())
            >>> found = meter.sample(lambda observations, masks: masks.argmax(axis=1), turns=10_000)
            >>> round(found.regret, 2), round(found.standard_error, 2)  # exactly 12.99
            (12.98, 0.03)
        """
        check_integer("turns", turns, 2, MOST_TURNS)
        check_integer("seed", seed, 0, 2**63 - 1)
        answers, shown = answers_of(agent, deterministic, self._shown), self._shown

        def ask(observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[Any]:
            return checked_answer(answers(shown(observations, masks), masks), len(masks), self.game)

        return play(self._losses, ask, self.illegal, turns, seed, progress)

    @property
    def is_exact(self) -> bool:
        """Whether an agent can be asked about every position."""
        return isinstance(self.optimum, Solution)

    @property
    def solution(self) -> Solution:
        """The optimum of a game that has arrays, by which agents are measured exactly.

        Raises:
            ValueError: of a game that has none, saying what to do instead.
        """
        if isinstance(self.optimum, Solution):
            return self.optimum
        raise ValueError(
            f"{self.game} has too many positions to ask an agent about each of them: let it play turns, by "
            "sample(agent, turns) of the meter or RegretCallback(meter, turns=...)"
        )

    @cached_property
    def _losses(self) -> Losses:
        return losses_of(self.optimum)

    @cached_property
    def _decisions(self) -> tuple[Any, NDArray[np.bool_]]:
        """What is shown of all nodes that have a legal action, as far as it stays the same, and their masks."""
        tables = self.solution.tables
        masks = tables.legal(tables.decisions)
        return self._shown.once(tables.observation[tables.decisions], masks), masks
