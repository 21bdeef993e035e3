"""Read models of stable-baselines3 and sb3-contrib, and their wrappers, without importing either library."""

import sys
from inspect import signature
from typing import Any

from numpy.typing import NDArray

from stb_gym.arrays import BoolArray
from stb_gym.measure.tensors import as_array


def takes_masks(function: Any) -> bool:
    """Return whether `predict` or `get_distribution` has an argument `action_masks`, as those of MaskablePPO do."""
    return "action_masks" in signature(function).parameters


class ModelNetwork:
    """The network of a model: what it computes besides the actions of `predict`.

    Args:
        model: a model or its policy. It may be of another library that has `predict` alone.

    Attributes:
        module: the policy, a torch module.
        reveals_probabilities: whether it is an actor that depends on the observation alone.
        is_recurrent: whether it also depends on earlier observations.
        scores_actions: whether it has logits or Q-values.
        has_critic: whether it has values or Q-values.
    """

    def __init__(self, model: Any):
        self.module = getattr(model, "policy", model)
        has_distribution = hasattr(self.module, "get_distribution")
        self.is_recurrent = has_distribution and "lstm_states" in signature(self.module.get_distribution).parameters
        self.reveals_probabilities = has_distribution and not self.is_recurrent
        named = ("q_net", "quantile_net")
        self._values_by = next((name for name in named if getattr(self.module, name, None) is not None), "")
        self.scores_actions = self.reveals_probabilities or self._values_by != ""
        self.has_critic = hasattr(self.module, "predict_values") or self._values_by != ""

    def scores(self, observations: Any) -> Any:
        """Return the logits or Q-values [B, A] of B observations, a tensor with gradients."""
        tensors, _ = self.module.obs_to_tensor(observations)
        if self.reveals_probabilities:
            return self.module.get_distribution(tensors).distribution.logits
        inner = getattr(self.module, self._values_by)
        # An inner module without `predict` is a layer: then the network is the module itself.
        network = inner if hasattr(inner, "predict") else self.module
        values = network(tensors)
        return values.mean(dim=1) if self._values_by == "quantile_net" else values

    def scores_in_play(self, observations: Any) -> NDArray[Any]:
        """Return the same as an array, of the network as it plays and not as it trains."""
        self.module.set_training_mode(False)
        with sys.modules["torch"].no_grad():
            return as_array(self.scores(observations))

    def probabilities(self, observations: Any, masks: BoolArray | None) -> NDArray[Any]:
        """Return the probabilities [B, A] with which the model samples, among the legal actions if masks are given."""
        self.module.set_training_mode(False)
        takes = takes_masks(self.module.get_distribution)
        with sys.modules["torch"].no_grad():
            tensors, _ = self.module.obs_to_tensor(observations)
            named = {"action_masks": masks} if takes and masks is not None else {}
            chances = as_array(self.module.get_distribution(tensors, **named).distribution)
        if masks is not None and not takes:
            chances = chances * masks
            chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def critic(self, observations: Any) -> Any:
        """Return the values [B, 1] of an actor-critic, or the Q-values [B, A], as a tensor."""
        with sys.modules["torch"].no_grad():
            if hasattr(self.module, "predict_values"):
                return self.module.predict_values(self.module.obs_to_tensor(observations)[0])
            return self.scores(observations)
