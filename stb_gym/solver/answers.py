"""The policy of anything that answers when it is shown nodes: its answers are checked, and stand in one array."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, check_integer
from stb_gym.solver.compiling import compile_game
from stb_gym.solver.tables import Policy, TurnTables
from stb_gym.solver.task import task_of

Agent = Callable[[NDArray[np.uint8], NDArray[np.bool_]], Any]
AT_ONCE = 2**16  # nodes in one call


def policy_from(what: Any, agent: Agent, batch: int = AT_ONCE) -> Policy:
    """The policy array of any function of observations and masks, such as a network.

    `stb_gym.RegretMeter` takes other agents too, and shows them what a wrapped environment shows.

    Args:
        what: a game, or an environment of one, see `stb_gym.solve`.
        agent: called with observations [B, O] uint8 and masks [B, A] bool of nodes that have a legal action; returns
            actions [B] or probabilities [B, A], as arrays, lists, tensors or a distribution with `probs`.
        batch: the most nodes in one call.

    Returns:
        A policy of the form the agent returns.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one, or the agent no function, or the answer has a
            wrong type.
        ValueError: if the agent's answer is of another shape, or holds an action that there is not or scores below 0.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> mine = stb_gym.policy_from(game, lambda observations, masks: masks.argmax(axis=1))
        >>> round(stb_gym.evaluate(game, mine).regret, 4)
        12.9927
    """
    check_integer("batch", batch, 1, 2**31)
    tables = compile_game(task_of(what).game)
    if not callable(agent):
        raise TypeError(
            f"{agent!r:.80} is no function of (observations, masks): RegretMeter(...).policy(agent) takes models, too"
        )
    observations, masks = tables.observation[tables.decisions], tables.legal(tables.decisions)
    return policy_of_answers(tables, lambda part: agent(observations[part], masks[part]), batch)


def policy_of_answers(tables: TurnTables, ask: Callable[[slice], Any], batch: int = AT_ONCE) -> Policy:
    """The policy of an agent that is asked about the nodes that have a legal action, part by part.

    Args:
        tables: the arrays of the game.
        ask: given a slice of `tables.decisions`, what the agent answers there.
        batch: the most nodes in one part.

    Raises:
        TypeError, ValueError: as `policy_from` does.
    """
    nodes = len(tables.decisions)
    parts = [slice(first, min(first + batch, nodes)) for first in range(0, nodes, batch)]
    answers = [checked_answer(ask(part), part.stop - part.start, tables.game) for part in parts]
    return tables.policy(np.concatenate(answers))


def checked_answer(answer: Any, nodes: int, game: Game) -> NDArray[Any]:
    """What an agent answered about some nodes, as actions [B] or probabilities [B, A].

    Raises:
        TypeError, ValueError: as `policy_from` does.
    """
    answer, actions = as_array(answer), len(game.moves)
    if answer.ndim not in (1, 2) or len(answer) != nodes:
        raise ValueError(f"an agent asked about {nodes} nodes must answer each, not with shape {answer.shape}")
    if answer.dtype.kind not in "fiub":
        raise TypeError(f"an agent answers with numbers, not with type {answer.dtype}")
    if answer.ndim == 2:
        if answer.shape[1] != actions:
            raise ValueError(f"{game} has {actions} actions, but the agent answered with shape {answer.shape}")
        if (answer < 0).any():
            raise ValueError(
                f"an agent answers with actions [B] or probabilities [B, A], not with scores such as {answer.min():.4g}"
                ": take the legal action of the greatest"
            )
        return answer if answer.dtype.kind == "f" else answer.astype(float)
    if answer.dtype.kind not in "iu":
        raise TypeError(f"actions [B] are integers, not of type {answer.dtype}")
    if (outside := (answer < 0) | (answer >= actions)).any():
        raise ValueError(f"{game} has actions from 0 to {actions - 1}, but the agent answered {answer[outside][0]}")
    return answer.astype(np.int64)


def as_array(answer: Any) -> NDArray[Any]:
    """What an agent answered as an array: lists, tensors, and the probabilities of a distribution."""
    if isinstance(answer, tuple):
        raise TypeError(
            f"the agent returned a tuple of {len(answer)}, not actions [B] or probabilities [B, A]; "
            "predict returns (actions, states): did you forget [0]?"
        )
    answer = getattr(answer, "probs", answer)
    if getattr(answer, "requires_grad", False):
        raise TypeError("the agent's answer requires gradients: return it under torch.no_grad() or detached")
    if hasattr(answer, "cpu"):
        answer = answer.cpu().double() if answer.is_floating_point() else answer.cpu()
    return np.asarray(answer)
