"""The meter: how far from perfect play is anybody's agent, exactly?"""

from typing import Any

from stb_gym.exact import Evaluation, Goal, Policy, policy_of_answers, solve, task_of
from stb_gym.games import Game
from stb_gym.measure.agents import answers_of
from stb_gym.measure.shown import Shown


class RegretMeter:
    """Measures agents exactly against perfect play. It solves once; a call asks the agent about every position.

    An agent is handed observations [B, O] as its environment shows them, and masks [B, A] bool, of the B nodes that
    have a legal action. It is one of these:

    - a function of observations, and of masks if it has a second argument that must be given or is called a mask. It
      returns actions [B], or probabilities [B, A], as arrays, lists, tensors or a distribution with `probs`;
    - a torch module, called in the same way with tensors of its own type and device, in evaluation mode and without
      gradients. It returns scores [B, A], such as logits or Q-values, or a distribution with `logits`. The legal
      action of the greatest score is played; if not deterministic, softmax over the legal ones;
    - anything with stable-baselines3's `predict`. Masks are handed over if it takes `action_masks`; without them it
      may take illegal actions. If not deterministic, an actor-critic policy is measured by its exact probabilities,
      and DQN with those of its `exploration_rate`.

    Args:
        what: a game, or the environment that the agent was made for, however wrapped: see `stb_gym.solve`. Wrappers
            that show more than the position, such as a stack of frames, are refused.
        objective: what is wanted; by default what the environment rewards, and of a game "score".
        illegal: an illegal action ends the turn with the worst score ("end"), or is refused ("raise"); by default what
            the environment does, and of a game "end".

    Attributes:
        game: the rules.
        objective: the `Objective`.
        illegal: what an illegal action does.
        optimum: the `Solution` that agents are measured against.

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
        self.optimum = solve(self.game, self.objective)
        self._shown = Shown(what, self.optimum.tables)

    def __call__(self, agent: Any, deterministic: bool = True) -> Evaluation:
        """Measure an agent.

        Args:
            agent: see above.
            deterministic: whether a torch module or a model with `predict` plays its best action, or samples. A
                function says its probabilities itself.

        Raises:
            TypeError: if it is no agent, or its answer has a wrong type.
            ValueError: if it is one of other observations or actions, or its answer is no policy of the game.
        """
        return self.optimum.evaluate(self.policy(agent, deterministic), self.illegal)

    def policy(self, agent: Any, deterministic: bool = True) -> Policy:
        """The policy of an agent: [N] actions or [N, A] probabilities, as `stb_gym.save_policy` stores it."""
        answers = answers_of(agent, deterministic, self.game, self._shown)
        shown, masks = self._shown, self._shown.masks
        return policy_of_answers(self.optimum.tables, lambda part: answers(shown(part), masks[part].copy()))
