"""The commands of the laboratory, `stb-gym train` and others: they are there where the library is used from a clone.

The library does not need the laboratory, and knows of it no more than where it is and what its modules are called.
"""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = "training"  # its folder beside that of the library

COMMANDS = {
    "demo": "A minute: solve, learn, and see how close it came",
    "train": "Train a learner, and measure its exact regret on the way",
    "self-play": "Train learners in rounds, mostly against themselves, and measure how exploitable they are",
    "remeasure": "Measure a training again, from its weights",
    "report": "A page about trainings of one game, with tables and pictures",
    "mistakes": "A picture of where what an agent still loses lies",
    "film": "What a training had learned at several times plays the same dice",
    "study": "Train algorithms x tasks x seeds on several cores",
    "results": "The page and the pictures of a study",
    "merge": "Bring the results of a study to those of others",
    "keep": "Keep the best policies of a study",
    "ladder": "A table and a picture of boxes of rising size",
    "many-boxes": "One network on many boxes, and what it knows of others",
    "tune": "Search settings by exact regret",
}
# Those that are not called as their commands.
MODULES = {"many-boxes": "many_boxes", "remeasure": "evaluate", "self-play": "rounds"}


def run_laboratory(name: str, words: list[str]) -> int:
    """Run a command of the laboratory; returns its exit status.

    Raises:
        ImportError: if there is no laboratory, or it lacks a package, saying what to do.
    """
    if not (ROOT / PLACE / "__init__.py").exists():
        raise ImportError(
            f"stb-gym {name} is of the laboratory, which is in a clone of the repository and does not come with the "
            "package: run it there"
        )
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    try:
        module = importlib.import_module(f"{PLACE}.{MODULES.get(name, name)}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"stb-gym {name} needs {error.name}, which is not installed: pip install --group lab, in {ROOT}"
        ) from error
    status: int = module.main(words)
    return status
