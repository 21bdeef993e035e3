"""What an agent sees of the positions of a game, and what it answers.

`AgentView` shows positions as the agent's environment does, with all its wrappers. `Player` asks each kind of agent
about many positions at once, and checks its answers.

Nothing is imported from the libraries that agents come from. torch is looked up where an agent has imported it.
"""

import sys
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from inspect import Parameter, signature
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import AddRenderObservation
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.checks import check_bool
from stb_gym.envs import MaskInObservation, VectorMaskInObservation
from stb_gym.games import Game
from stb_gym.messages import quoted

Masks = NDArray[np.bool_]

# Modules of Gymnasium whose wrappers remember earlier steps.
STATEFUL_MODULES = ("stateful_observation", "stateful_action")
MEMORY = "the agent has a memory, and not only the position counts: use RegretMeter.sample or RecordRegret"


# What an agent sees


class AgentView:
    """Turns observations of the rules into what an agent sees through the wrappers of its environment.

    Args:
        env: an environment as `stb_gym.solve` takes it, or the game itself for its plain environment.
        game: the rules.

    Attributes:
        game: the rules.
        space: the observation space of a single environment, outside all wrappers.
        width: the length of an observation inside all wrappers.
        normalises: whether a wrapper of stable-baselines3 normalises observations.
        memory: why what the agent sees may depend on more than the position; "" if it does not.

    Raises:
        ValueError: if a wrapper truncates turns, or the wrappers are in other processes.
    """

    def __init__(self, env: Any, game: Game):
        layers = [] if env is game else layers_of(env)
        plain = gym.spaces.Box(0, np.array(game.observation_high), dtype=np.float32)
        if layers and not hasattr(layers[0], "stepper"):
            raise ValueError(
                f"{type(layers[0]).__name__} hides the wrappers of its environments: make the meter with one of these, "
                "or with a DummyVecEnv of them"
            )
        spaces = [_spaces(layer)[0] for layer in layers] or [plain]
        self.game = game
        self.space = spaces[-1]
        self.width = spaces[0].shape[0]
        self._dtype = spaces[0].dtype
        self.memory = next(filter(None, (_memory(outer, inside) for inside, outer in pairwise(layers))), "")
        self._wrappers = [outer for inside, outer in pairwise(layers) if _changes_observations(outer)]
        self.normalises = any(map(_normalises, self._wrappers))
        specs = [layer.spec for layer in layers if getattr(layer, "spec", None)]
        limits = [spec.max_episode_steps or spec.kwargs.get("max_episode_steps") for spec in specs]
        limit = min(filter(None, limits), default=None)
        if limit is not None and limit < layers[0].stepper.longest:
            raise ValueError(
                f"a turn may take {layers[0].stepper.longest} steps, but the environment truncates it after {limit}: "
                "make the meter with an environment without that limit"
            )

    def __call__(self, observations: NDArray[Any], masks: Masks) -> Any:
        """Return what the agent sees: new arrays with B rows, or a dictionary of them.

        Args:
            observations: [B, O] observations of the rules.
            masks: [B, A] their legal actions.

        Raises:
            ValueError: if it may depend on more than the position.
        """
        if self.memory:
            raise ValueError(
                f"{self.memory}: use RegretMeter.sample or RecordRegret, or a gym.ObservationWrapper, or make the "
                "meter with the environment inside it"
            )
        seen: Any = observations.astype(self._dtype)
        for wrapper in self._wrappers:
            seen = _seen_through(wrapper, seen, masks)
        return seen


def layers_of(env: Any) -> list[Any]:
    """Return the innermost environment and then each wrapper around it; of a vector environment, its first member."""
    layers = [env]
    while (inner := _inside(layers[0])) is not None:
        layers.insert(0, inner)
    return layers


def _inside(layer: Any) -> Any:
    """Unwrap one layer; return None if there is nothing inside."""
    attributes = getattr(layer, "__dict__", {})
    for name in ("env", "venv", "envs"):
        if (inner := attributes.get(name)) is not None:
            return inner[0] if isinstance(inner, list | tuple) else inner
    return layer.env_fns[0]() if "env_fns" in attributes else None  # of Gymnasium's AsyncVectorEnv


def _spaces(layer: Any) -> tuple[Any, Any]:
    """Return the spaces of the observations and of the actions of a single environment."""
    if hasattr(layer, "single_action_space"):
        return layer.single_observation_space, layer.single_action_space
    return layer.observation_space, layer.action_space


def _normalises(wrapper: Any) -> bool:
    return hasattr(type(wrapper), "normalize_obs")  # not of the wrapper itself, which has attributes of its inside


