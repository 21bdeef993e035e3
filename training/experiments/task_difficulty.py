"""How hard are drawn tasks for a small model? `python -m training.experiments.task_difficulty` trains some on each.

The transformer of `language_model` learns moves of perfect play, as in `text_rewards`, for the same few steps on every
task. Its pass rate is the share of the choices of perfect play at which its most probable legal move is optimal. Rows
are added to a .csv.gz file as trainings end; the same command continues.
"""

import sys

import numpy as np
import torch

from stb_gym.solver import pair_weights
from stb_gym.text import TextGame, draw_task
from training.experiments.language_model import Transformer, fit
from training.experiments.table import Keys, table_command
from training.experiments.text_rewards import Course

KEY = ["task", "steps"]
MODELS = 3  # trained on each task
PASS_RATES = [f"pass_rate {model}" for model in range(MODELS)]
PREDICTORS = ["difficulty", "missed", "mean_loss", "choices"]
CHOSEN_ON = 40  # the first tasks, on which `TextTask.difficulty` was chosen from several predictions
STEPS, BATCH = 20, 64


def pass_rates(task: int, steps: int) -> list[float]:
    """Train models on a task for some steps; return their pass rates, and the task's PREDICTORS."""
    torch.set_num_threads(1)
    torch.manual_seed(task)
    drawn = draw_task(task)
    course = Course(TextGame(drawn.text.game, drawn.text.objective))
    tables, best = course.tables, course.best
    visits = best.evaluate(best.policy).visits[course.asked]
    weights = torch.tensor(visits)
    optimal = tables.lowest(best.optimal)[tables.decisions.searchsorted(course.asked)]
    learned = torch.tensor(course.pairs.searchsorted(optimal))
    found = []
    for _ in range(MODELS):
        model = Transformer()
        fit(model, steps, lambda model: course.loss(model, learned[torch.multinomial(weights, BATCH, True)]))
        likelihood = np.full(len(tables.pair_state), -np.inf)
        with torch.no_grad():
            likelihood[course.pairs] = course.log_probability(model, course.question, course.examples, course.ends)
        chosen, _ = pair_weights(tables, tables.greedy(likelihood))
        found.append(float(visits @ tables.sum_at_states(chosen * best.optimal)[course.asked] / visits.sum()))
    return found + [getattr(drawn, name) for name in PREDICTORS]


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings; each task is drawn by a seed."""
    return [(task, STEPS) for task in range(seeds)]


main = table_command("task_difficulty", pass_rates, keys, KEY, PASS_RATES + PREDICTORS, seeds=80)

if __name__ == "__main__":
    sys.exit(main())
