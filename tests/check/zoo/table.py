"""The table of the zoo: what each check says on each fault."""

import csv
from functools import cache, partial
from importlib.metadata import version
from inspect import isfunction
from pathlib import Path

from stb_gym import check
from tests.check.zoo import dqn, dqn_faults, group, group_faults, ppo, ppo_faults  # noqa: F401
from tests.check.zoo.registry import Fault

PATH = Path(__file__).parents[3] / "docs/results/faults.csv"
PEERS = ("agilerl", "probing_environments", "return_curve")
COLUMNS = (
    "key", "family", "source", "learner", "pieces", "flagged", "named", "noise", "checks", "error", "likely",
    "versions", *PEERS, "peer_versions",
)  # fmt: skip
MODULES = {ppo.PPO: ppo, dqn.DQN: dqn, group.Group: group}
NAMES = {ppo.PPO: "PPO", dqn.DQN: "DQN", group.Group: "group"}
LINES = 2  # a reader follows the first lines of `likely`
STEPS = 4096  # for each training on the ladder
CLIMBED = {
    "falsy-action": "sign",
    "eval-updates-stats": "discount",
}  # faults that only whole learners show clearly, and the rung that fails


@cache
def touched(learner: type) -> dict[str, set[str]]:
    """Return the names that each check of a right learner reads from it."""
    names: set[str] = set()

    class Traced(learner):
        def __getattribute__(self, name):
            names.add(name)
            return super().__getattribute__(name)

    found = {}
    for name, run in MODULES[learner].checks(Traced).items():
        names.clear()
        run()
        found[name] = set(names)
    return found


def pieces(learner: type) -> list[str]:
    """Return the names that a class defines."""
    return [name for name in vars(learner) if not name.startswith("__") or name == "__init__"]


def base(fault: Fault) -> type:
    """Return the textbook learner in which a fault is planted."""
    return next(learner for learner in MODULES if issubclass(fault.learner, learner))


def checks(fault: Fault):
    """Return the checks that apply to a fault, by name."""
    right = base(fault)
    changed = [each for each in fault.learner.__mro__ if issubclass(each, right) and each is not right]
    replaced = {name for each in changed for name in pieces(each) if hasattr(right, name)}
    is_method = all(isfunction(getattr(right, name)) for name in replaced) and "__init__" not in replaced
    reads = touched(right)
    found = {
        name: run
        for name, run in MODULES[right].checks(fault.learner).items()
        if not is_method or replaced & reads[name]  # other checks see nothing of what was replaced
    }
    if fault.key in CLIMBED:
        found["agent"] = lambda: climb(fault.learner, CLIMBED[fault.key])
    return found


def climb(learner: type, *rungs: str):
    """Return what rungs of the ladder say on a learner."""
    return check.agent(partial(ppo.agent, learner), rungs=rungs or None, steps=STEPS)


def depends_on_chance(name: str, result: check.CheckResult) -> bool:
    """Return whether a check, or the only case of it that failed, depends on chance."""
    cases = [case.name for case in result.cases if not case.passed]
    return name.startswith(("gradient", "agent")) or cases == ["how often actions are played"]


def row(fault: Fault) -> dict[str, str]:
    """Run the checks on a fault and return its row."""
    failed = {}
    for name, run in checks(fault).items():
        try:
            result = run()
        except ValueError:  # the check refuses the learner in one line
            continue
        if not result:
            failed[name] = result
    naming = {
        name: line
        for name, result in failed.items()
        for line in reversed(result.likely[:LINES])
        if any(words in line for words in fault.words)
    }
    best = next((name for name in failed if name in naming), next(iter(failed), ""))
    noisy = all(depends_on_chance(*each) for each in failed.items())
    result = failed.get(best)
    return {
        "key": fault.key,
        "family": fault.family,
        "source": fault.source,
        "learner": NAMES[base(fault)],
        "pieces": " ".join(pieces(fault.learner)),
        "flagged": "yes" if failed else "no",
        "named": "yes" if naming else "no",
        "noise": ("yes" if noisy else "no") if failed else "",
        "checks": "; ".join([best, *(name for name in failed if name != best)]) if failed else "",
        "error": f"{result.error:.2g}" if failed else "",
        "likely": naming.get(best) or (next(iter(result.likely), "") if failed else ""),
        "versions": f"stb-gym {version('stb-gym')}, torch {version('torch')}",
    }


def read() -> list[dict[str, str]]:
    """Return the rows of the file; [] if there is none."""
    if not PATH.exists():
        return []
    with PATH.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(rows: list[dict[str, str]]) -> None:
    with PATH.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
