"""The command as a process of its own: what pip makes of pyproject.toml, though of the checkout that is tested."""

import subprocess
import sys
import tomllib

from tests import PATIENCE, ROOT

[(_, _ENTRY)] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"].items()
_MODULE, _FUNCTION = _ENTRY.split(":")
STB_GYM = [sys.executable, "-c", f"import sys; from {_MODULE} import {_FUNCTION}; sys.exit({_FUNCTION}())"]


def run(*arguments, **how):
    """Its status, and what it printed on standard output and on standard error."""
    done = subprocess.run([*STB_GYM, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False, **how)
    return done.returncode, done.stdout, done.stderr
