"""A person who plays: at a pseudo-terminal, or typing lines without one; and states in a person's words."""

import os
import select
import subprocess
import sys
import time

from stb_gym.games import locate
from stb_gym.solver import legal_moves
from stb_gym.terminal.turns import ThrownState
from tests import PATIENCE

STB_GYM = [sys.executable, "-m", "stb_gym"]


def sit_down(*arguments, keys):
    """Run `stb-gym play` on a terminal and press some keys at each prompt; return its status and all it showed."""
    ours, theirs = os.openpty()

    def own_the_terminal():  # so that Ctrl-C reaches the command: a session's first terminal opened is its own
        os.close(os.open(os.ttyname(0), os.O_RDWR))

    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "preexec_fn": own_the_terminal}
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    person = subprocess.Popen([*STB_GYM, "play", *arguments], **streams, start_new_session=True, env=strict)
    os.close(theirs)
    seen, keys = b"", list(keys)
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the command has ended
                break
            if seen.endswith(b"tiles? "):
                time.sleep(0.05)  # a person takes a moment; Python misses a Ctrl-C that comes with the prompt
                os.write(ours, keys.pop(0))
        return person.wait(timeout=PATIENCE), seen.decode(errors="replace").replace("\r\n", "\n")
    finally:
        person.kill()
        os.close(ours)


def state_at(game, **where):
    """Return the state that a person's words name."""
    progress, dice, roll = locate(game, where)
    return ThrownState(progress, dice, (), roll, legal_moves(game, progress, dice, roll))
