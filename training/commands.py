"""The frame of the commands: errors of one line, interrupts, and the task that flags choose."""

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter

from agents.custom import allow
from agents.presets import TASKS
from agents.registry import LEARNERS
from stb_gym.checks import check_choice
from stb_gym.cli import convert_exactly, flag_of_rule, modules_to_import
from stb_gym.console import reader_may_leave, refuse, say
from stb_gym.envs import ENVIRONMENTS
from stb_gym.games import rules_of
from stb_gym.messages import quoted

Algorithm = Annotated[
    str,
    Parameter(
        help=f"One of {', '.join(LEARNERS)}; or MODULE:NAME, a function or class of an environment that returns an "
        "agent with learn and predict."
    ),
]


def run_command(
    name: str, function: Callable[..., int | None], words: Sequence[str] | None = None, how_to_continue: str = ""
) -> int:
    """Run a command and return its exit status: 0, 2 after an error, 130 after ctrl-C or SIGTERM.

    Args:
        name: the name of the command, such as "training.train".
        function: the command, whose parameters become arguments and flags. It returns the exit status, or None for 0.
        words: the words of the command line; by default those of the process.
        how_to_continue: what a user may do who interrupted the command.
    """
    app = App(
        name=f"python -m {name}",
        help=(function.__doc__ or "").partition("\n")[0] + " --import MODULE imports a game or an agent of your own.",
        help_format="plaintext",
        version_flags=(),
        default_parameter=Parameter(negative=(), converter=convert_exactly),
        suppress_keyboard_interrupt=False,
    )
    app.default(function)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # raises KeyboardInterrupt
    try:
        with reader_may_leave():
            modules, others = modules_to_import(sys.argv[1:] if words is None else words)
            for module in modules:
                allow(module)
            return app(others, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except (CycloptsError, ValueError, OSError, ImportError, MemoryError) as error:
        return refuse(name, error)
    except KeyboardInterrupt:
        say(f"{name}: interrupted{how_to_continue and '; '}{how_to_continue}", error=True)
        return 130


def parsed(value: str) -> Any:
    """Return what a word of the command line means as JSON, or the word.

    Raises:
        ValueError: if the word begins like a list, an object or a string of JSON, but is not valid JSON.
    """
    try:
        return json.loads(value)
    except ValueError:
        if value.startswith(("[", "{", '"')):
            raise ValueError(f"{quoted(value)} is no JSON") from None
        return value


def choose_task(
    env: str | None, task: str | None, objective: str | None, rules: Mapping[str, str]
) -> tuple[str, dict[str, Any]]:
    """Return the environment id and the keyword arguments that flags choose.

    Args:
        env: --env, the id of an environment.
        task: --task, a name of `agents.presets.TASKS`; without both, nine-tiles.
        objective: --objective.
        rules: rules of the game as flags and words: {"one-die": "low-sum"}.

    Raises:
        ValueError: if there is no such task, environment or rule, or both task and environment are given.
    """
    arguments: dict[str, Any] = {}
    if env is None:
        task = task or "nine-tiles"
        check_choice("task", task, list(TASKS))
        env, arguments = TASKS[task]
    elif task is not None:
        raise ValueError("--env and --task exclude each other")
    arguments = {**arguments}  # leave the task as it is
    check_choice("environment (one of your own needs --import)", env, list(ENVIRONMENTS))
    flags = {flag_of_rule(name): name for name in rules_of(ENVIRONMENTS[env].rules)}
    for flag, word in rules.items():
        check_choice("flag or rule", flag, list(flags))
        arguments[flags[flag]] = parsed(word)
    if objective is not None:
        arguments["objective"] = objective
    return env, arguments
