"""Ask each kind of agent about batches of states: functions, torch modules, and models with `predict`.

`player_of` makes a `Player` of any agent. What the agent sees is in `wrapped`.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, IntArray
from stb_gym.checks import check_bool
from stb_gym.games import Game
from stb_gym.measure.sb3_models import ModelNetwork, takes_masks
from stb_gym.measure.tensors import as_array, is_module, map_entries, tensors_like
from stb_gym.measure.wrapped import AgentView
from stb_gym.messages import quoted, reason, shortened

MEMORY = "the agent has a memory, and not only the position counts: use RegretMeter.sample or RecordRegret"


class Batch(NamedTuple):
    """What an agent is asked about.

    Attributes:
        observations: what the agent sees of B states.
        masks: [B, A] their legal actions.
        turns: [B] the number of the turn of each state, at play.
        begins: [B] whether each state is the first of its turn, at play.
    """

    observations: Any
    masks: BoolArray
    turns: IntArray | None = None
    begins: BoolArray | None = None


@dataclass
class Player(ABC):
    """An agent of one kind, which answers for batches of states.

    Attributes:
        game: the rules.
        masked: whether the agent receives masks or is masked.
        memory: the state that came with the agent's last answer. If it is not None, every batch must have all games.
    """

    game: Game
    masked: bool
    memory: Any = field(default=None, init=False)

    @abstractmethod
    def answer(self, batch: Batch) -> Any:
        """Return the agent's actions or probabilities, which are not checked yet."""

    def __call__(self, batch: Batch) -> NDArray[Any]:
        """Return the actions [B] of the agent as integers, or its probabilities [B, A] as floats.

        Raises:
            TypeError: if the answer has a wrong type.
            ValueError: if it has a wrong shape or range.
        """
        answer = as_array(self.answer(batch))
        states, actions = batch.masks.shape
        if answer.ndim not in (1, 2) or len(answer) != states:
            raise ValueError(f"an agent must answer for each of {states} positions, not with shape {answer.shape}")
        if answer.dtype.kind not in ("iu" if answer.ndim == 1 else "fiub"):
            raise TypeError(
                f"an agent must answer with integers [B] or probabilities [B, A], not with type {answer.dtype}"
            )
        if answer.ndim == 2:
            if answer.shape[1] != actions:
                raise ValueError(f"{self.game} has {actions} actions, but the agent answered with shape {answer.shape}")
            is_half = answer.dtype == np.float16
            answer = answer.astype(float)
            sums = answer.sum(axis=1, keepdims=True)
            if (answer < 0).any() or not (abs(sums - 1) <= (5e-3 if is_half else 1e-5)).all():
                raise ValueError("an agent must answer with actions [B], or with probabilities [B, A] that sum to 1")
            return answer / sums if is_half else answer
        if (outside := (answer < 0) | (answer >= actions)).any():
            raise ValueError(
                f"{self.game} has actions from 0 to {actions - 1}, but the agent answered {answer[outside][0]}"
            )
        return answer.astype(np.int64)


def player_of(
    agent: Any, view: AgentView, deterministic: bool = True, masked: bool | None = None, at_play: bool = False
) -> Player:
    """Return the player of an agent.

    Args:
        agent: an agent as `stb_gym.RegretMeter` describes it.
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
        return ModulePlayer(view.game, bool(masked), agent, deterministic, masked is not None)
    takes_turns = "turns" in arguments_of(agent)
    if takes_turns and not at_play:
        raise ValueError(MEMORY)
    receives_masks = has_mask_argument(agent)
    if masked not in (None, receives_masks):
        raise ValueError(
            "masked is for torch modules and models with predict: a function receives masks if it has a second "
            "argument for them"
        )
    return FunctionPlayer(view.game, receives_masks, agent, takes_turns)


# Functions


@dataclass
class FunctionPlayer(Player):
    """A function of observations, and of masks and turns if it has arguments for them."""

    function: Callable[..., Any]
    takes_turns: bool

    def answer(self, batch: Batch) -> Any:
        """Return what the function returns."""
        named = {"turns": batch.turns} if self.takes_turns else {}
        return self.function(batch.observations, *([batch.masks] if self.masked else []), **named)


def arguments_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the arguments of a function by name, without those of `*args` and `**kwargs`."""
    try:
        arguments = signature(function).parameters
    except ValueError:  # functions that torch has traced have none
        return {}
    kinds = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {name: argument for name, argument in arguments.items() if argument.kind not in kinds}


def has_mask_argument(function: Callable[..., Any]) -> bool:
    """Return whether the second positional argument has no default or has "mask" in its name."""
    positional = [each for each in arguments_of(function).values() if each.kind != Parameter.KEYWORD_ONLY]
    second = [argument for argument in positional if argument.name != "turns"][1:2]
    return any(argument.default is Parameter.empty or "mask" in argument.name for argument in second)


# Torch modules


