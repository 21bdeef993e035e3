"""Ask each kind of agent about batches of states: functions, torch modules, and models with `predict`.

`player_of` makes a `Player` of any agent. What the agent sees is in `wrapped`.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.checks import check_bool
from stb_gym.games import Game
from stb_gym.measure.sb3_models import ModelNetwork, check_spaces, takes_masks
from stb_gym.measure.tensors import Masks, as_array, is_module, tensors_like
from stb_gym.measure.wrapped import AgentView
from stb_gym.messages import quoted

MEMORY = "the agent has a memory, and not only the position counts: use RegretMeter.sample or RecordRegret"


class Batch(NamedTuple):
    """What an agent is asked about.

    Attributes:
        observations: what the agent sees of B states.
        masks: [B, A] their legal actions.
        turns: [B] the number of the turn that each state belongs to, at play.
        begins: [B] whether each is the first of its turn, at play.
    """

    observations: Any
    masks: Masks
    turns: IntArray | None = None
    begins: Masks | None = None


class Player(ABC):
    """An agent of one kind, which answers for batches of states.

    Attributes:
        game: the rules.
        masked: whether the agent receives masks or is masked.
    """

    def __init__(self, game: Game, masked: bool):
        self.game = game
        self.masked = masked

    @property
    def remembers(self) -> bool:
        """Whether the last answer came with a memory. Then every question must be about all games."""
        return False

    @abstractmethod
    def answer(self, batch: Batch) -> Any:
        """Return the agent's actions or probabilities, which are not checked yet."""

    def __call__(
        self, observations: Any, masks: Masks, turns: IntArray | None = None, begins: Masks | None = None
    ) -> NDArray[Any]:
        """Return the actions [B] of the agent, or its probabilities [B, A], for the fields of a `Batch`.

        Raises:
            TypeError: if the answer has a wrong type.
            ValueError: if it has a wrong shape or range.
        """
        batch = Batch(observations, masks, turns, begins)
        return checked_answer(self.answer(batch), len(masks), self.game)


def player_of(
    agent: Any, view: AgentView, deterministic: bool = True, masked: bool | None = None, at_play: bool = False
) -> Player:
    """Return the player of an agent.

    Args:
        agent: any of those that `stb_gym.RegretMeter` describes.
        view: what the agent sees.
        deterministic: whether a torch module or a model with `predict` plays its best action, or samples.
        masked: whether a torch module or a model chooses among legal actions only; see `stb_gym.RegretMeter`.
        at_play: whether the states follow each other in turns. Then the agent may remember earlier ones, and draw its
            actions itself.

    Raises:
        TypeError: if it is not an agent.
        ValueError: if the agent was made for other observations or actions, does not reveal its probabilities, or
            cannot be masked so.
    """
    if isinstance(agent, type) or not (callable(agent) or hasattr(agent, "predict")):
        raise TypeError(
            "an agent must be a function of (observations, masks), a torch module, or a model with "
            f"stable-baselines3's predict, not a {type(agent).__name__}"
        )
    check_bool("deterministic", deterministic)
    if not isinstance(masked, bool | None):
        raise ValueError(f"masked must be True, False or None, not {quoted(masked)}")
    networks: list[Any] = [agent, getattr(agent, "policy", None)]
    for network in networks:
        if is_module(network) and not all(bool(weights.isfinite().all()) for weights in network.parameters()):
            raise ValueError("the agent has weights that are infinite or not a number")
    if hasattr(agent, "predict"):
        return _player_of_model(agent, view, deterministic, masked, at_play)
    if is_module(agent):
        return ModulePlayer(agent, view.game, deterministic, masked)
    return FunctionPlayer(agent, view.game, masked, at_play)


# Functions


