"""Solve, evaluate and certify one turn exactly by its tables. Nothing is sampled.

A state is one of the Markov decision process: dice were thrown, and the player chooses a move. An afterstate is what
the player has before a throw.

- `tables`: a game as arrays, which everything below reads.
- `objectives`: what is maximised; `tasks`: what an environment asks of an agent; `policies`: what a policy is.
- `induction`: values and visits by passes over the tables; `solution`: perfect play, and the exact distance of a policy
  from it; `measured`: what any measurement of a policy says; `strategies`: policies by name.
- `choices`: the moves at one state; `tree`: the moves and rolls below a position.
- `certificate`: perfect play proved in fractions.
"""

from stb_gym.solver.certificate import Certificate, certify, check_bellman
from stb_gym.solver.choices import Choice, Move, choice_at, legal_moves
from stb_gym.solver.induction import (
    TIE, expected, expected_visits, is_as_good, optimal_pairs, optimise, score_chances, sweep,
)  # fmt: skip
from stb_gym.solver.measured import Measured, Mistake, PerfectPlay
from stb_gym.solver.objectives import Goal, Objective, is_named, objective_of
from stb_gym.solver.tasks import ILLEGAL, GameOrEnv, task_of, untried_task
from stb_gym.solver.policies import (
    AfterstateScorePolicy, Playable, RulePolicy, UniformRandom, pair_weights, policy_array,
)  # fmt: skip
from stb_gym.solver.solution import Evaluation, Solution, afterstate_arrays, solve_tables
from stb_gym.solver.strategies import (
    approximation, chance_to_beat, refuse_names_of_strategies, table_strategies, table_strategy, ways_to_shut,
)  # fmt: skip
from stb_gym.solver.tables import Level, Policy, TurnTables, compile_game
from stb_gym.solver.tree import Branch, move_tree

__all__ = [
    "ILLEGAL", "TIE", "AfterstateScorePolicy", "Branch", "Certificate", "Choice", "Evaluation", "GameOrEnv", "Goal",
    "Level", "Measured", "Mistake", "Move", "Objective", "PerfectPlay", "Playable", "Policy", "RulePolicy",
    "Solution", "TurnTables", "UniformRandom", "afterstate_arrays", "approximation", "certify",
    "chance_to_beat", "check_bellman", "choice_at", "compile_game", "expected", "expected_visits", "is_as_good",
    "is_named", "legal_moves", "move_tree", "objective_of", "optimal_pairs", "optimise", "pair_weights",
    "policy_array", "refuse_names_of_strategies", "score_chances", "solve_tables", "sweep", "table_strategies",
    "table_strategy", "task_of", "untried_task", "ways_to_shut",
]  # fmt: skip
