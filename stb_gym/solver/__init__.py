"""Solve, evaluate and certify one turn exactly by its tables. Nothing is sampled.

A node of the tables is a state of the Markov decision process: a roll was thrown, and the player chooses a move. A
state of the tables is an afterstate: what the player has before a throw.

- `tables`: a game as arrays, which everything below reads.
- `objectives`: what is maximised, and the task that an environment sets; `policies`: what a policy is.
- `solution`: perfect play; `evaluation`: the exact distance of a policy from it; `strategies`: policies by name.
- `choices`: the moves at one node; `tree`: the moves and rolls below a position.
- `certificate`: perfect play proved in fractions.
"""

from stb_gym.solver.certificate import Certificate, certify, check_bellman
from stb_gym.solver.choices import Choice, Move, PerfectPlay, choice_at, legal_moves
from stb_gym.solver.evaluation import (
    Evaluation, Measured, Mistake, expected, expected_visits, score_chances,
)  # fmt: skip
from stb_gym.solver.objectives import GameOrEnv, Goal, Objective, is_named, objective_of, task_of
from stb_gym.solver.policies import (
    Playable, RulePolicy, StateScorePolicy, UniformRandom, edge_weights, policy_array,
)  # fmt: skip
from stb_gym.solver.solution import TIE, Solution, is_as_good, optimal_edges, optimise, solve_tables, state_arrays
from stb_gym.solver.strategies import (
    Standing, approximation, chance_to_beat, table_strategies, table_strategy, ways_to_shut,
)  # fmt: skip
from stb_gym.solver.tables import Level, Policy, TurnTables, compile_game
from stb_gym.solver.tree import Branch, move_tree

__all__ = [
    "TIE", "Branch", "Certificate", "Choice", "Evaluation", "GameOrEnv", "Goal", "Level", "Measured", "Mistake",
    "Move", "Objective", "PerfectPlay", "Playable", "Policy", "RulePolicy", "Solution", "Standing",
    "StateScorePolicy", "TurnTables", "UniformRandom", "approximation", "certify", "chance_to_beat",
    "check_bellman", "choice_at", "compile_game", "edge_weights", "expected", "expected_visits", "is_as_good",
    "is_named", "legal_moves", "move_tree", "objective_of", "optimal_edges", "optimise", "policy_array",
    "score_chances", "solve_tables", "state_arrays", "table_strategies", "table_strategy", "task_of",
    "ways_to_shut",
]  # fmt: skip