class FunctionPlayer(Player):
    """A function of observations, and of masks and turns if it has arguments for them."""

    def __init__(self, function: Callable[..., Any], game: Game, masked: bool | None, at_play: bool):
        super().__init__(game, has_mask_argument(function))
        self._function = function
        self._takes_turns = "turns" in _arguments(function)
        if masked not in (None, self.masked):
            raise ValueError(
                "masked is for torch modules and models with predict: a function receives masks if it has a second "
                "argument for them"
            )
        if self._takes_turns and not at_play:
            raise ValueError(MEMORY)

    def answer(self, batch: Batch) -> Any:
        """Return what the function returns."""
        named = {"turns": batch.turns} if self._takes_turns else {}
        return self._function(batch.observations, *([batch.masks] if self.masked else []), **named)


def _arguments(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the arguments of a function by name, without those of `*args` and `**kwargs`."""
    try:
        arguments = signature(function).parameters
    except ValueError:  # functions that torch has traced have none
        return {}
    kinds = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {name: argument for name, argument in arguments.items() if argument.kind not in kinds}


def has_mask_argument(function: Callable[..., Any]) -> bool:
    """Return whether the second positional argument has no default or has "mask" in its name."""
    positional = [each for each in _arguments(function).values() if each.kind != Parameter.KEYWORD_ONLY]
    second = [argument for argument in positional if argument.name != "turns"][1:2]
    return any(argument.default is Parameter.empty or "mask" in argument.name for argument in second)


# Torch modules


class ModulePlayer(Player):
    """A torch module that returns scores; it plays the greatest, or samples by the softmax."""

    def __init__(self, module: Any, game: Game, deterministic: bool, masked: bool | None):
        super().__init__(game, bool(masked))
        if getattr(module.forward, "__func__", None) is sys.modules["torch"].nn.Module.forward:  # which only raises
            raise TypeError(
                f"{type(module).__name__} has no forward: pass the module inside it that scores the actions, or a "
                "function from observations to actions or probabilities"
            )
        self._module = module
        self._deterministic = deterministic
        self._may_be_illegal = masked is not None

    def answer(self, batch: Batch) -> Any:
        """Return the actions [B] of the greatest scores, or the softmax [B, A] over the scores."""
        masks = batch.masks
        training = [part for part in self._module.modules() if part.training]
        self._module.eval()
        try:
            with sys.modules["torch"].no_grad():
                scores = as_array(module_scores(self._module, batch.observations, masks))
        finally:
            for part in training:
                part.training = True
        if scores.shape != masks.shape:
            raise ValueError(f"a torch module must return scores of shape {masks.shape}, not {scores.shape}")
        allowed = np.where(masks, scores, -np.inf).astype(float) if self.masked else scores.astype(float)
        greatest = allowed.max(axis=1, keepdims=True)
        if np.isnan(scores).any() or not np.isfinite(greatest).all():
            raise ValueError("a torch module returned scores that are not a number, or infinite")
        weights = np.exp(allowed - greatest)
        chances = weights / weights.sum(axis=1, keepdims=True)
        actions = allowed.argmax(axis=1)
        is_illegal = ~masks[np.arange(len(masks)), actions] if self._deterministic else (chances * ~masks).any(axis=1)
        if is_illegal.any() and not self._may_be_illegal:
            raise ValueError(
                f"the module chooses illegal actions at {np.count_nonzero(is_illegal)} of {len(masks)} positions: say "
                "masked=True if it plays the best legal action instead, or masked=False"
            )
        return actions if self._deterministic else chances


def module_scores(module: Any, observations: Any, masks: Masks) -> Any:
    """Return the scores [B, A] that a torch module gives, such as logits or Q-values: a tensor with gradients."""
    positional = [tensors_like(module, observations)]
    if has_mask_argument(module.forward):
        positional.append(tensors_like(module, masks).bool())
    output = module(*positional)
    return getattr(output, "logits", output)


# Models with stable-baselines3's `predict`


class ModelPlayer(Player):
    """A model that plays what its `predict` returns."""

    def __init__(self, model: Any, game: Game, deterministic: bool, masked: bool, at_play: bool):
        super().__init__(game, masked)
        self._predict = model.predict
        self._deterministic = deterministic
        self._at_play = at_play
        self._memory: Any = None

    @property
    def remembers(self) -> bool:
        """Whether the last answer came with a memory. Then every question must be about all games."""
        return self._memory is not None

    def answer(self, batch: Batch) -> Any:
        """Return the actions that the model predicts."""
        named: dict[str, Any] = {"action_masks": batch.masks} if self.masked else {}
        if self._at_play and "episode_start" in signature(self._predict).parameters:
            named |= {"state": self._memory, "episode_start": batch.begins}
        prediction = self._predict(batch.observations, deterministic=self._deterministic, **named)
        if not (isinstance(prediction, tuple) and len(prediction) == 2):
            raise TypeError(f"predict must return (actions, states), not {type(prediction).__name__}")
        actions, self._memory = prediction
        if self.remembers and not self._at_play:
            raise ValueError(MEMORY)
        return actions


class ModelNetworkPlayer(Player):
    """A model whose network answers: with its probabilities, or with the best legal action."""

    def __init__(self, network: ModelNetwork, game: Game, deterministic: bool, masked: bool):
        super().__init__(game, masked)
        self._network = network
        self._deterministic = deterministic

    def answer(self, batch: Batch) -> Any:
        """Return the best legal actions [B], or the probabilities [B, A] with which the model samples."""
        if not self._deterministic:
            return self._network.probabilities(batch.observations, batch.masks if self.masked else None)
        return np.where(batch.masks, self._network.scores_in_play(batch.observations), -np.inf).argmax(axis=1)


def _player_of_model(model: Any, view: AgentView, deterministic: bool, masked: bool | None, at_play: bool) -> Player:
    """Return the player of a model; its network is asked where `predict` does not answer."""
    game = view.game
    check_spaces(model, game, view.space, view.is_normalised)
    network = ModelNetwork(model)
    predicts_masked = takes_masks(model.predict)
    masked = predicts_masked if masked is None else masked
    must_be_masked = masked and not predicts_masked
    if network.is_recurrent and not at_play:
        raise ValueError(MEMORY)
    if must_be_masked and not network.scores_actions:
        raise ValueError(f"the predict of a {type(model).__name__} takes no masks: measure it with masked=False")
    if network.reveals_probabilities and not deterministic:
        return ModelNetworkPlayer(network, game, deterministic, masked)
    if not deterministic and (must_be_masked or not at_play):
        raise ValueError(
            f"{type(model).__name__} does not reveal its probabilities: measure it with deterministic=True, as "
            "a function that returns them, or by `sample` with masked=False"
        )
    if must_be_masked:
        return ModelNetworkPlayer(network, game, deterministic, masked)
    return ModelPlayer(model, game, deterministic, masked, at_play)


def checked_answer(answer: Any, states: int, game: Game) -> NDArray[Any]:
    """Return an answer about B states as integers [B] or floats [B, A]; raise an error if it is neither."""
    answer = as_array(answer)
    actions = len(game.actions)
    if answer.ndim not in (1, 2) or len(answer) != states:
        raise ValueError(f"an agent must answer for each of {states} positions, not with shape {answer.shape}")
    if answer.dtype.kind not in ("iu" if answer.ndim == 1 else "fiub"):
        raise TypeError(f"an agent must answer with integers [B] or probabilities [B, A], not with type {answer.dtype}")
    if answer.ndim == 2:
        if answer.shape[1] != actions:
            raise ValueError(f"{game} has {actions} actions, but the agent answered with shape {answer.shape}")
        if (answer < 0).any() or not (abs(answer.sum(axis=1, dtype=float) - 1) <= 1e-5).all():
            raise ValueError("an agent must answer with actions [B], or with probabilities [B, A] that sum to 1")
        return answer.astype(float)
    if (outside := (answer < 0) | (answer >= actions)).any():
        raise ValueError(f"{game} has actions from 0 to {actions - 1}, but the agent answered {answer[outside][0]}")
    return answer.astype(np.int64)
