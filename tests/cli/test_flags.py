"""Flags and help come from the fields of questions, of rules, and from the words that name positions."""

import re
from dataclasses import MISSING, dataclass, fields
from unittest.mock import patch

import pytest

from stb_gym import GAMES, Threes, rule
from stb_gym.cli import laboratory, main
from stb_gym.cli.program import QUESTIONS
from stb_gym.cli.questions import names
from stb_gym.games import Entry, enter, registry, rules_of


@pytest.fixture
def help_of(capsys, monkeypatch):
    """A function of a command: its --help, as a terminal of 80 columns shows it."""
    monkeypatch.setenv("COLUMNS", "80")

    def shown(*words):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        assert ended.value.code == 0
        return capsys.readouterr().out

    return shown


def said_of(flag, shown):
    """What help says of a flag, in one line."""
    [said] = re.findall(rf"^  --{flag}(?:, --no-{flag})?((?: .*)?(?:\n {{10,}}.*)*)$", shown, re.MULTILINE)
    return " ".join(said.split())


def group_of(flag, shown):
    """The games that help says a rule is of."""
    [group] = [part for part in shown.split("\nrules of ")[1:] if re.search(rf"\n  --{flag}\b", part)]
    return group.partition(":")[0].split(" and ")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_help_says_all_that_is_known_of_the_fields(help_of, question):
    shown = help_of(question.name)
    assert max(map(len, shown.split("\n"))) <= 80
    assert " ".join((question.__doc__ or "").split("\n")[0].split()) in " ".join(shown.split())
    for each in fields(question):
        known = each.metadata["flag"]
        if known.bare:
            assert f"stb-gym {question.name} [{known.sample} ...] [options]" in shown
            assert known.words in " ".join(shown.split())
        elif not known.position:
            said = said_of(each.name.replace("_", "-"), shown)
            assert known.words in said
            assert known.sample is None or said.startswith(known.sample)
            assert (f"(default {each.default})" in said) == (type(each.default) in (int, float, str))
    assert ("GAME" in shown) == ("\nrules of " in shown) == question.of_a_game
    for name, rules in GAMES.items() if question.of_a_game else ():
        for each in fields(rules):
            known = rules_of(rules)[each.name]
            said = said_of(known.flag or each.name.replace("_", "-"), shown)
            assert known.words in said
            assert name in group_of(known.flag or each.name.replace("_", "-"), shown)
            assert known.low is None or f"{known.low} to {known.high}" in said
            assert known.sample is None or said.startswith(known.sample)
            assert each.default in (None, False) or f"default {each.default}" in said


def test_what_games_share_is_said_once(help_of):
    shown = help_of("solve")
    assert said_of("faces", shown) == "N faces of every die; faces**dice is at most 4,194,304 (2 to 20, default 6)"
    assert said_of("tiles", shown) == "N number of tiles, numbered from 1 (1 to 28, default 9)"
    assert "(shut-the-box: 1 to 7, default 2); number of dice of the first throw (threes:" in said_of("dice", shown)


def test_rules_are_grouped_by_game(help_of):
    shown = help_of("solve")
    assert re.findall(r"^rules of (.*):$", shown, re.MULTILINE) == ["shut-the-box", "threes", "shut-the-box and threes"]
    assert group_of("variant", shown) == group_of("tiles", shown) == ["shut-the-box"]
    assert group_of("moon", shown) == ["threes"]
    assert group_of("faces", shown) == group_of("dice", shown) == ["shut-the-box", "threes"]


def test_positions_of_both_games_are_flags(help_of):
    shown = help_of("advise")
    for flag, games in [("open", ["shut-the-box"]), ("points", ["threes"]), ("roll", ["shut-the-box", "threes"])]:
        said = said_of(flag, shown)
        for game in games:
            [where] = [where for word, where in registry.entry_of(GAMES[game]).words.positions.items() if word == flag]
            assert f"{where.words} ({game})" in said
    assert "(shut-the-box, threes)" in said_of("dice-in-hand", shown)
    assert "--open" not in help_of("solve")


def test_help_breaks_lines_between_words_only(help_of):
    for line in help_of("solve").split("\n"):
        assert not re.search(r"[a-z]-$", line)