@dataclass
class ModulePlayer(Player):
    """A torch module that returns scores; it plays the greatest, or samples by the softmax."""

    module: Any
    deterministic: bool
    may_be_illegal: bool

    def __post_init__(self) -> None:
        plain = sys.modules["torch"].nn.Module.forward  # only raises an error
        if getattr(self.module.forward, "__func__", None) is plain:
            raise TypeError(
                f"{type(self.module).__name__} has no forward: pass the module inside it that scores the actions, or a "
                "function from observations to actions or probabilities"
            )

    def answer(self, batch: Batch) -> Any:
        """Return the actions [B] of the greatest scores, or the softmax [B, A] over the scores."""
        masks = batch.masks
        try:
            with sys.modules["torch"].no_grad():
                output = module_scores(self.module, batch.observations, masks)
        except Exception as error:
            shapes = map_entries(np.shape, batch.observations)
            raise TypeError(
                f"the module fails on observations of shape {shapes} ({shortened(reason(error))}): pass the part of it "
                "that takes these, or a function that calls it"
            ) from error
        if isinstance(output, tuple | dict):
            raise TypeError(
                f"the module returned a {type(output).__name__}, not scores [B, A]: pass the part of it that returns "
                "them, or a function that calls it"
            )
        scores = as_array(output.double() if hasattr(output, "double") else output)
        if scores.shape != masks.shape:
            raise ValueError(f"a torch module must return scores of shape {masks.shape}, not {scores.shape}")
        allowed = np.where(masks, scores, -np.inf).astype(float) if self.masked else scores.astype(float)
        greatest = allowed.max(axis=1, keepdims=True)
        if np.isnan(scores).any() or not np.isfinite(greatest).all():
            raise ValueError("a torch module returned scores that are not a number, or infinite")
        weights = np.exp(allowed - greatest)
        chances = weights / weights.sum(axis=1, keepdims=True)
        actions = allowed.argmax(axis=1)
        is_illegal = ~masks[np.arange(len(masks)), actions] if self.deterministic else (chances * ~masks).any(axis=1)
        if is_illegal.any() and not self.may_be_illegal:
            raise ValueError(
                f"the module chooses illegal actions at {np.count_nonzero(is_illegal)} of {len(masks)} positions: say "
                "masked=True if it plays the best legal action instead, or masked=False"
            )
        return actions if self.deterministic else chances


def module_scores(module: Any, observations: Any, masks: BoolArray) -> Any:
    """Return the scores [B, A] that a torch module gives, such as logits or Q-values: a tensor with gradients.

    The module is in evaluation mode meanwhile: dropout would give other scores each time.
    """
    positional = [tensors_like(module, observations)]
    if has_mask_argument(module.forward):
        positional.append(tensors_like(module, masks).bool())
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        output = module(*positional)
    finally:
        for part in training:
            part.training = True
    return getattr(output, "logits", output)


# Models with stable-baselines3's `predict`


@dataclass
class ModelPlayer(Player):
    """A model that plays what its `predict` returns."""

    predict: Callable[..., Any]
    deterministic: bool
    at_play: bool

    def answer(self, batch: Batch) -> Any:
        """Return the actions that the model predicts."""
        named: dict[str, Any] = {"action_masks": batch.masks} if self.masked else {}
        if self.at_play and "episode_start" in signature(self.predict).parameters:
            named |= {"state": self.memory, "episode_start": batch.begins}
        prediction = self.predict(batch.observations, deterministic=self.deterministic, **named)
        if not (isinstance(prediction, tuple) and len(prediction) == 2):
            raise TypeError(f"predict must return (actions, states), not {type(prediction).__name__}")
        actions, self.memory = prediction
        if self.memory is not None and not self.at_play:
            raise ValueError(MEMORY)
        return actions


@dataclass
class ModelNetworkPlayer(Player):
    """A model whose network answers: with its probabilities, or with the best legal action."""

    network: ModelNetwork
    deterministic: bool

    def answer(self, batch: Batch) -> Any:
        """Return the best legal actions [B], or the probabilities [B, A] with which the model samples."""
        if not self.deterministic:
            return self.network.probabilities(batch.observations, batch.masks if self.masked else None)
        return np.where(batch.masks, self.network.scores_in_play(batch.observations), -np.inf).argmax(axis=1)


def _player_of_model(model: Any, view: AgentView, deterministic: bool, masked: bool | None, at_play: bool) -> Player:
    """Return the player of a model; its network is asked where `predict` does not answer."""
    game = view.game
    predicts_masked = takes_masks(model.predict)
    masked = predicts_masked if masked is None else masked
    view.check_model(model, masked)
    network = ModelNetwork(model)
    must_be_masked = masked and not predicts_masked
    if network.is_recurrent and not at_play:
        raise ValueError(MEMORY)
    if must_be_masked and not network.scores_actions:
        raise ValueError(f"the predict of a {type(model).__name__} takes no masks: measure it with masked=False")
    if network.reveals_probabilities and not deterministic:
        return ModelNetworkPlayer(game, masked, network, deterministic)
    if not deterministic and (must_be_masked or not at_play):
        raise ValueError(
            f"{type(model).__name__} does not reveal its probabilities: measure it with deterministic=True, as "
            "a function that returns them, or by `sample` with masked=False"
        )
    if must_be_masked:
        return ModelNetworkPlayer(game, masked, network, deterministic)
    return ModelPlayer(game, masked, model.predict, deterministic, at_play)
