"""What people see of answers."""

import pytest

from stb_gym.cli import main


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "solve shut-the-box",
            ["best play          11.157508", "chance to shut     7.088853%", "9            7.623689"],
        ),
        ("solve threes --worst --objective shut", ["worst play          0.000000%"]),
        ("evaluate threes --policy take-all", ["regret              8.746021", "dearest mistakes", "score   chance"]),
        ("advise threes --roll 3,1,6", ["keep 2  4.000000  0.000000"]),
        ("simulate shut-the-box --policy random --turns 1000", ["of 1,000 turns", "standard error"]),
        ("round threes --policy optimal,random", ["seat 2  random", "exploitability", "   4  100.00%"]),
        ("match threes --policy optimal,random", ["rounds  1: optimal  2: random      tied\n     1    79.0845%"]),
        ("strategies", ["optimal-shut ", "Perfect play for the chance of the perfect score.", "threes-only "]),
        ("strategies threes", ["optimal-score   6.253979  0.000000             1.0332%"]),
    ],
)
def test_tables_for_people(capsys, arguments, expected):
    assert main(arguments.split()) == 0
    printed = capsys.readouterr().out
    for text in expected:
        assert text in printed


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (
            "advise shut-the-box --open 1,4,5,8 --roll 9",
            """\
shut-the-box: tiles 9, dice 2, faces 6, score sum
objective score
open 1,4,5,8, roll 9

move         value    regret
shut 4,5  6.888889  0.000000
shut 1,8  7.027778  0.138889
""",
        ),
        (
            "tournament shut-the-box --policy optimal,biggest-first",
            """\
shut-the-box: tiles 9, dice 2, faces 6, score sum
first-to 100, ties split
the tournament ends after the round in which a total reaches the limit, and the best total wins

player             wins
optimal        52.4349%
biggest-first  47.5651%

8.4126 rounds in the mean
""",
        ),
        (
            "match threes --policy optimal,threes-only --shut-wins",
            """\
threes: dice 5, faces 6
2 players, ties split, who is indifferent prefers to share the lead with fewer, the perfect score wins at once
the first player begins every round

rounds  1: optimal  2: threes-only      tied
     1    51.0123%        41.0498%   7.9379%
     2    34.1211%        23.3679%  42.5110%
     5    54.0570%        35.2908%  10.6521%
    10    55.7795%        30.1026%  14.1179%
    20    63.6738%        27.8484%   8.4777%
""",
        ),
    ],
)
def test_whole_answers(capsys, words, printed):
    assert main(words.split()) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(("objective", "best"), [("score", min), ("shut", max)])
def test_many_first_rolls_are_ranked(ask, capsys, objective, best):
    known = ask("solve", "threes", "--objective", objective)["by_first_roll"]
    assert main(["solve", "threes", "--objective", objective]) == 0
    *_, words, rolls, more = capsys.readouterr().out.split("\n\n")
    assert words == "first rolls, the luckiest 18 and the unluckiest 18 of 252"
    rows = [line.split() for line in rolls.split("\n")[1:]]
    assert [int(row[-1]) for row in rows] == [*range(1, 19), *range(235, 253)]
    assert (rows[0][0], rows[0][2]) == ("3,3,3,3,3", "0.0129%")
    assert known[rows[0][0]] == best(known.values())
    assert known[rows[-1][0]] == {min: max, max: min}[best](known.values())
    assert more == "and 216 first rolls between them, all of them with --json\n"


def test_few_first_rolls_are_listed(capsys):
    assert main(["solve", "threes", "--dice", "2"]) == 0
    assert "between" not in capsys.readouterr().out
