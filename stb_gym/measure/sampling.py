"""Turns that an agent plays, with the exact loss of each of its choices."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.measure.losses import IntArray, Losses
from stb_gym.measure.sampled import SampledEvaluation

AT_ONCE = 4096  # turns that are played side by side
# From observations [B, O] and masks [B, A] to actions [B] or probabilities [B, A].
Ask = Callable[[NDArray[Any], NDArray[np.bool_]], NDArray[Any]]


def play(
    losses: Losses,
    ask: Ask,
    illegal: str,
    turns: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda played, turns: None,
) -> SampledEvaluation:
    """Play turns, each to its end.

    Args:
        losses: the game, and what choices lose in it.
        ask: the agent.
        illegal: an illegal action ends the turn with the worst score ("end"), or is refused ("raise").
        turns: how many.
        seed: of the dice, and of what is drawn from the agent's probabilities.
        progress: called now and then with the number of turns that were played, and of all.

    Raises:
        ValueError: if what the agent answers is no policy of the game.
    """
    dice, drawn = np.random.default_rng(seed).spawn(2)
    stepper, met = losses.stepper, []
    ends = np.empty(turns, np.int64)
    for first in range(0, turns, AT_ONCE):
        turn = np.arange(first, min(first + AT_ONCE, turns))
        state = np.full(len(turn), stepper.start)
        while True:
            node = stepper.nodes(state, dice.integers(stepper.throws, size=len(turn)))
            over = stepper.ending(node) > 0
            ends[turn[over]] = node[over]
            turn, node = turn[~over], node[~over]
            if not len(turn):
                break
            masks = stepper.masks(node).view(np.bool_)
            answer = ask(stepper.observe(node), masks.copy())
            _check(answer, masks, illegal, losses, node)
            action = answer if answer.ndim == 1 else _drawn(answer, drawn)
            met.append((turn, node, *losses.of(node, answer, action)))
            state = stepper.after(node, action)
        progress(min(first + AT_ONCE, turns), turns)
    return SampledEvaluation(losses, ends, *(np.concatenate(column) for column in zip(*met, strict=True)))


def _check(answer: NDArray[Any], masks: NDArray[np.bool_], illegal: str, losses: Losses, node: IntArray) -> None:
    """Refuse an answer about nodes [B] that is no policy, or takes an illegal action where that is refused."""
    total = answer.sum(axis=-1, dtype=float)
    faults = {
        "has a probability that is negative or not a number": answer.ndim == 2 and ~(answer >= 0).all(axis=1),
        "has probabilities that do not sum to 1": answer.ndim == 2 and abs(total - 1) > 1e-5,
        "takes an illegal action": illegal == "raise" and _is_illegal(answer, masks),
    }
    for fault, broken in faults.items():
        if np.any(broken):
            raise ValueError(f"the agent {fault} at {losses.stepper.describe(int(node[np.argmax(broken)]))}")


def _is_illegal(answer: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[B] whether actions [B] are illegal, or probabilities [B, A] have weight on an illegal one."""
    if answer.ndim == 1:
        return np.asarray(~masks[np.arange(len(masks)), answer])
    return np.asarray((answer > 0).any(axis=1, where=~masks))


def _drawn(chances: NDArray[Any], random: np.random.Generator) -> IntArray:
    """[B] an action of each row of probabilities [B, A]."""
    upper = chances.cumsum(axis=1, dtype=float)
    return (upper > random.random((len(upper), 1)) * upper[:, -1:]).argmax(axis=1)