def _changes_observations(wrapper: Any) -> bool:
    plain = (MaskInObservation, VectorMaskInObservation, gym.ObservationWrapper, gym.vector.VectorObservationWrapper)
    return isinstance(wrapper, plain) or _normalises(wrapper)


def _memory(wrapper: Any, inside: Any) -> str:
    """Return why what a wrapper shows may depend on more than the position; "" if it does not."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation) or _normalises(wrapper):
        return ""
    kind = type(wrapper)
    plain = gym.ObservationWrapper
    observations, actions = _spaces(wrapper)
    observations_inside, actions_inside = _spaces(inside)
    if (
        actions != actions_inside
        or (not _changes_observations(wrapper) and observations != observations_inside)
        or isinstance(wrapper, gym.ActionWrapper | gym.vector.VectorActionWrapper | AddRenderObservation)
        or (isinstance(wrapper, plain) and (kind.step, kind.reset) != (plain.step, plain.reset))
        or any(base.__module__.endswith(STATEFUL_MODULES) for base in kind.__mro__)
    ):
        return f"what {kind.__name__} shows may depend on more than the position"
    return ""


def _seen_through(wrapper: Any, seen: Any, masks: Masks) -> Any:
    """Return what a wrapper makes of the observations of B states."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation):
        return wrapper.together(seen, masks.astype(np.int8))
    if _normalises(wrapper):
        return wrapper.normalize_obs(seen)
    if isinstance(wrapper, gym.ObservationWrapper):
        rows = [_each(itemgetter(state), seen) for state in range(len(masks))]
        return joined([deepcopy(wrapper.observation(row)) for row in rows], np.stack)
    # A vector wrapper is shown as many observations at a time as it has environments; the last one fills up the rest.
    count = wrapper.num_envs
    states = np.arange(-(-len(masks) // count) * count).clip(max=len(masks) - 1)
    batches = [_each(itemgetter(batch), seen) for batch in states.reshape(-1, count)]
    seen = joined([deepcopy(wrapper.observations(batch)) for batch in batches], np.concatenate)
    return _each(itemgetter(slice(len(masks))), seen)


def joined(parts: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Join observations into one array, by entry of a dictionary."""
    if isinstance(parts[0], dict):
        return {name: joined([part[name] for part in parts], join) for name in parts[0]}
    return join(parts)


def _each(function: Callable[[Any], Any], entry: Any) -> Any:
    """Apply a function to an array or a space, or to each entry of a dictionary of them."""
    if isinstance(entry, dict | gym.spaces.Dict):
        return {name: _each(function, inner) for name, inner in entry.items()}
    return function(entry)


# What it answers


class Player:
    """Ask an agent about many positions at once and check its answers.

    Args:
        agent: any of those that `stb_gym.RegretMeter` describes.
        view: what the agent sees.
        deterministic: whether a torch module or a model with `predict` plays its best action, or samples.
        masked: whether a torch module or a model chooses among legal actions only; see `stb_gym.RegretMeter`.
        at_play: whether the positions follow each other in turns. Then the agent may remember earlier ones, and draw
            its actions itself.

    Attributes:
        masked: whether the agent receives masks or is masked.
        remembers: whether its last answer came with a state. Then every question must be about all games.

    Raises:
        TypeError: if it is not an agent.
        ValueError: if the agent was made for other observations or actions, does not reveal its probabilities, or
            cannot be masked so.
    """

    def __init__(
        self, agent: Any, view: AgentView, deterministic: bool = True, masked: bool | None = None, at_play: bool = False
    ):
        if isinstance(agent, type) or not (callable(agent) or hasattr(agent, "predict")):
            raise TypeError(
                "an agent must be a function of (observations, masks), a torch module, or a model with "
                f"stable-baselines3's predict, not a {type(agent).__name__}"
            )
        check_bool("deterministic", deterministic)
        if not isinstance(masked, bool | None):
            raise ValueError(f"masked must be True, False or None, not {quoted(masked)}")
        network = getattr(agent, "policy", agent)
        if is_module(network) and not all(bool(weights.isfinite().all()) for weights in network.parameters()):
            raise ValueError("the agent has weights that are infinite or not a number")
        self._agent = agent
        self._game = view.game
        self._deterministic = deterministic
        self._at_play = at_play
        self._state: Any = None
        if hasattr(agent, "predict"):
            _check_spaces(agent, view)
            takes = "action_masks" in signature(agent.predict).parameters
            reveals = hasattr(network, "get_distribution")
            recurrent = reveals and "lstm_states" in signature(network.get_distribution).parameters
            self.masked = takes if masked is None else masked
            self._ask = self._predict
            if recurrent and not at_play:
                raise ValueError(MEMORY)
            if self.masked and not takes and (recurrent or score_function(network) is None):
                raise ValueError(
                    f"the predict of a {type(agent).__name__} takes no masks: measure it with masked=False"
                )
            if not deterministic and reveals and not recurrent:
                self._ask = self._probabilities
            elif not deterministic and (self.masked > takes or not at_play):
                raise ValueError(
                    f"{type(agent).__name__} does not reveal its probabilities: measure it with deterministic=True, as "
                    "a function that returns them, or by `sample` with masked=False"
                )
            elif self.masked and not takes:
                self._ask = self._best_legal
        elif is_module(agent):
            if getattr(agent.forward, "__func__", None) is sys.modules["torch"].nn.Module.forward:  # which only raises
                raise TypeError(
                    f"{type(agent).__name__} has no forward: pass the module inside it that scores the actions, or a "
                    "function from observations to actions or probabilities"
                )
            self.masked = bool(masked)
            self._is_said = masked is not None
            self._takes_masks = _takes_masks(agent.forward)
            self._ask = self._choose
        else:
            self.masked = self._takes_masks = _takes_masks(agent)
            self._takes_turns = "turns" in _arguments(agent)
            if masked not in (None, self.masked):
                raise ValueError(
                    "masked is for torch modules and models with predict: a function receives masks if it has a second "
                    "argument for them"
                )
            if self._takes_turns and not at_play:
                raise ValueError(MEMORY)
            self._ask = self._call

    @property
    def remembers(self) -> bool:
        """Whether the last answer came with a state; see the class."""
        return self._state is not None

    def __call__(
        self, observations: Any, masks: Masks, turns: IntArray | None = None, begins: Masks | None = None
    ) -> NDArray[Any]:
        """Return the actions [B] of the agent, or its probabilities [B, A].

        Args:
            observations: what the agent sees of B positions.
            masks: [B, A] their legal actions.
            turns: [B] the number of the turn that each position belongs to, at play.
            begins: [B] whether each is the first of its turn, at play.

        Raises:
            TypeError: if the answer has a wrong type.
            ValueError: if it has a wrong shape or range.
        """
        return _checked(self._ask(observations, masks, turns, begins), len(masks), self._game)

    def _call(self, observations: Any, masks: Masks, turns: Any, begins: Any) -> Any:
        """Return what a function returns."""
        named = {"turns": turns} if self._takes_turns else {}
        return self._agent(observations, *([masks] if self._takes_masks else []), **named)

    def _predict(self, observations: Any, masks: Masks, turns: Any, begins: Any) -> Any:
        """Return the actions that a model predicts."""
        predict = self._agent.predict
        named = {"action_masks": masks} if self.masked else {}
        if self._at_play and "episode_start" in signature(predict).parameters:
            named |= {"state": self._state, "episode_start": begins}
        prediction = predict(observations, deterministic=self._deterministic, **named)
        if not (isinstance(prediction, tuple) and len(prediction) == 2):
            raise TypeError(f"predict must return (actions, states), not {type(prediction).__name__}")
        actions, self._state = prediction
        if self.remembers and not self._at_play:
            raise ValueError(MEMORY)
        return actions

    def _probabilities(self, observations: Any, masks: Masks, turns: Any, begins: Any) -> Any:
        """Return the probabilities with which a model samples."""
        policy = getattr(self._agent, "policy", self._agent)
        takes = "action_masks" in signature(policy.get_distribution).parameters
        policy.set_training_mode(False)
        with sys.modules["torch"].no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            named = {"action_masks": masks} if takes and self.masked else {}
            chances = as_array(policy.get_distribution(tensors, **named).distribution)
        if self.masked and not takes:
            chances = chances * masks
            chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def _best_legal(self, observations: Any, masks: Masks, turns: Any, begins: Any) -> Any:
        """Return the legal actions of the greatest logits or Q-values of a model whose `predict` takes no masks."""
        policy = getattr(self._agent, "policy", self._agent)
        policy.set_training_mode(False)
        scores_of = score_function(policy)
        assert scores_of is not None
        with sys.modules["torch"].no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            scores = as_array(scores_of(tensors))
        return np.where(masks, scores, -np.inf).argmax(axis=1)

    def _choose(self, observations: Any, masks: Masks, turns: Any, begins: Any) -> Any:
        """Return the actions of a torch module's greatest scores, or the softmax [B, A] over its scores."""
        module = self._agent
        tensors = tensors_like(module, observations)
        training = [part for part in module.modules() if part.training]
        module.eval()
        try:
            with sys.modules["torch"].no_grad():
                scores = as_array(module_scores(module, tensors, masks))
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
        if is_illegal.any() and not self._is_said:
            raise ValueError(
                f"the module chooses illegal actions at {np.count_nonzero(is_illegal)} of {len(masks)} positions: say "
                "masked=True if it plays the best legal action instead, or masked=False"
            )
        return actions if self._deterministic else chances


def tensors_like(module: Any, observations: Any) -> Any:
    """Return observations as tensors of the type and device of a torch module's parameters."""
    torch: Any = sys.modules["torch"]
    like = next((weight for weight in module.parameters() if weight.is_floating_point()), torch.zeros(()))
    return _each(lambda entry: torch.as_tensor(entry).to(like), observations)


def module_scores(module: Any, tensors: Any, masks: Masks) -> Any:
    """Return the scores [B, A] that a torch module gives, such as logits or Q-values."""
    named = [tensors_like(module, masks).bool()] if _takes_masks(module.forward) else []
    output = module(tensors, *named)
    return getattr(output, "logits", output)


def is_module(agent: Any) -> bool:
    """Return whether an agent is a torch module."""
    return "torch" in sys.modules and isinstance(agent, sys.modules["torch"].nn.Module)


def _arguments(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the arguments that may be named or counted."""
    try:
        arguments = signature(function).parameters
    except ValueError:  # functions that torch has traced have none
        return {}
    kinds = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {name: argument for name, argument in arguments.items() if argument.kind not in kinds}


def _takes_masks(function: Callable[..., Any]) -> bool:
    """Return whether the second positional argument has no default or has "mask" in its name."""
    counted = [each for each in _arguments(function).values() if each.kind != Parameter.KEYWORD_ONLY]
    second = [argument for argument in counted if argument.name != "turns"][1:2]
    return any(argument.default is Parameter.empty or "mask" in argument.name for argument in second)


def score_function(policy: Any) -> Callable[[Any], Any] | None:
    """Return the function from tensors to logits or Q-values of a policy of stable-baselines3; None if it has none."""
    if hasattr(policy, "get_distribution"):
        return lambda tensors: policy.get_distribution(tensors).distribution.logits
    for name in ("q_net", "quantile_net"):
        if (inner := getattr(policy, name, None)) is not None:
            network = inner if hasattr(inner, "predict") else policy  # which is the network, with layers inside
            return partial(_mean_quantiles, network) if name == "quantile_net" else network
    return None


def _mean_quantiles(network: Any, tensors: Any) -> Any:
    return network(tensors).mean(dim=1)


def _check_spaces(agent: Any, view: AgentView) -> None:
    """Raise ValueError if a model was made for other observations or actions than those of the meter."""
    actions = getattr(agent, "action_space", None)
    observations = getattr(agent, "observation_space", None)
    allowed = len(view.game.actions)
    if actions is not None and not (isinstance(actions, gym.spaces.Discrete) and actions.n == allowed):
        raise ValueError(f"{view.game} has {allowed} actions, but the agent chooses from {quoted(actions)}")
    shown = _each(attrgetter("shape"), view.space)
    if observations is not None and (expected := _each(attrgetter("shape"), observations)) != shown:
        raise ValueError(
            f"the agent observes {expected}, but the meter shows {shown}: make the meter with the agent's environment"
        )
    normalising = getattr(agent, "get_vec_normalize_env", lambda: None)()
    if normalising is not None and getattr(normalising, "norm_obs", True) and not view.normalises:
        raise ValueError("the agent's observations are normalised: make the meter with its VecNormalize environment")


def _checked(answer: Any, states: int, game: Game) -> NDArray[Any]:
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


def as_array(answer: Any) -> NDArray[Any]:
    """Return lists, tensors, or the probabilities of a distribution as an array."""
    if isinstance(answer, tuple):
        raise TypeError(
            f"the agent returned a tuple of {len(answer)}, not one array; predict returns (actions, states): did you "
            "forget [0]?"
        )
    answer = getattr(answer, "probs", answer)
    if getattr(answer, "requires_grad", False):
        raise TypeError("the agent's answer requires gradients: return it under torch.no_grad() or detached")
    if hasattr(answer, "cpu"):
        answer = answer.cpu().double() if answer.is_floating_point() else answer.cpu()
    return np.asarray(answer)
