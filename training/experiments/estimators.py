"""Measure fourteen estimators of language-model RL exactly: `python -m training.experiments.estimators`.

A rollout is a turn of the game, and a turn of the conversation is a move. Each estimator gives every move of a batch a
weight; the gradient of the batch is the sum of weight x the derivative of the log-probability of the move. The policy
is a table of logits, so nothing but the estimator matters. `check.gradients.direction` compares many batches with the
exact gradient.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from stb_gym import Game, ShutTheBox, Threes, solve
from stb_gym.arrays import FloatArray
from stb_gym.check.estimators import by_group, own_rewards, to_go, total
from stb_gym.check.gradients import direction
from stb_gym.check.sampled_turns import Turns, TurnSampler
from stb_gym.console import say
from stb_gym.files import write_text
from stb_gym.solver import Evaluation
from stb_gym.tracking import ProgressBar
from training.commands import run_command

TURNS, GROUP_SIZE = 512, 8
GAMES: dict[str, Game] = {"nine-tiles": ShutTheBox(), "threes": Threes()}
TEMPERATURES = {"uniform": np.inf, "middle": 2.0, "near-optimal": 0.5}  # points, of a softmax over optimal advantages


def by_rollout(turns: Turns, weights: FloatArray) -> FloatArray:
    """Average the weights [N, 1 or T] of each rollout over its moves."""
    return weights / np.maximum(turns.length, 1)[:, None]


def by_move(turns: Turns, weights: FloatArray) -> FloatArray:
    """Average weights [N, 1 or T] over all moves of the batch, times the number of rollouts."""
    return weights * len(turns.length) / turns.length.sum()


def batch_normalised(turns: Turns) -> FloatArray:
    """Return [N, 1] the returns, minus their mean and divided by their deviation over the batch."""
    returns = total(turns)
    return (returns - returns.mean()) / returns.std()


def grpo(turns: Turns) -> FloatArray:
    """Return [N, 1] the returns, minus their means and divided by their deviations over groups."""
    return by_group(turns, total(turns), deviation=True)


ON_SCORES: dict[str, Callable[[Turns], FloatArray]] = {  # rewards are the points of each move
    "REINFORCE": total,
    "REINFORCE, mean of the batch": lambda turns: total(turns) - total(turns).mean(),
    "REINFORCE++": lambda turns: by_move(turns, batch_normalised(turns)),
    "GRPO": lambda turns: by_rollout(turns, grpo(turns)),
    "GRPO without deviation": lambda turns: by_rollout(turns, by_group(turns, total(turns))),
    "GRPO, mean over moves": lambda turns: by_move(turns, grpo(turns)),
    "Dr. GRPO": lambda turns: by_group(turns, total(turns)),
    "RLOO": lambda turns: by_group(turns, total(turns), others=True),
    "per-turn baselines": lambda turns: by_group(turns, turns.reward),
    "per-turn baselines, summed": own_rewards,
    "return to go": lambda turns: by_group(turns, to_go(turns), others=True),
}
ON_LOSSES: dict[str, Callable[[Turns], FloatArray]] = {  # rewards are minus the exact loss of each move
    "exact losses, RLOO": lambda turns: by_group(turns, total(turns), others=True),
    "exact losses to go": lambda turns: by_group(turns, to_go(turns), others=True),
}
EXACT = "exact advantage"
UNBIASED = ("RLOO", "return to go", "exact losses to go", EXACT)  # they take noise out of the means of others
KEY = ["game", "policy", "estimator", "seed"]


def softmax_policy(game: Game, temperature: float) -> Evaluation:
    """Measure the softmax over the advantages of optimal play; an infinite temperature is uniformly random play."""
    best = solve(game)
    weights = np.exp(best.advantage.astype(float) / temperature)
    weights /= best.tables.at_pairs(best.tables.sum_at_states(weights))
    return Evaluation(best, weights, np.zeros(best.tables.num_states))


def weights_of_batch(evaluation: Evaluation, turns: Turns) -> Iterator[tuple[str, FloatArray]]:
    """Yield the name and the weights [N, 1 or T] of each estimator for a batch."""
    tables = evaluation.tables
    at_afterstates, at_states = evaluation.utilities
    points = evaluation.optimum.objective.utilities(tables.final_score).astype(float)
    of_moves = tables.after_pairs(points) - points[tables.state_origin[tables.pair_state]]
    losses = 0 - evaluation.optimum.advantage.astype(float)
    on_scores, on_losses = (replace(turns, reward=each[turns.pair] * turns.valid) for each in (of_moves, -losses))
    for name, estimator in ON_SCORES.items():
        yield name, estimator(on_scores)
    for name, estimator in ON_LOSSES.items():
        yield name, estimator(on_losses)
    yield EXACT, (tables.after_pairs(at_afterstates) - tables.at_pairs(at_states))[turns.pair]


def measure(evaluation: Evaluation, batches: int, seed: int) -> pd.DataFrame:
    """Return a row for each estimator: the numbers of `Direction` for many batches."""
    tables = evaluation.tables
    policy = np.zeros(tables.legal.shape)
    policy[tables.pair_state, tables.pair_action] = evaluation.weights
    sampler = TurnSampler(evaluation, policy)
    gradients: dict[str, list[FloatArray]] = {}
    for batch_seed in np.random.SeedSequence(seed).spawn(batches):
        turns = sampler(TURNS, GROUP_SIZE, batch_seed)
        for name, weights in weights_of_batch(evaluation, turns):
            of_moves = (weights * turns.valid / TURNS).ravel()
            by_pair = np.bincount(turns.pair.ravel(), of_moves, len(tables.pair_state))
            by_logit = by_pair - evaluation.weights * tables.at_pairs(tables.sum_at_states(by_pair))
            gradients.setdefault(name, []).append(by_logit)
    at_afterstates, at_states = evaluation.utilities
    advantage = tables.after_pairs(at_afterstates) - tables.at_pairs(at_states)
    exact = tables.at_pairs(evaluation.visits) * evaluation.weights * advantage
    by_estimator = {name: np.array(rows) for name, rows in gradients.items()}
    found = {}
    for name, rows in by_estimator.items():
        unbiased = np.array([by_estimator[other] for other in UNBIASED if other != name])
        found[name] = asdict(direction(rows, exact, TURNS, unbiased=unbiased))
    table = pd.DataFrame(found).T
    table[["low", "high"]] = table.pop("interval").tolist()
    return table.astype(float).rename_axis("estimator").reset_index()


def estimators(*, seeds: int = 5, batches: int = 200, out: Path = Path("runs/estimators.csv")) -> None:
    """Measure all estimators on two games with three policies.

    Args:
        seeds: How many seeds to use.
        batches: How many batches of 512 turns to sample for each seed.
        out: The .csv file, which is replaced.
    """
    found = []
    with ProgressBar("measuring", len(GAMES) * len(TEMPERATURES) * seeds, "settings") as bar:
        for game, rules in GAMES.items():
            for policy, temperature in TEMPERATURES.items():
                evaluation = softmax_policy(rules, temperature)
                for seed in range(seeds):
                    rows = measure(evaluation, batches, seed)
                    found.append(rows.assign(game=game, policy=policy, seed=seed, regret=evaluation.regret))
                    bar.tell(len(found))
    table = pd.concat(found)
    table = table[[*KEY, *(name for name in table if name not in KEY)]]
    write_text(out, table.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    say(f"{out} is complete")


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.estimators", estimators))
