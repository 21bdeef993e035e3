"""Shut the Box and Threes for reinforcement learning, with the exact optimum to measure agents against.

From the rules to the environments, in the order to read them:

- `game`: the words, and what a rules object is; `shut_the_box` and `threes`: the rules. Of Shut the Box `matching` says
  which tiles a roll shuts, `hand` how many dice are thrown, and `variants` what the usual variants are called.
- `tables`: a game compiled to arrays, which everything below reads; `turn_arrays`: what a single turn reads of them.
- `objectives`, `solve`: perfect play; `certify`: it is proved in fractions.
- `policy`, `evaluate`: what a policy is, and its exact distance from perfect play.
- `strategies`: how people play.
- `standings`, `lineups`, `rounds`: rounds of several players, exactly, and their equilibrium; `matches` of rounds.
- `tournaments`: several rounds, to a limit of points.
- `streaming`: perfect play of boxes too large for arrays; `board_values`: a file of it; `board_tables`: a turn by it.
- `book`: everything known about a game, as tables and pictures.
- `transitions`: the arrays as dense tables; `env`, `vector_env`, `wrappers`, `render`: the Gymnasium environments.
- `cli`: the command `stb-gym`; `answers`, `box_answers` and `round_answers`: what it answers; `show` puts that into
  tables, `simulate` plays sampled games.
- `play`: in a terminal; `turns`: a turn in words, `dialogue`: the person's; `coach`: what luck and choices were worth.
- `files`: files that appear whole or not at all.

Importing the package registers `stb_gym/ShutTheBox-v0`, `stb_gym/Threes-v0` and the common variants (`ENVIRONMENTS`).
"""

from typing import Any as _Any

import gymnasium as _gym

from stb_gym.board_values import BoardValues, load_board_values
from stb_gym.evaluate import Evaluation, Mistake, evaluate
from stb_gym.game import Game
from stb_gym.lineups import BestResponse, RoundEvaluation
from stb_gym.matches import Outcome, match
from stb_gym.policy import Player, Policy, load_policy, policy_from, save_policy
from stb_gym.rounds import Round, RoundSolution
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.solve import Solution, solve
from stb_gym.standings import Standing
from stb_gym.strategies import STRATEGIES, strategy
from stb_gym.streaming import solve_boards
from stb_gym.tables import TurnTables, compile_game
from stb_gym.threes import Threes
from stb_gym.tournaments import Tournament, tournament
from stb_gym.variants import VARIANTS
from stb_gym.wrappers import MaskInObservation

__all__ = [
    "ENVIRONMENTS",
    "GAMES",
    "STRATEGIES",
    "VARIANTS",
    "BestResponse",
    "BoardValues",
    "Evaluation",
    "Game",
    "MaskInObservation",
    "Mistake",
    "Outcome",
    "Player",
    "Policy",
    "Round",
    "RoundEvaluation",
    "RoundSolution",
    "ShutTheBox",
    "Solution",
    "Standing",
    "Threes",
    "Tournament",
    "TurnTables",
    "compile_game",
    "evaluate",
    "load_board_values",
    "load_policy",
    "match",
    "policy_from",
    "save_policy",
    "solve",
    "solve_boards",
    "strategy",
    "tournament",
]

GAMES: dict[str, type[ShutTheBox] | type[Threes]] = {ShutTheBox.name: ShutTheBox, Threes.name: Threes}

ENVIRONMENTS: dict[str, tuple[type[ShutTheBox] | type[Threes], dict[str, _Any]]] = {
    "stb_gym/ShutTheBox-v0": (ShutTheBox, {}),
    "stb_gym/ShutTheBoxShut-v0": (ShutTheBox, {"objective": "shut"}),
    "stb_gym/ShutTheBoxOneDie-v0": (ShutTheBox, {"one_die": "low-sum"}),
    "stb_gym/ShutTheBoxThai-v0": (ShutTheBox, {"match": "one-tile"}),
    "stb_gym/ShutTheBox10-v0": (ShutTheBox, {"tiles": 10}),
    "stb_gym/ShutTheBox10OneDie-v0": (ShutTheBox, {"tiles": 10, "one_die": "low-sum"}),
    "stb_gym/ShutTheBox12-v0": (ShutTheBox, {"tiles": 12}),
    "stb_gym/ShutTheBox12OneDie-v0": (ShutTheBox, {"tiles": 12, "one_die": "low-sum"}),
    "stb_gym/Threes-v0": (Threes, {}),
}

for _name, (_rules, _arguments) in ENVIRONMENTS.items():
    _gym.register(
        id=_name,
        entry_point=f"stb_gym.env:{_rules.__name__}Env",
        vector_entry_point=f"stb_gym.vector_env:{_rules.__name__}VectorEnv",
        kwargs=_arguments,
        disable_env_checker=True,  # these environments pass it, and refuse a step before a reset themselves;
        order_enforce=False,  # each of the two wrappers would make a step a tenth slower
    )
