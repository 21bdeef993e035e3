"""What people expect of any command: help, examples, a version, completion, documented JSON; and the laboratory."""

import re
import shlex
import subprocess
import sys

import pytest

from stb_gym import __version__
from stb_gym.cli import laboratory, main
from stb_gym.cli.program import QUESTIONS, asked, command_parser
from tests import PATIENCE, ROOT
from tests.cli.test_questions import ASKED

EXAMPLES = [(question, example) for question in QUESTIONS for example in question.examples]
TAKE_LONG = ("variants", "par", "explore", "watch", "play")  # or ask a person
AGENT = "tests.measure.test_meter:first_legal"


def test_the_command_alone_prints_its_help(capsys):
    assert main([]) == 0
    alone = capsys.readouterr().out
    assert alone.startswith("usage: stb-gym ")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out == alone


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"stb-gym {__version__}\n")


@pytest.mark.slow
def test_the_module_is_the_command():
    words = [sys.executable, "-m", "stb_gym", "advise", "threes", "--roll", "3,1,6"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "keep 2" in done.stdout


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_help_ends_with_two_examples(question, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([question.name, "--help"])
    lines = [f"  stb-gym {question.name} {example}".rstrip() for example in question.examples]
    assert capsys.readouterr().out.splitlines()[-3:] == ["examples:", *lines]
    assert len(set(question.examples)) == 2


@pytest.mark.parametrize(("question", "example"), EXAMPLES, ids=lambda each: getattr(each, "name", each))
def test_examples_are_understood(question, example):
    found, game = asked(command_parser().parse_args([question.name, *shlex.split(example)]))
    assert type(found) is question
    assert game is None or game.name in example or game.name == question.usual_game()


@pytest.mark.slow
@pytest.mark.parametrize(("question", "example"), [each for each in EXAMPLES if each[0].name not in TAKE_LONG])
def test_examples_are_answered(question, example, capsys):
    assert main([question.name, *shlex.split(example.replace("MODULE:NAME", AGENT))]) == 0
    assert capsys.readouterr().out


# JSON


def documented():
    """By command the entries of its JSON that docs/json.md has; under "" those of all commands about a game."""
    found, name = {}, ""
    for line in (ROOT / "docs/json.md").read_text().splitlines():
        if line.startswith("| "):
            cells = [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:3]]
            if len(line.split("|")) > 4:
                name = next(iter(cells[0]), name)
                found.setdefault(name, set()).update(cells[1])
            else:
                found.setdefault("", set()).update(cells[0])
    return found


def test_every_entry_of_the_json_is_documented():
    known, printed = documented(), {}
    known["measure"] |= known["evaluate"] - {"departures"}
    for question, game, *_ in ASKED:
        entries = question.answer(game).to_json()
        assert next(iter(entries.items())) == ("schema", 1)
        printed.setdefault(question.name, set()).update(entries)
    only_sometimes = {"out", "files", "ranges", "seen"}
    for name, entries in printed.items():
        assert entries - {"schema"} <= known[name] | known[""], name
        assert known[name] - entries <= only_sometimes, name
    assert known.keys() - {""} == printed.keys() | {"explore"}


# Completion


COMPLETED = """
source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_shtab_stb_gym "$1" "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("sol", "solve"),
        ("stu", "study"),
        ("solve sh", "shut-the-box"),
        ("solve threes --ob", "--objective"),
        ("advise threes --p", "--points --players"),
    ],
)
def test_bash_completes_commands_games_and_flags(typed, words, capsys):
    pytest.importorskip("shtab")
    assert main(["--completion", "bash"]) == 0
    bash = ["bash", "-c", COMPLETED, "bash", "stb-gym", *typed.split()]
    script = capsys.readouterr().out
    done = subprocess.run(bash, input=script, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.stdout.split(), done.stderr) == (words.split(), "")


def test_without_shtab_completion_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--completion", "bash"]) == 2
    said = "completion needs shtab, which is not installed: pip install 'stb-gym[completion]'"
    assert capsys.readouterr().err == f"stb-gym: {said}\n"


# The laboratory


@pytest.fixture
def laboratory_here(monkeypatch):
    """The laboratory is the one beside the tests, wherever the library is."""
    monkeypatch.setattr(laboratory, "ROOT", ROOT)


def test_commands_of_the_laboratory_are_its_modules_and_no_questions():
    modules = {laboratory.MODULES.get(name, name) for name in laboratory.COMMANDS}
    assert modules == {path.stem for path in (ROOT / "training").glob("*.py") if "def main(" in path.read_text()}
    assert not laboratory.COMMANDS.keys() & {question.name for question in QUESTIONS}


@pytest.mark.usefixtures("laboratory_here")
def test_a_command_of_the_laboratory_gets_its_words(monkeypatch):
    told = []
    module = type(sys)("training.merge")
    module.main = lambda words: told.append(words) or 3
    monkeypatch.setitem(sys.modules, "training.merge", module)
    assert main(["merge", "a", "--into", "b", "--help"]) == 3
    assert told == [["a", "--into", "b", "--help"]]


def test_where_there_is_no_laboratory_the_command_says_so(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(laboratory, "ROOT", tmp_path)
    assert main(["train", "--help"]) == 2
    said = (
        "stb-gym train is of the laboratory, which is in a clone of the repository and does not come with the package"
    )
    assert capsys.readouterr().err == f"stb-gym: {said}: run it there\n"


@pytest.mark.usefixtures("laboratory_here")
def test_a_laboratory_that_lacks_a_package_says_which(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tyro", None)
    for name in [name for name in sys.modules if name.split(".")[0] == "training"]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["ladder"]) == 2
    assert capsys.readouterr().err.startswith("stb-gym: stb-gym ladder needs tyro, which is not installed: pip install")
