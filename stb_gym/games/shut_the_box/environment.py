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
`info["illegal_action"]` tells apart. `env.unwrapped.node(observation)` is the node as the stepper numbers it; tables
number nodes as the arrays of the game do.

## Starting State
All tiles of `open`, and the first roll, of all dice. `reset(options={"open": [1, 4, 5, 8], "roll": 9})` starts from
there; without "roll" the dice are thrown until there is a legal move, without "open" the board is the first one.
"roll" may be the dice instead of their sum, and must be where single dice matter: `[3, 4]`. "dice" says how many
dice were thrown, where it may be one.

## Rewards
Nothing until the end; then the utility of the final score, which is the sum of the open tiles (or see `score`),
times `reward_scale`:
- objective "score": minus the points;
- objective "shut": 1 for a score of 0, else 0;
- objective "at-most:T": 1 for a score of at most T, else 0.

`env.spec.reward_threshold` is the mean reward of perfect play, which no agent exceeds but by luck, or by turns that
`max_episode_steps` cuts off for nothing; None of rules and objectives that have no id.

## Episode End
Terminated when the roll leaves no move, when all tiles are shut, or after an illegal action. Never truncated, but by
`max_episode_steps`; `env.spec.max_episode_steps` is one more than the longest turn has, or with boards than there are
tiles at the start.

## Information
- `action_mask`: int8 [A], 1 = legal; all 0 at the end. `env.unwrapped.action_masks()` gives the same as bool.
- `final_score`: points, at the end.
- `illegal_action`: at the end, whether an illegal action ended the turn. Text and picture show it too.

Vector environments tell them as Gymnasium's own do, with a mask `_key` for each key: see `TurnVectorEnv`.

What moves lead to, for learners of afterstates, is told by `env.unwrapped.afterstates()`: the tiles that every legal
move leaves open, with no roll, and last how many dice are thrown next.

## Arguments
Those of `ShutTheBox`, and, from `objective` on, those of the environment:
- `tiles=9`, `dice=2`, `faces=6`: the sizes, of any box that the rules allow; see `stepper`.
- `score="sum"` of the open tiles, `"count"` of them, or their `"digits"` read as one number.
- `open="all"`, `"odd"`, `"even"`, `"4-up"` or a list: the tiles that are open at the start.
- `one_die="never"`, `"low-sum"`, `"high-shut"` or `"any-time"`, and `one_die_forced=False`: when one die may, or
  must, be thrown instead of all.
- `match="sum"`, `"two-at-most"`, `"one-tile"` or `"faces-or-sum"`: which tiles a roll may shut.
- `first_move=None` or a tile that the first move must shut; `ending_roll=None` or a roll that ends the turn.
- `objective="score"`: what is rewarded, see Rewards.
- `illegal="end"`: an illegal action ends the turn with the worst score and reward there is; `"raise"`: it raises a
  ValueError. An action outside the action space always raises.
- `render_mode`: `"ansi"` for text; `"rgb_array"` for a picture, which tells the last move, too; `"human"` for a window
  that shows a picture a second. Pictures need Pillow, the window pygame-ce: `pip install "stb-gym[render]"`.
- `observation_dtype="uint8"`, or another type of integers or floats that can hold the observation: `"float32"` for
  networks that take it as it is.
- `reward_scale=1.0`: what the reward at the end is multiplied by.
- `stepper=None`: how the environment makes its steps. `"tables"` looks them up in tables of boards x throws and of
  nodes x actions, at most 2**27 entries each: 17 tiles with two dice fit, or 13 with four. `"boards"` works them out
  from the open tiles, whatever the size: of The 300, which has 352 million nodes, millions a second. By default boxes
  that fit have tables. The same throws and moves lead to the same with both.
- `max_episode_steps=None`: the step after which `gym.make` and `gym.make_vec` truncate a turn.
- `mask_names="gymnasium"`, of `stb_gym/ShutTheBoxMasked-v0` alone: the library after which the observation and the
  action mask in it are called, see `stb_gym.MaskInObservation`.

## References
B. Hopfer, "Shut the box in Flachau", benjaminhopfer.com, 2014 (rules, and the first moves of perfect play).

## Version History
- v0: first version. Since then `np_random` throws each roll when it falls and none ahead: a seed gives a single
  environment other dice than it did at first, of the same probabilities.
"""

from collections.abc import Mapping
from typing import Any

# The fields of the rules, and the objective, of every environment by the name of its id.
ENVIRONMENTS: dict[str, Mapping[str, Any]] = {
    "ShutTheBox-v0": {},
    "ShutTheBoxShut-v0": {"objective": "shut"},
    "ShutTheBoxOneDie-v0": {"one_die": "low-sum"},
    "ShutTheBoxThai-v0": {"match": "one-tile"},
    "ShutTheBox10-v0": {"tiles": 10},
    "ShutTheBox10OneDie-v0": {"tiles": 10, "one_die": "low-sum"},
    "ShutTheBox12-v0": {"tiles": 12},
    "ShutTheBox12OneDie-v0": {"tiles": 12, "one_die": "low-sum"},
    "ShutTheBox16-v0": {"tiles": 16, "dice": 3},
    "ShutTheBox300-v0": {"tiles": 24, "dice": 4},
}

# The mean reward of perfect play, by the name of the id; the larger boxes would take too long to be solved at import.
REWARD_THRESHOLDS = {
    "ShutTheBox-v0": -11.157508444202623,
    "ShutTheBoxShut-v0": 0.07143162230560597,
    "ShutTheBoxOneDie-v0": -11.021120546222791,
    "ShutTheBoxThai-v0": -13.760077213682294,
    "ShutTheBox10-v0": -16.64572136166177,
    "ShutTheBox10OneDie-v0": -16.577890023639007,
    "ShutTheBox12-v0": -35.08142065292144,
    "ShutTheBox12OneDie-v0": -35.07588588694802,
    "ShutTheBox16-v0": -46.49611759405547,
    "ShutTheBox300-v0": -142.64714318250637,
}
