"""Shut the Box and Threes for reinforcement learning, with the exact optimum to measure agents against.

The story of the library, in the order to read it:

1. `games`: a game is a turn of "throw the dice, then choose". Its rules answer for whole arrays of positions at once;
   everything of a game is in its folder (`games/shut_the_box/rules.py` opens with the game in ten lines).
2. `exact`: `compile_game` asks the rules for every move once and keeps the answers as arrays; one pass over these is
   perfect play (`solve`), and one pass evaluates any policy and says what it loses, where, and how often (`evaluate`).
   Boxes too large for arrays are solved and policies measured there by boards (`solve_boards`, `evaluate_boards`).
3. `rounds`: several players see each other's scores: equilibria, best responses, matches, tournaments, all exact.
4. `envs`: the same arrays as Gymnasium environments, single and vector, with action masks beside or in observations;
   and boxes too large for arrays, whose moves are worked out from boards.
5. `measure`: anybody's agent against the optimum (`RegretMeter`); saved policies and their leaderboard; sampled games;
   the round as an environment, in which an agent is measured against the best response (`RoundMeter`) or plays against
   itself (`SelfPlayVectorEnv`).
6. `explorer`: a page to click through a game; `terminal`: play it, with a coach who separates luck from mistakes;
   `command`: all of this as the command `stb-gym`; `output`: tables, progress, colours and files.
7. `plots`: matplotlib plots of all results; `sb3`: models of stable-baselines3 learn fast and are measured meanwhile;
   `pettingzoo`: a round whose seats are all agents. These are imported only when they are asked for.

Importing the package registers the environments of `ENVIRONMENTS`, such as `stb_gym/ShutTheBox-v0`, and each once more
with the mask in the observation, under the names that a library asks for, such as `stb_gym/ShutTheBoxMasked-v0`.
`register_game` makes a game of your own known to all of the above.
"""

from importlib import import_module
from typing import Any

from stb_gym.envs import (
    ENVIRONMENTS, MaskInObservation, TurnEnv, TurnVectorEnv, VectorMaskInObservation, environment_of,
    game_of_environment, register_game, register_known,
)  # fmt: skip
from stb_gym.solver import (
    AnyMove, BoardEvaluation, BoardValues, Certificate, Evaluation, Mistake, Objective, Player, Policy, Preference,
    Solution, Standing, TurnTables, certify, compile_game, evaluate, evaluate_boards, load_board_values, move_tree,
    solve, solve_boards, strategies, strategy,
)  # fmt: skip
from stb_gym.games import (
    GAMES, VARIANTS, Edges, Game, IntArray, Moves, RuleOfThumb, ShutTheBox, Threes, Variant, Words, rolls, rule,
)  # fmt: skip
from stb_gym.measure import (
    Comparison, RegretMeter, SampledEvaluation, SavedPolicy, Simulation, compare, kept_policies,
    load_policy, pocket_card, read_policy,
    save_policy, simulate,
)  # fmt: skip
from stb_gym.rounds import (
    BestResponse, Outcome, Round, RoundEnv, RoundEvaluation, RoundMeter, RoundRegret, RoundSolution, RoundVectorEnv,
    SelfPlayVectorEnv, Series, Tournament, match, series, tournament,
)  # fmt: skip
from stb_gym.terminal import replay

__version__ = "0.1.0"

__all__ = [
    "ENVIRONMENTS", "GAMES", "VARIANTS", "AnyMove", "BestResponse", "BoardEvaluation", "BoardValues", "Certificate",
    "Comparison", "Edges", "Evaluation", "Game", "IntArray", "MaskInObservation", "Mistake", "Moves",
    "Objective", "Outcome", "Player", "Policy", "Preference", "RegretMeter", "Round", "RoundEnv", "RoundEvaluation",
    "RoundMeter", "RoundRegret", "RoundSolution", "RoundVectorEnv", "RuleOfThumb", "SampledEvaluation",
    "SavedPolicy", "SelfPlayVectorEnv", "Series", "ShutTheBox", "Simulation", "Solution", "Standing", "Threes",
    "Tournament", "TurnEnv", "TurnTables", "TurnVectorEnv", "Variant", "VectorMaskInObservation", "Words",
    "certify", "compare", "compile_game", "environment_of", "evaluate", "evaluate_boards", "game_of_environment",
    "kept_policies", "load_board_values", "load_policy", "match", "move_tree", "pocket_card",
    "read_policy", "register_game", "replay", "rolls", "rule", "save_policy", "series", "simulate",
    "solve", "solve_boards", "strategies", "strategy", "tournament",
]  # fmt: skip

register_known()


def __getattr__(name: str) -> Any:
    """What starts other libraries, such as torch, is imported when it is asked for."""
    if name in ("pettingzoo", "plots", "sb3"):
        return import_module(f"stb_gym.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
