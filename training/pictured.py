"""What the pictures of a study show: which agents, how these are called, and in words what comes out.

TASK.png shows agents, TASK-budgets.png what trainings of different lengths come to, TASK-ablations.png what a part of
an agent is worth, and profile.png the ends of all runs; stock agents are in TASK-stock.png alone. TASK-mistakes.png,
which `training.mistakes` draws, shows what the kept policies still lose.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, groupby

import numpy as np

from agents.presets import STANDARD
from agents.stock import STOCK
from stb_gym import Game, kept_policies
from training.ledger import Row
from training.mistakes import GROUPS, evaluations_of, mistakes_table
from training.statistics import mean_of_seeds

PICTURES = {
    "": "regret against steps",
    "-budgets": "regret at the end of trainings of different lengths",
    "-ablations": "what a part of an agent is worth",
    "-stock": "regret against steps of stock agents",
    "-mistakes": "where the remaining regret of the best policies lies",
}
NAMES = {
    "ppo": "PPO",
    "dqn": "DQN",
    "afterstate-network": "network of afterstates",
    "q-learning": "Q-learning, tabular",
    "afterstates": "afterstates, tabular",
    "limit": "limit",
    "sb3-ppo": "stock PPO (stable-baselines3)",
    "sb3-a2c": "stock A2C (stable-baselines3)",
    "sb3-dqn": "stock DQN (stable-baselines3)",
    "sb3-qr-dqn": "stock QR-DQN (sb3-contrib)",
    "sb3-maskable-ppo": "stock MaskablePPO (sb3-contrib)",
    "sb3-maskable-ppo-tuned": "tuned MaskablePPO (sb3-contrib)",
    "sb3-dqn-tuned": "tuned DQN (stable-baselines3)",
}
MASKED = ("ppo", "dqn")
NO_MASKS = "no-masks"
# Variants that show what a part of an agent is worth.
ABLATIONS = (NO_MASKS, "double", "quantiles", "unpooled", "shared-dice")
OF_NO_LENGTH = ("q-learning", "afterstates", "limit")  # every measurement of theirs is the end of a shorter training


def agent_in_words(row: Row) -> str:
    """The algorithm and the variant of a run, such as "masked PPO, quick"."""
    masked = "masked " if row.algorithm in MASKED and not row.variant.endswith(NO_MASKS) else ""
    variant = "" if row.variant == STANDARD else f", {row.variant.replace('-', ' ')}"
    return f"{masked}{NAMES[row.algorithm]}{variant}"


def regret_in_words(regret: float) -> str:
    """A regret, of which a small one keeps two digits."""
    return f"{regret:.5f}" if regret == 0 or regret >= 1e-4 else f"{regret:.1e}"


def pictured(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The runs in each kind of picture, by the end of its name.

    Where there is the standard variant of an algorithm, variants that only train for a longer or a shorter time are in
    TASK-budgets.png alone, which leaves out who was trained for one length.
    """
    by_name = sorted(rows, key=lambda row: (row.task, row.agent, row.seed))
    own = [row for row in by_name if row.algorithm not in STOCK]
    standard = {(row.task, row.algorithm) for row in own if row.variant == STANDARD}
    ablated = {(row.task, row.algorithm) for row in own if row.variant in ABLATIONS}
    lengths = [row for row in own if row.variant not in ABLATIONS]
    several = Counter((task, algorithm) for task, algorithm, _ in {(r.task, r.algorithm, r.variant) for r in lengths})
    return {
        "": [row for row in lengths if row.variant == STANDARD or (row.task, row.algorithm) not in standard],
        "-budgets": [row for row in lengths if row.algorithm in OF_NO_LENGTH or several[row.task, row.algorithm] > 1],
        "-ablations": [
            row for row in own if row.variant in (STANDARD, *ABLATIONS) and (row.task, row.algorithm) in ablated
        ],
        "-stock": [row for row in by_name if row.algorithm in STOCK and row.variant == STANDARD],
    }


def picture_in_words(kind: str, task: str, game: Game, rows: Iterable[Row]) -> str:
    """What the picture of a task shows, and what comes out: how agents end, the best first.

    Args:
        kind: one of PICTURES.
        task: the name of the task.
        game: its rules.
        rows: runs of all tasks.
    """
    about = f"{task}: {PICTURES[kind]}"
    if kind == "-mistakes":
        return f"{about}. {_mistakes_in_words(task, game)}"
    shown = [row for row in pictured(rows)[kind] if row.task == task]
    ends = sorted((mean_of_seeds([row.regret for row in seeds]), name) for name, seeds in _by_agent(shown))
    return f"{about}. At the end: {'; '.join(f'{name} {regret_in_words(regret)}' for regret, name in ends)}."


def profile_in_words(rows: Iterable[Row]) -> str:
    """What profile.png shows, and what comes out: below which regret half of the runs of an agent end."""
    about = "how many runs end below a regret, by agent"
    by_agent = shares_by_agent(pictured(rows)[""])
    halves = sorted((_half(by_task.values()), name) for name, by_task in by_agent.items() if by_task)
    told = "; ".join(f"{name} {regret_in_words(half)}" for half, name in halves)
    return f"{about}. Half of them end with at most this share of the regret of random play: {told}." if told else about


def _half(by_task: Collection[list[float]]) -> float:
    """What half of the runs end below, each task counting as much as another."""
    levels = sorted(chain(*by_task))
    return next(level for level in levels if np.mean([np.mean(np.array(of) <= level) for of in by_task]) >= 0.5)


def shares_by_agent(rows: Iterable[Row]) -> dict[str, dict[str, list[float]]]:
    """By agent, and by task of those that all agents have learned, the regret of runs as a share of random play's."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        found.setdefault(agent_in_words(row), {}).setdefault(row.task, []).append(1 - row.normalised_score)
    common = [task for task in dict.fromkeys(row.task for row in rows) if all(task in each for each in found.values())]
    return {name: {task: by_task[task] for task in common} for name, by_task in found.items()}


def _by_agent(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    in_order = sorted(rows, key=agent_in_words)
    return [(name, list(seeds)) for name, seeds in groupby(in_order, agent_in_words)]


def _mistakes_in_words(task: str, game: Game) -> str:
    kept = [name for name in (f"ppo-{task}", f"dqn-{task}") if name in kept_policies(game)]
    told = []
    columns = mistakes_table(evaluations_of(tuple(kept))).columns.values()
    for name, regret, number, *shares in zip(*(column.values for column in columns), strict=True):
        share, group = max(zip(shares, GROUPS, strict=True))
        told.append(
            f"{name} loses {regret_in_words(regret)} by {number} choice{'s' * (number != 1)}, "
            f"{share:.0%} of it by the kind '{group}'"
        )
    return f"{'; '.join(told)}."
