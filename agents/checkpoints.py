"""The network of a learner on disk: weights in safetensors, everything else in JSON; loading executes nothing."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from agents.config import Learner
from stb_gym.files import write_aside


def save_weights(path: Path, learner: Learner) -> None:
    """Write the weights of a learner's networks."""
    weights = {name: tensor.contiguous() for name, tensor in learner.policy.state_dict().items()}
    with write_aside(path) as aside:
        aside.write_bytes(save(weights))


def load_weights(path: Path, learner: Learner) -> None:
    """Read weights that `save_weights` wrote into a learner of the same configuration.

    Raises:
        ValueError: if the file is missing, is damaged, or does not fit the learner's networks.
    """
    try:
        weights = load_file(path)
    except FileNotFoundError:
        raise ValueError(f"there is no {path}") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged or no file of weights: {error}") from None
    wanted = learner.policy.state_dict()
    if {n: t.shape for n, t in weights.items()} != {n: t.shape for n, t in wanted.items()}:
        raise ValueError(f"{path} does not fit the networks of its configuration")
    if not all(torch.isfinite(tensor).all() for tensor in weights.values()):
        raise ValueError(f"{path} holds numbers that are not finite")
    learner.policy.load_state_dict(weights)
