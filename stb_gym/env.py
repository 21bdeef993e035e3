"""One turn as a Gymnasium environment."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym import render
from stb_gym.game import ILLEGAL, Game, check_choice, make_game, throw_faces
from stb_gym.policy import node_of
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.threes import Threes
from stb_gym.transitions import Transitions, transitions

Observation = NDArray[np.uint8]
RENDER_MODES = ["ansi", "rgb_array"]
THROWS_AT_ONCE = 1024


class TurnEnv(gym.Env[Observation, np.int64]):
    """One turn of a game; see `ShutTheBoxEnv` and `ThreesEnv` for the rules.

    Attributes:
        game: the rules object.
        objective: name of the objective.
        transitions: the tables the environment steps through.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012

    def __init__(self, game: Game, objective: str, illegal: str, render_mode: str | None):
        check_choice("treatment of illegal actions", illegal, ILLEGAL)
        check_choice("render mode", render_mode, [None, *RENDER_MODES])
        self.game = game
        self.objective = objective
        self.render_mode = render_mode
        self.transitions = transitions(game, objective)
        self.observation_space = gym.spaces.Box(0, game.observation_high, dtype=np.uint8)
        self.action_space = gym.spaces.Discrete(self.transitions.actions)
        self._raises = illegal == "raise"
        self._node = self.transitions.tables.nodes
        self._over = True
        self._throw = 0
        self._throws: list[int] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a turn with the first throw, or where `options` says.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move.
        """
        if seed is not None:
            super().reset(seed=seed)
            self._throws = []
        tables = self.transitions
        if options:
            state, throws = tables.beginnings(options)
            throw = int(self.np_random.choice(throws))
        else:
            state, throw = tables.tables.start, (self._throws or self._throw_ahead()).pop()
        _, node_of_throw, nodes, _ = tables.single
        self._throw, self._over = throw, False
        self._node = node = node_of_throw[state * tables.throws + throw]
        observation, action_mask, _ = nodes[node]
        return observation(), {"action_mask": action_mask()}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is no integer.
            RuntimeError: if the turn is over.
        """
        if self._over:
            raise RuntimeError("the turn is over: call reset()")
        first_throw, node_of_throw, nodes, actions = self.transitions.single
        # Any integer type will do; what is none fails here or as an index, with a TypeError.
        if not 0 <= action < actions:
            raise ValueError(f"action must be from 0 to {actions - 1}, not {action}")
        throw = (self._throws or self._throw_ahead()).pop()
        node = node_of_throw[first_throw[self._node, action] + throw]
        observation, action_mask, end = nodes[node]
        if end is None:
            self._node, self._throw = node, throw
            return observation(), 0.0, False, False, {"action_mask": action_mask()}
        reward, final_score, illegal = end
        if illegal and self._raises:
            self._throws.append(throw)
            raise ValueError(f"action {action} is illegal at {self.transitions.tables.describe_node(self._node)}")
        self._node, self._throw, self._over = node, throw, True
        info = {"action_mask": action_mask(), "final_score": final_score, "illegal_action": illegal}
        return observation(), reward, True, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] True = legal: the mask of the last info, as sb3-contrib asks for it."""
        return self.transitions.action_mask[self._node].astype(np.bool_)

    def node(self, observation: NDArray[Any]) -> Any:
        """The node of an observation [O], or the nodes [B] of a batch [B, O], in the arrays of the game."""
        return node_of(self.transitions.tables, np.asarray(observation))

    def render(self) -> Any:
        """The position as text ("ansi") or as a picture [H, W, 3] uint8 ("rgb_array")."""
        return draw(self.transitions, self._node, self._throw, self.render_mode)

    def _throw_ahead(self) -> list[int]:
        """Draw many throws at once, since one by one is slow."""
        self._throws = self.np_random.integers(self.transitions.throws, size=THROWS_AT_ONCE).tolist()
        return self._throws


def draw(transitions: Transitions, node: int, throw: int, render_mode: str | None) -> Any:
    """A node, reached by a throw, in a render mode; None without one. A forfeit is drawn as the start, without dice."""
    tables = transitions.tables
    if render_mode is None:
        return None
    forfeit = node == tables.nodes
    state = tables.start if forfeit else tables.node_state[node]
    held, dice = int(tables.held[state]), int(tables.dice[state])
    shown = () if forfeit else throw_faces(throw, dice, tables.game.faces)
    return (render.text if render_mode == "ansi" else render.picture)(tables.game, held, dice, shown)


class ShutTheBoxEnv(TurnEnv):
    """One turn of Shut the Box, an old pub game of dice and tiles.

    ## Description
    A box holds tiles numbered 1 to `tiles`, all open. Throw the dice and shut open tiles that add up to the roll; throw
    again and go on until no set of open tiles adds up to the roll, or all are shut. Few points left are best. Variants
    start with other tiles, match tiles and dice in other ways, or let one die be thrown: see Arguments.

    ## Action Space
    `Discrete(A)`: an action is a set of tiles to shut, `env.unwrapped.game.moves[action]`. The sets are ordered by
    their sum, then tile by tile from the lowest; there are 62 for nine tiles and two dice. Legal are the sets of open
    tiles that match the roll. Where the player chooses how many dice to throw next, there is an action for every set
    and number of dice, one die first; `env.unwrapped.game.dice_after[action]` is the number, and a move that ends the
    turn has the first of them. If the first roll of a turn leaves no move at all, which small boards and some variants
    allow, the one legal action is "no move", the last one; it ends the turn.

    ## Observation Space
    `Box(0, 1, (O,), uint8)`: for every tile a 1 if it is open, then for every possible roll, lowest first, a 1 if it is
    the roll; 9 + 11 numbers for nine tiles and two dice. A roll is the sum of the dice or, where `match` looks at the
    single dice, their faces without order. Rolls of one die, where it may be thrown, follow those of all dice. When all
    tiles are shut nothing is thrown, and all are 0; so they are after an illegal action, which
    `info["illegal_action"]` tells apart. `env.unwrapped.node(observation)` is the node in the arrays of the game.

    ## Starting State
    All tiles of `open`, and the first roll, of all dice. `reset(options={"open": [1, 4, 5, 8], "roll": 9})` starts from
    there; without "roll" the dice are thrown until there is a legal move, without "open" the board is the first one.
    "roll" may be the dice instead of their sum, and must be where single dice matter: `[3, 4]`. "dice" says how many
    dice were thrown, where it may be one.

    ## Rewards
    Nothing until the end; then the utility of the final score, which is the sum of the open tiles (or see `score`):
    - objective "score": minus the points;
    - objective "shut": 1 for a score of 0, else 0;
    - objective "at-most:T": 1 for a score of at most T, else 0.

    ## Episode End
    Terminated when the roll leaves no move, when all tiles are shut, or after an illegal action. Never truncated.

    ## Information
    - `action_mask`: int8 [A], 1 = legal; all 0 at the end. `env.unwrapped.action_masks()` gives the same as bool.
    - `final_score`: points, at the end.
    - `illegal_action`: at the end, whether an illegal action ended the turn.

    ## Arguments
    Those of `ShutTheBox`, and three of the environment:
    - `tiles=9`, `dice=2`, `faces=6`: the sizes. The environment has tables of boards x throws and of nodes x actions,
      at most 2**27 entries each: 17 tiles with two dice fit, or 15 with three; see `solve_boards` for larger boxes.
    - `score="sum"` of the open tiles, `"count"` of them, or their `"digits"` read as one number.
    - `open="all"`, `"odd"`, `"even"`, `"4-up"` or a list: the tiles that are open at the start.
    - `one_die="never"`, `"low-sum"`, `"high-shut"` or `"any-time"`, and `one_die_forced=False`: when one die may, or
      must, be thrown instead of all.
    - `match="sum"`, `"two-at-most"`, `"one-tile"` or `"faces-or-sum"`: which tiles a roll may shut.
    - `first_move=None` or a tile that the first move must shut; `ending_roll=None` or a roll that ends the turn.
    - `objective="score"`: what is rewarded, see Rewards.
    - `illegal="end"`: an illegal action ends the turn with the worst score and reward there is; `"raise"`: it raises a
      ValueError. An action outside the action space always raises.
    - `render_mode`: `"ansi"` for text, `"rgb_array"` for a picture.

    ## References
    B. Hopfer, "Shut the box in Flachau", benjaminhopfer.com, 2014 (rules, and the first moves of perfect play).

    ## Version History
    - v0: first version.
    """

    def __init__(
        self, objective: str = "score", illegal: str = "end", render_mode: str | None = None, **rules: Any
    ) -> None:
        super().__init__(make_game(ShutTheBox, rules), objective, illegal, render_mode)


class ThreesEnv(TurnEnv):
    """One turn of Threes, "the dice game": five dice, and the threes count nothing.

    ## Description
    Throw the dice, keep at least one, throw the others again, until none is left. Every die kept counts its face, but a
    3 counts nothing. Few points are best. With `moon`, a first throw of nothing but sixes (the highest face) ends the
    turn with -1 point.

    ## Action Space
    `Discrete(dice)`: action n keeps the n + 1 dice worth least. Legal for up to as many dice as were thrown; of a moon
    all dice are kept.

    ## Observation Space
    `Box(0, high, (1 + faces,), uint8)`: the points so far, then how many of the dice thrown show 1, 2, and so on. At
    the end no dice are thrown. After an illegal action all numbers are 0; `info["illegal_action"]` tells of it.
    `env.unwrapped.node(observation)` is the node in the arrays of the game.

    ## Starting State
    No points, and the first throw of all dice. `reset(options={"points": 4, "roll": [3, 1, 6]})` starts with those
    points and dice; `{"points": 4, "dice": 3}` with those points and a throw of so many dice.

    ## Rewards
    Nothing until the end; then the utility of the final score, which is the total of the dice kept:
    - objective "score": minus the points;
    - objective "shut": 1 for a score of 0 (nothing but threes) or less, else 0;
    - objective "at-most:T": 1 for a score of at most T, else 0.

    ## Episode End
    Terminated when all dice are kept, or after an illegal action. Never truncated.

    ## Information
    - `action_mask`: int8 [A], 1 = legal; all 0 at the end. `env.unwrapped.action_masks()` gives the same as bool.
    - `final_score`: points, at the end.
    - `illegal_action`: at the end, whether an illegal action ended the turn.

    ## Arguments
    - `dice=5`, `faces=6`, `free_face=3` (the face that counts nothing; 0: there is none), `moon=False`: the rules, see
      `Threes`.
    - `objective="score"`: what is rewarded, see Rewards.
    - `illegal="end"`: an illegal action ends the turn with the worst score and reward there is; `"raise"`: it raises a
      ValueError. An action outside the action space always raises.
    - `render_mode`: `"ansi"` for text, `"rgb_array"` for a picture.

    ## References
    "Threes Away", rpasmd.org (rules, with antes and ties).

    ## Version History
    - v0: first version.
    """

    def __init__(
        self, objective: str = "score", illegal: str = "end", render_mode: str | None = None, **rules: Any
    ) -> None:
        super().__init__(make_game(Threes, rules), objective, illegal, render_mode)
