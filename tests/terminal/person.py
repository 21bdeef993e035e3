"""A person who plays at a pseudo-terminal."""

import os
import select
import subprocess
import time

from tests import PATIENCE
from tests.cli.processes import STB_GYM


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
