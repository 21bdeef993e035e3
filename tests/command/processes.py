"""The command as a process of its own."""

import subprocess
import sys

STB_GYM = [sys.executable, "-c", "import sys; from stb_gym.command import main; sys.exit(main())"]


def run(*arguments, **how):
    """Its status, and what it printed on standard output and on standard error."""
    done = subprocess.run([*STB_GYM, *arguments], capture_output=True, text=True, timeout=60, check=False, **how)
    return done.returncode, done.stdout, done.stderr
