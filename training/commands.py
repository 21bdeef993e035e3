"""Names of trainings, and the commands that anybody repeats them with."""

from agents.config import Config, Task
from agents.presets import FILE, STANDARD, Presets
from stb_gym.cli import flag_of_rule
from stb_gym.games import Game, own_rules


def run_name(algorithm: str, task: str, variant: str, seed: int) -> str:
    """The name of a run, such as "ppo-nine-tiles-quick-0"."""
    return "-".join([algorithm, task, *([variant] if variant != STANDARD else []), str(seed)])


def task_name(task: Task) -> str:
    """A name for a task that has none among the presets, made of its environment, rules and objective."""
    words = [task.env.split("/")[-1], *(str(word) for rule in task.rules.items() for word in rule)]
    words += [task.objective.replace(":", "-")] if task.objective != "score" else []
    return "-".join(words)


def module_of(task: Task) -> str:
    """The module that registers the game of a task."""
    return type(task.game()).__module__


def import_words(task: Task) -> list[str]:
    """What a command must be told to know the game of a task, as words: `--import MODULE` if the game is your own."""
    module = module_of(task)
    return [] if module.startswith("stb_gym.") else ["--import", module]


def rule_flags(game: Game) -> list[str]:
    """Return the flags of commands that select the rules of a game."""
    words = []
    for name, value in own_rules(game).items():
        words.append(f"--no-{flag_of_rule(name)}" if value is False else f"--{flag_of_rule(name)}")
        if not isinstance(value, bool):
            words.append(",".join(map(str, value)) if isinstance(value, tuple) else str(value))
    return words


def train_command(config: Config, variant: str, presets: Presets) -> list[str]:
    """The command that trains a configuration, as a list of words.

    Args:
        config: that of a preset.
        variant: variant of the preset.
        presets: where the preset is.
    """
    task = config.task
    words = ["python", "-m", "training.train", config.algorithm, *import_words(task), "--env", task.env]
    if presets.file != FILE:
        words += ["--presets", str(presets.file)]
    words += rule_flags(task.game())
    if task.objective != "score":
        words += ["--objective", task.objective]
    if variant != STANDARD:
        words += ["--variant", variant]
    return [*words, "--seed", str(config.seed)]


def evaluate_command(task: Task) -> list[str]:
    """The command that evaluates on a task, as words; `--policy NAME` or `--policy FILE` are to be added."""
    words = ["stb-gym", *import_words(task), "evaluate", task.game().name, *rule_flags(task.game())]
    return [*words, *(["--objective", task.objective] if task.objective != "score" else [])]
