"""Test that any command line gets an answer or a one-line error, and that no file is executed or unpickled."""

import contextlib
import inspect
import io
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, save_policy, solve
from stb_gym.cli import flag_of_rule, main
from stb_gym.cli.program import COMMANDS
from stb_gym.games import rules_of
from tests import Code

SMALL = ShutTheBox(tiles=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Enter a folder with valid, damaged and forged files, and with paths that are not files."""
    folder = tmp_path_factory.mktemp("hostile")
    with contextlib.chdir(folder):
        save_policy("policy.npz", SMALL, solve(SMALL).policy)
        Path("cut.npz").write_bytes(Path("policy.npz").read_bytes()[:40])
        entries = {"format": 2, "policy": np.zeros(5, int), "game": "\x1b[31mshut-the-box", "rules": "[" * 5000}
        np.savez("forged.npz", **entries)
        np.savez("pickled.npz", format=2, policy=np.array([Code()], object), game="shut-the-box", rules='{"tiles": 4}')
        Path("pickle.npz").write_bytes(pickle.dumps(Code()))
        Path("folder").mkdir()
        Path("loop.npz").symlink_to("loop.npz")
        os.mkfifo("pipe.npz")
        Path("evil.py").write_text("open('executed', 'w')\n")
        yield folder
        assert not Path("executed").exists()


FILES = ["policy.npz", "cut.npz", "forged.npz", "pickled.npz", "pickle.npz", "folder", "folder/", "pipe.npz"]
FILES += ["loop.npz", "none/none.npz", "evil.py", "a\x00b", "x" * 300]
NUMBERS = ["0", "1", "2", "3", "4", "-1", "007", "1e3", "1_0", "nan", "inf", "-0", "99999", "²", " 3", "9" * 5000]
WORDS = ["", " ", "-", "--", "---", "\x1b[31mred", "\r\n", "a\nb", "\u202e", "\udcff", "'", '"', "$(touch executed)"]
WORDS += ["__import__('evil')", "{}", "%s", "optimal", "random", "score", "shut", "at-most:3", "at-most:" + "9" * 99]
WORDS += ["1,2", "1,,2", ",", "random,random", "optimal,policy.npz", "none:open", "no.such:agent", "all", "x" * 9999]
FLAGS = {f"--{name}" for command in COMMANDS.values() for name in inspect.signature(command).parameters} - {"--pause"}
for rules in (ShutTheBox, Threes):
    FLAGS |= {f"--{flag_of_rule(name)}" for name in rules_of(rules)}
SIZES = {"--tiles": ["3", "4"], "--dice": ["1", "2"], "--faces": ["3", "4"]}  # small, so that commands are quick


@st.composite
def command_lines(draw):
    """Draw a command with a few flags; about half of their values are allowed."""
    game = draw(st.sampled_from(["shut-the-box", "threes"]) | st.sampled_from(WORDS + FILES))
    words = [draw(st.sampled_from([*COMMANDS])), game]
    for flag in draw(st.lists(st.sampled_from(sorted(FLAGS)), max_size=4)):
        words += [flag, draw(st.sampled_from(NUMBERS) | st.sampled_from(WORDS) | st.sampled_from(FILES))]
    for flag in sorted(SIZES.keys() - {*words, "--tiles" if game == "threes" else ""}):
        words += [flag, draw(st.sampled_from(SIZES[flag]))]
    return words + draw(st.sampled_from([[], [], ["--json"], ["--help"], ["--tiles"]]))


TYPED = st.lists(st.sampled_from(["?", "1", "1 2", "\x1b[2J", "undo", "9" * 50, "n", "y"]), max_size=30)


@pytest.mark.nightly
@settings(max_examples=500)
@given(command_lines(), TYPED)
def test_a_command_answers_or_refuses_in_one_line(folder, words, typed):
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr("time.sleep", lambda seconds: None)
        patch.setattr("sys.stdin", io.StringIO("\n".join(typed)))
        try:
            status = main(words)
        except SystemExit as ended:
            status = ended.code
    said = err.getvalue().splitlines()
    assert status == 0 or (status == 2 and len(said) == 1)
    assert all(line.isprintable() for line in [*out.getvalue().split("\n"), *said])
