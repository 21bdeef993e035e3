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
Nothing until the end; then the utility of the final score, which is the total of the dice kept, times
`reward_scale`:
- objective "score": minus the points;
- objective "shut": 1 for a score of 0 (nothing but threes) or less, else 0;
- objective "at-most:T": 1 for a score of at most T, else 0.

`env.spec.reward_threshold` is the mean reward of perfect play, which no agent exceeds but by luck, or by turns that
`max_episode_steps` cuts off for nothing; None of rules and objectives that have no id.

## Episode End
Terminated when all dice are kept, or after an illegal action. Never truncated, but by
`max_episode_steps`; `env.spec.max_episode_steps` is one more than the longest turn has.

## Information
- `action_mask`: int8 [A], 1 = legal; all 0 at the end. `env.unwrapped.action_masks()` gives the same as bool.
- `final_score`: points, at the end.
- `illegal_action`: at the end, whether an illegal action ended the turn. Text and picture show it too.

Vector environments tell them as Gymnasium's own do, with a mask `_key` for each key: see `TurnVectorEnv`.

What moves lead to, for learners of afterstates, is told by `env.unwrapped.afterstates()`: the points that every legal
move leaves, with no dice shown, and last how many are thrown next.

## Arguments
- `dice=5`, `faces=6`, `free_face=3` (the face that counts nothing; 0: there is none), `moon=False`: the rules, see
  `Threes`.
- `objective="score"`: what is rewarded, see Rewards.
- `illegal="end"`: an illegal action ends the turn with the worst score and reward there is; `"raise"`: it raises a
  ValueError. An action outside the action space always raises.
- `render_mode`: `"ansi"` for text; `"rgb_array"` for a picture, which tells the last move, too; `"human"` for a window
  that shows a picture a second. Pictures need Pillow, the window pygame-ce: `pip install "stb-gym[render]"`.
- `observation_dtype="uint8"`, or another type of integers or floats that can hold the observation: `"float32"` for
  networks that take it as it is.
- `reward_scale=1.0`: what the reward at the end is multiplied by.
- `max_episode_steps=None`: the step after which `gym.make` and `gym.make_vec` truncate a turn.
- `mask_names="gymnasium"`, of `stb_gym/ThreesMasked-v0` alone: the library after which the observation and the action
  mask in it are called, see `stb_gym.MaskInObservation`.

## References
"Threes Away", rpasmd.org (rules, with antes and ties).

## Version History
- v0: first version. Since then `np_random` throws each roll when it falls and none ahead: a seed gives a single
  environment other dice than it did at first, of the same probabilities.
"""
