"""How the games of a vector environment ended, in the form that Gymnasium's own vector environments tell it.

Every key has a mask `_key` of the games that have it, and the others have zeros there. Where no game has it, there is
no key.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.stepping import Stepper
from stb_gym.games import IntArray


def endings(stepper: Stepper, node: IntArray, over: NDArray[np.bool_]) -> dict[str, Any]:
    """The final scores of the games that are over, and whether illegal actions ended them.

    Args:
        stepper: of the game.
        node: [B] where the games are.
        over: [B] True where a turn is over.
    """
    if not np.count_nonzero(over):  # several times faster than `any`
        return {}
    return {
        "final_score": stepper.final_score.take(node),
        "_final_score": over.copy(),
        "illegal_action": node == stepper.forfeit,
        "_illegal_action": over.copy(),
    }


def final_infos(stepper: Stepper, node: IntArray, over: NDArray[np.bool_], ended: NDArray[np.bool_]) -> dict[str, Any]:
    """How games ended that begin anew in the same step.

    Args:
        stepper: of the game.
        node: [B] where the games were.
        over: [B] True where a turn is over.
        ended: [B] True where it is over or truncated.
    """
    if over is ended:
        # One zero, to be read in every place: new rows of zeros in each step could take longer than all the rest.
        masks = np.ndarray((len(node), stepper.actions), np.int8, b"\0", strides=(0, 0))
    else:
        masks = stepper.action_mask.take(node, axis=0) * ended[:, None]
    final_info = {**endings(stepper, node, over), "action_mask": masks, "_action_mask": ended.copy()}
    return {
        "final_obs": stepper.observation.take(node, axis=0),
        "_final_obs": ended.copy(),
        "final_info": final_info,
        "_final_info": ended.copy(),
    }
