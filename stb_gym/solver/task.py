"""What an environment says of itself: its rules, what is wanted of a turn, and what an illegal action does."""

from typing import Any, NamedTuple

from stb_gym.games import ILLEGAL, Game, check_choice
from stb_gym.solver.objectives import Goal, Objective, objective_of


class Task(NamedTuple):
    """What an agent is to do.

    Attributes:
        game: the rules.
        objective: what is wanted.
        illegal: what an illegal action does: it ends the turn with the worst score ("end"), or raises ("raise").
    """

    game: Game
    objective: Objective
    illegal: str


def task_of(what: Any, objective: Goal | None = None, illegal: str | None = None) -> Task:
    """The task of a game or of an environment.

    Args:
        what: a game; an environment or vector environment of this package, however wrapped; or one of Gymnasium or
            stable-baselines3 that runs some of them, all for the same task.
        objective: what is wanted; by default what the environment says, and of a game the score.
        illegal: what an illegal action does; by default what the environment says, and of a game that it raises.

    Raises:
        TypeError: if `what` is neither.
        ValueError: if its environments differ, there is no such objective, or no such treatment of illegal actions.
    """
    said = Task(what, objective_of(what, "score"), "raise") if isinstance(what, Game) else _said_by(what)
    goal = said.objective if objective is None else objective_of(said.game, objective)
    illegal = said.illegal if illegal is None else illegal
    check_choice("treatment of illegal actions", illegal, ILLEGAL)
    return Task(said.game, goal, illegal)


def _said_by(env: Any) -> Task:
    """The task of an environment, or the one that all of several have."""
    inner = getattr(env, "unwrapped", env)
    try:
        own = hasattr(inner, "game")
        tasks = [Task(inner.game, inner.objective, inner.illegal)] if own else _said_by_each(inner)
    except AttributeError:
        raise _neither(env) from None
    if not tasks or not all(isinstance(task.game, Game) for task in tasks):
        raise _neither(env)
    for task in tasks:
        if task != tasks[0]:
            raise ValueError(f"the environments of {type(env).__name__} have different tasks: {tasks[0]} and {task}")
    return tasks[0]


def _said_by_each(envs: Any) -> list[Task]:
    """The tasks of several environments.

    In other processes they say the names of their objectives: a function cannot be sent, and to ask for it would end
    the process.
    """
    games, illegal = envs.get_attr("game"), envs.get_attr("illegal")
    if hasattr(envs, "envs"):
        objectives = envs.get_attr("objective")
    else:
        names = envs.get_attr("objective_name")
        if None in names:
            raise ValueError(
                f"the objective of {type(envs).__name__} is a function, which cannot be seen from this process: take "
                "an environment that is made alike"
            )
        objectives = map(objective_of, games, names)
    return [Task(*each) for each in zip(games, objectives, illegal, strict=True)]


def _neither(what: Any) -> TypeError:
    return TypeError(
        f"{what!r:.80} is neither a game nor an environment of stb_gym: make one, such as stb_gym.ShutTheBox() or "
        "gym.make('stb_gym/ShutTheBox-v0')"
    )
