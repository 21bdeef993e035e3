"""The task of an agent: the game, what is maximised, and what an illegal action does."""

from typing import Any, NamedTuple, Protocol

from stb_gym.checks import check_choice
from stb_gym.games import Game
from stb_gym.messages import quoted
from stb_gym.solver.objectives import Goal, Objective, objective_of
from stb_gym.trial import check_wrappers

ILLEGAL = ("end", "raise")  # what an illegal action does: it ends the turn, or raises an error


class TurnEnvironment(Protocol):
    """An environment of a turn, as far as `task_of` reads it."""

    @property
    def unwrapped(self) -> Any:
        """The environment without wrappers, which has `game`, `objective` and `illegal`."""


GameOrEnv = Game | TurnEnvironment


class Task(NamedTuple):
    """What an agent is to do.

    Attributes:
        game: the rules.
        objective: what is maximised.
        illegal: what an illegal action does: it ends the turn with the worst score ("end"), or raises ("raise").
    """

    game: Game
    objective: Objective
    illegal: str


def task_of(what: GameOrEnv, objective: Goal | None = None, illegal: str | None = None) -> Task:
    """Return the task of a game or of an environment, after trying out its wrappers.

    Args:
        what: a game; an environment or vector environment of this package, with any wrappers; or one of Gymnasium or
            stable-baselines3 that runs several of them, all for the same task.
        objective: what is maximised; by default the environment's objective, and for a game "score".
        illegal: what an illegal action does; by default what the environment does, and for a game "raise".

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if its environments differ, there is no such objective or treatment of illegal actions, or a wrapper
            changes the turns; see `check_wrappers`.
    """
    task = untried_task(what, objective, illegal)
    if what is not task.game:
        check_wrappers(what, rewards=objective is None)
    return task


def untried_task(what: GameOrEnv, objective: Goal | None = None, illegal: str | None = None) -> Task:
    """Return what `task_of` does, without trying the wrappers."""
    task = Task(what, objective_of(what, "score"), "raise") if isinstance(what, Game) else _task_of_env(what)
    illegal = illegal or task.illegal
    check_choice("treatment of illegal actions", illegal, ILLEGAL)
    return Task(task.game, task.objective if objective is None else objective_of(task.game, objective), illegal)


def _task_of_env(env: Any) -> Task:
    """Return the task of an environment, or the one that all of several environments have."""
    inner = getattr(env, "unwrapped", env)
    try:
        is_turn = hasattr(inner, "game")
        tasks = [Task(inner.game, inner.objective, inner.illegal)] if is_turn else _tasks_of_each(inner)
    except AttributeError:
        tasks = []
    if not tasks or not all(isinstance(task.game, Game) for task in tasks):
        raise TypeError(
            f"{quoted(env, 40)} is neither a game nor an environment of one turn, such as stb_gym.Threes() or "
            "gym.make('stb_gym/Threes-v0'); for rounds use stb_gym.rounds.RoundMeter"
        )
    for task in tasks:
        if task != tasks[0]:
            raise ValueError(f"the environments of {type(env).__name__} have different tasks: {tasks[0]} and {task}")
    return tasks[0]


def _tasks_of_each(envs: Any) -> list[Task]:
    """Return the tasks of several environments.

    Environments in other processes send the names of their objectives: a function cannot be sent, and asking for it
    would end the process.
    """
    games, illegal = envs.get_attr("game"), envs.get_attr("illegal")
    if hasattr(envs, "envs"):
        objectives = envs.get_attr("objective")
    else:
        names = envs.get_attr("objective_name")
        if None in names:
            raise ValueError(
                f"the objective of {type(envs).__name__} is a function, which this process cannot read: pass an "
                "environment made with the same arguments"
            )
        objectives = map(objective_of, games, names)
    return [Task(*each) for each in zip(games, objectives, illegal, strict=True)]
