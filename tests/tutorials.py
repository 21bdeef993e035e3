"""Run a tutorial and parse the learning curve that it prints."""

import re
import runpy

from tests import ROOT

FOLDER = ROOT / "docs" / "tutorials"
LINE = re.compile(r"^ *([\d,]+) steps: regret ([\d.]+)$", re.MULTILINE)


def curve_of(name, capsys, **arguments):
    """Run `main` of a tutorial and return [(steps, regret)] as printed."""
    runpy.run_path(str(FOLDER / f"{name}.py"))["main"](**arguments)
    return [(int(steps.replace(",", "")), float(regret)) for steps, regret in LINE.findall(capsys.readouterr().out)]