def test_the_commands_are_listed_with_what_they_do(help_of):
    shown = " ".join(help_of().split())
    for question in QUESTIONS:
        assert f" {question.name} {(question.__doc__ or '').split(chr(10))[0]}" in shown
    for name, words in laboratory.COMMANDS.items():
        assert f" {name} {words} (laboratory)." in shown


# Games of one's own


@pytest.fixture
def coins():
    """A game with a rule of another type than Shut the Box's of the same name, one that is on, and one renamed."""

    @dataclass(frozen=True, repr=False)
    class Coins(Threes):
        score: int = rule(4, "the score, in 100% of the games", low=0, high=9)
        shiny: bool = rule(True, "whether the coins shine")
        weight: float = rule(1.5, "what a coin weighs", flag="coin-weight")
        name = "coins"

    with patch.dict(GAMES), patch.dict(registry._ENTRIES):
        enter(Entry(Coins))
        yield Coins


def test_flags_of_one_name_are_read_as_the_game_wants_them(ask, coins, help_of, capsys):
    shown = help_of("solve")
    assert "lowest tile first (1, 2 and 5 are 125) (shut-the-box: default sum); the score, in 100% of" in said_of(
        "score", shown
    )
    assert "whether the coins shine" in said_of("shiny", shown)
    rules = ask("solve", "coins", "--dice", "1", "--score", "7", "--no-shiny", "--coin-weight", "2.5")["rules"]
    assert (rules["score"], rules["shiny"], rules["weight"]) == (7, False, 2.5)
    assert ask("solve", "shut-the-box", "--tiles", "3", "--score", "count")["rules"]["score"] == "count"
    assert ask("solve", "coins", "--dice", "1")["rules"]["shiny"] is True
    assert main(["solve", "coins", "--score", "sum"]) == 2
    assert capsys.readouterr().err == "stb-gym: --score must be an integer, not 'sum'\n"


def test_a_rule_may_not_have_the_flag_of_a_command(capsys):
    @dataclass(frozen=True, repr=False)
    class Taken(Threes):
        rounds: int = rule(3, "how many rounds", low=1, high=9)
        name = "taken"

    with patch.dict(GAMES), patch.dict(registry._ENTRIES):
        enter(Entry(Taken))
        assert main(["match", "taken"]) == 2
    said = capsys.readouterr().err
    assert said == (
        "stb-gym: a rule of a game needs another flag (see stb_gym.rule): "
        "argument --rounds: conflicting option string: --rounds\n"
    )


# Several values of one flag


@pytest.mark.parametrize("given", [["random,worst"], ["random", "--policy", "worst"]])
def test_names_are_separated_by_commas_or_given_by_the_flag_again(ask, given):
    assert ask("round", "threes", "--dice", "1", "--policy", *given)["policies"] == ["random", "worst"]


@pytest.mark.parametrize("command", ["evaluate", "simulate", "card"])
@pytest.mark.parametrize("given", [["random,worst"], ["random", "--policy", "worst"]])
def test_a_command_about_one_policy_refuses_two(capsys, command, given):
    assert main([command, "threes", "--policy", *given]) == 2
    assert capsys.readouterr().err == "stb-gym: --policy must be one name here, not 2: random, worst\n"


def test_every_flag_of_names_takes_several_in_the_same_way():
    known = {each.name: each.metadata["flag"] for question in QUESTIONS for each in fields(question)}
    assert {"policy", "against", "run"} <= {name for name, flag in known.items() if flag.kind is names}
    assert not any(flag.repeated and flag.kind is not names for flag in known.values())


@pytest.mark.parametrize("question", [each for each in QUESTIONS if each.of_a_game], ids=lambda each: each.name)
def test_open_names_the_tiles_of_a_position_alone(capsys, question):
    if any(each.metadata["flag"].position for each in fields(question)):
        return
    required = [word for each in fields(question) if each.default is MISSING for word in (f"--{each.name}", "x")]
    for words in (["--open", "1,3"], ["--open=1,3"]):
        assert main([question.name, "shut-the-box", *required, *words]) == 2
        assert "did you mean --start-open?" in capsys.readouterr().err


def test_flags_are_not_abbreviated(capsys):
    assert main(["solve", "shut-the-box", "--start", "1,3"]) == 2
    assert "unknown argument '--start'" in capsys.readouterr().err
