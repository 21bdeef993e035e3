"""One turn, exactly: solved, evaluated and certified. Nothing is sampled.

- `tables`: a game as arrays, which everything below reads; `compiling` makes them, `row_index` finds in them.
- `objectives`, `values`, `solution`: perfect play; `choices`: at one node; `certificate`: it is proved in fractions.
- `tree`: the moves and rolls below a position.
- `policies`, `preferences`: what a policy is; `scripted`: by name; `task`: what an environment asks for.
- `evaluation`: the exact distance of a policy from perfect play; `measured`: what is known of it then.
- `boards`: all of this for boxes too large for arrays; `board_values`: their values, in memory or in a file.
"""

from stb_gym.large import BoardEvaluation, board_strategy, evaluate_boards, random_value, solve_boards
from stb_gym.large.values import BoardValues, load_board_values, open_board_values
from stb_gym.solver.certificate import Certificate, certify, check_bellman, value_text
from stb_gym.solver.choices import Choice, choice_at
from stb_gym.solver.compiling import compile_game, count_nodes, fits
from stb_gym.solver.evaluation import Evaluation, evaluate_against, expected, expected_visits, score_chances
from stb_gym.solver.measured import Measured, Mistake
from stb_gym.solver.objectives import Goal, Objective, is_named, objective_of
from stb_gym.solver.policies import Player, edge_weights, edge_weights_and_forfeits, node_of, policy_array
from stb_gym.solver.preferences import AnyMove, BoardPolicy, Preference, policy_of_preference
from stb_gym.solver.solution import Solution, evaluate, solve
from stb_gym.solver.scripted import (
    COMMON, ROUND_STRATEGIES, Standing, approximation, chance_to_beat, strategies, strategy, ways_to_shut,
)  # fmt: skip
from stb_gym.solver.tables import Level, Policy, TurnTables
from stb_gym.solver.task import Task, task_of
from stb_gym.solver.tree import Branch, move_tree
from stb_gym.solver.values import TIE, Values, optimal_edges, optimise

__all__ = [
    "COMMON", "ROUND_STRATEGIES", "TIE", "AnyMove", "BoardEvaluation", "BoardPolicy", "BoardValues", "Branch",
    "Certificate", "Choice", "Evaluation", "Goal", "Level", "Measured", "Mistake", "Objective", "Player", "Policy",
    "Preference", "Solution", "Standing", "Task", "TurnTables", "Values", "approximation", "board_strategy", "certify",
    "chance_to_beat", "check_bellman", "choice_at", "compile_game", "count_nodes", "edge_weights",
    "edge_weights_and_forfeits", "evaluate", "evaluate_against", "evaluate_boards", "expected", "expected_visits",
    "fits", "is_named", "load_board_values", "move_tree", "node_of", "objective_of", "open_board_values",
    "optimal_edges", "optimise", "policy_array", "policy_of_preference", "random_value", "score_chances", "solve",
    "solve_boards", "strategies", "strategy", "task_of", "value_text", "ways_to_shut",
]  # fmt: skip
