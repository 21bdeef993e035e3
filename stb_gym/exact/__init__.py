"""One turn, exactly: solved, evaluated and certified. Nothing is sampled.

- `tables`: a game as arrays, which everything below reads; `compiling` makes them.
- `objectives`, `values`, `solution`: perfect play; `certificate`: it is proved in fractions.
- `task`: what an environment says of itself; `answers`: the policy of any function.
- `policies`, `evaluation`: what a policy is, and its exact distance from perfect play; `scripted`: strategies by name.
- `boards`: perfect play of boxes too large for arrays; `board_rows`: what the moves of a row of boards lead to;
  `board_values`: the values of all boards, in memory or in a file.
"""

from stb_gym.exact.answers import Agent, as_array, policy_from, policy_of_answers
from stb_gym.exact.board_values import BoardValues, load_board_values, open_board_values
from stb_gym.exact.boards import solve_boards
from stb_gym.exact.certificate import Certificate, certify, check_bellman, value_text
from stb_gym.exact.compiling import compile_game, count_nodes, fits
from stb_gym.exact.evaluation import Evaluation, Mistake, evaluate_against, expected, expected_visits, score_chances
from stb_gym.exact.objectives import Goal, Objective, objective_of
from stb_gym.exact.policies import Player, edge_weights, edge_weights_and_forfeits, node_of
from stb_gym.exact.solution import Solution, evaluate, solve
from stb_gym.exact.scripted import (
    COMMON, ROUND_STRATEGIES, Standing, approximation, chance_to_beat, strategies, strategy, ways_to_shut,
)  # fmt: skip
from stb_gym.exact.tables import Level, Policy, TurnTables
from stb_gym.exact.task import Task, task_of
from stb_gym.exact.values import TIE, Values, advantages, optimal_edges, optimise

__all__ = [
    "COMMON", "ROUND_STRATEGIES", "TIE", "Agent", "BoardValues", "Certificate", "Evaluation", "Goal", "Level",
    "Mistake", "Objective", "Player", "Policy", "Solution", "Standing", "Task", "TurnTables", "Values", "advantages",
    "approximation", "as_array", "certify", "chance_to_beat", "check_bellman", "compile_game", "count_nodes",
    "edge_weights", "edge_weights_and_forfeits", "evaluate", "evaluate_against", "expected", "expected_visits",
    "fits", "load_board_values", "node_of", "objective_of", "open_board_values", "optimal_edges", "optimise",
    "policy_from", "policy_of_answers", "score_chances", "solve", "solve_boards", "strategies", "strategy", "task_of",
    "value_text", "ways_to_shut",
]  # fmt: skip
