"""The command, run as a person runs it."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stb_gym import STRATEGIES, ShutTheBox, save_policy, solve, strategy
from stb_gym.cli import main, rule_words
from stb_gym.variants import OPEN, VARIANTS

COMMAND = str(Path(sys.executable).parent / "stb-gym")


def run(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def answer(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_the_installed_command_prints_json_alone_on_standard_output():
    status, out, err = run("solve", "shut-the-box", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["value"] == pytest.approx(11.157508444)


def test_solve(capsys):
    result = answer(capsys, "solve", "shut-the-box")
    keys = {"game", "rules", "objective", "value", "shut_probability", "states", "decision_nodes", "by_first_roll"}
    assert keys | {"seconds"} <= result.keys()
    assert "fraction" not in result
    assert result["game"] == "shut-the-box"
    assert result["rules"].items() >= {"tiles": 9, "dice": 2, "faces": 6, "score": "sum", "first_move": None}.items()
    assert result["title"] == "shut-the-box: tiles 9, dice 2, faces 6, score sum"
    assert (result["states"], result["decision_nodes"]) == (512, 4040)
    assert result["shut_probability"] == pytest.approx(0.0708885323, abs=1e-10)
    assert list(result["by_first_roll"]) == [str(roll) for roll in range(2, 13)]
    assert result["by_first_roll"]["9"] == pytest.approx(7.623689388)
    assert 0 < result["seconds"] < 60


def test_solve_exactly_the_worst_and_other_objectives(capsys):
    assert answer(capsys, "solve", "shut-the-box", "--exact")["fraction"] == "27323400707/2448880128"
    shut = answer(capsys, "solve", "shut-the-box", "--exact", "--objective", "shut")
    assert shut["fraction"] == "466473281/6530347008"
    assert shut["shut_probability"] == pytest.approx(shut["value"])
    assert answer(capsys, "solve", "shut-the-box", "--worst")["value"] == pytest.approx(24.344561898)
    assert answer(capsys, "solve", "shut-the-box", "--score", "count")["value"] == pytest.approx(9 - 6.804460729)
    assert answer(capsys, "solve", "threes", "--dice", "3", "--exact")["fraction"] == "2261/432"
    assert answer(capsys, "solve", "threes", "--objective", "at-most:2")["value"] == pytest.approx(0.1621, abs=5e-5)


def test_evaluate(capsys):
    result = answer(capsys, "evaluate", "shut-the-box", "--strategy", "biggest-first")
    assert result["value"] == pytest.approx(11.373255046)
    assert result["optimum"] == pytest.approx(11.157508444)
    assert result["regret"] == pytest.approx(11.373255046 - 11.157508444)
    assert result["gap_closed"] == pytest.approx((20.418812228 - 11.373255046) / (20.418812228 - 11.157508444))
    assert result["agreement"] == pytest.approx(1 - 210 / 4040)
    assert 0.9 < result["agreement_by_visits"] < 1
    assert result["shut_probability"] == result["score_distribution"]["0"] == pytest.approx(0.0695829302)
    assert sum(result["score_distribution"].values()) == pytest.approx(1)
    assert 5 < result["mean_throws"] < 6


def test_evaluate_a_saved_policy(capsys, tmp_path):
    game = ShutTheBox(tiles=5)
    path = tmp_path / "policy.npz"
    save_policy(path, game, solve(game).policy)
    assert answer(capsys, "evaluate", "shut-the-box", "--tiles", "5", "--policy", str(path))["regret"] == 0
    assert main(["evaluate", "shut-the-box", "--policy", str(path)]) == 2
    assert "is a policy of shut-the-box with" in capsys.readouterr().err


def test_advise(capsys):
    moves = answer(capsys, "advise", "shut-the-box", "--open", "1,4,5,8", "--roll", "9")["moves"]
    assert [move["tiles"] for move in moves] == [[4, 5], [1, 8]]
    assert [move["value"] for move in moves] == pytest.approx([6.888889, 7.027778], abs=1e-6)
    assert [move["regret"] for move in moves] == pytest.approx([0, 7.027778 - 6.888889], abs=1e-6)
    shut = ("--objective", "shut")
    moves = answer(capsys, "advise", "shut-the-box", "--open", "1,4,5,8", "--roll", "9", *shut)["moves"]
    assert [move["tiles"] for move in moves] == [[1, 8], [4, 5]]
    moves = answer(capsys, "advise", "threes", "--points", "0", "--dice-shown", "3,1,6")["moves"]
    assert [move["keep"] for move in moves] == [2, 1, 3]
    assert moves[0]["value"] == pytest.approx(4)


def test_advise_where_there_is_no_move(capsys):
    result = answer(capsys, "advise", "shut-the-box", "--open", "1,2", "--roll", "12")
    assert (result["moves"], result["value"]) == ([], 3)
    assert main(["advise", "shut-the-box", "--open", "1,2", "--roll", "12"]) == 0
    assert "no legal move: the turn ends, worth 3.000000" in capsys.readouterr().out


def test_simulate(capsys):
    arguments = ("simulate", "threes", "--strategy", "threes-only", "--games", "20000", "--seed", "3")
    result = answer(capsys, *arguments)
    assert result["exact"] == pytest.approx(6.804024892)
    assert result["z"] == pytest.approx((result["mean"] - result["exact"]) / result["standard_error"])
    assert abs(result["z"]) < 4
    assert answer(capsys, *arguments) == result
    assert answer(capsys, *arguments[:-1], "4")["mean"] != result["mean"]


def test_round(capsys):
    result = answer(capsys, "round", "threes", "--players", "2")
    assert result["seats"] == pytest.approx([0.5761170, 0.5813610], abs=5e-8)
    assert "exploitability" not in result
    assert result["survival"]["10"] == pytest.approx([1, 0.2503], abs=5e-5)
    assert list(result["survival"]) == [str(lead) for lead in range(31)]
    split = answer(capsys, "round", "shut-the-box", "--ties", "split", "--may-stop")
    assert split["seats"] == pytest.approx([0.4979939469, 0.5020060531], abs=1e-9)
    assert split["throws"][1] < split["throws"][0]
    shut = answer(capsys, "round", "shut-the-box", "--ties", "split", "--shut-wins")
    assert shut["seats"][0] > split["seats"][0]


def test_round_of_strategies(capsys, tmp_path):
    bots = answer(capsys, "round", "threes", "--strategies", "approximation,approximation,approximation")
    assert bots["seats"] == pytest.approx([0.38880, 0.40311, 0.41886], abs=5e-6)
    assert sum(bots["best_response_gains"]) == pytest.approx(bots["exploitability"])
    equilibrium = answer(capsys, "round", "shut-the-box", "--tiles", "4", "--strategies", "optimal,optimal")
    assert equilibrium["exploitability"] == pytest.approx(0, abs=1e-12)
    path = tmp_path / "mine.npz"
    save_policy(path, ShutTheBox(), strategy(ShutTheBox(), "biggest-first"))
    mine, named = (
        answer(capsys, "round", "shut-the-box", "--strategies", f"{player},optimal-score")["seats"]
        for player in (str(path), "biggest-first")
    )
    assert mine == named


def test_match(capsys):
    result = answer(capsys, "match", "shut-the-box", "--strategies", "optimal-score,optimal-score", "--rounds", "1")
    assert result["round"] == result["match"]
    assert result["round"] == pytest.approx({"win": 0.4793840513, "loss": 0.4793840513, "tie": 0.0412318974}, abs=1e-9)
    longer = answer(capsys, "match", "threes", "--strategies", "optimal,random")
    assert longer["rounds"] == 20
    assert longer["match"]["win"] > longer["round"]["win"] > 0.5
    assert sum(longer["match"].values()) == pytest.approx(1)


def test_strategies(capsys):
    listed = answer(capsys, "strategies")["strategies"]
    assert {game: list(known) for game, known in listed.items()} == {g: list(known) for g, known in STRATEGIES.items()}
    assert all(words.endswith(".") for known in listed.values() for words in known.values())
    for game in STRATEGIES:
        rows = {
            row["name"]: row for row in answer(capsys, "strategies", game, "--objective", "at-most:3")["strategies"]
        }
        assert rows.keys() == STRATEGIES[game].keys()
        assert rows["worst"]["regret"] > rows["optimal"]["regret"] > 0
    nine = {row["name"]: row for row in answer(capsys, "strategies", "shut-the-box")["strategies"]}
    assert nine["optimal-shut"]["shut_probability"] == pytest.approx(466473281 / 6530347008)
    assert nine["optimal-score"]["value"] == nine["optimal"]["value"] == pytest.approx(11.157508444)
    assert answer(capsys, "strategies", "threes")["strategies"][3]["name"] == "record-setter"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "solve shut-the-box",
            ["best play          11.157508", "chance to shut     7.088853%", "9           7.623689"],
        ),
        ("solve threes --worst --objective shut", ["worst play         0.0000"]),
        ("evaluate threes --strategy take-all", ["regret          8.746021", "dearest mistakes", "score  chance"]),
        ("advise threes --dice-shown 3,1,6", ["keep 2  4.000000  0.000000"]),
        ("simulate shut-the-box --strategy random --games 1000", ["of 1,000 games", "standard error"]),
        ("round threes --strategies optimal,random", ["seat 2  random", "exploitability", "4     100.00%"]),
        ("match threes --strategies optimal,random", ["optimal first, against random", "a match of 20 rounds"]),
        ("strategies", ["optimal-shut ", "Perfect play for the chance of score 0.", "threes-only "]),
        ("strategies threes", ["record-setter  6.253979   0.000000  1.0332%"]),
    ],
)
def test_tables_for_people(capsys, arguments, expected):
    assert main(arguments.split()) == 0
    printed = capsys.readouterr().out
    for text in expected:
        assert text in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("solve shut-the-box --tiles 99", "tiles must be an integer from 1 to 24, not 99"),
        ("solve shut-the-box --tiles x", "argument --tiles: invalid int value: 'x'"),
        ("solve threes --tiles 4", "unknown rule 'tiles': allowed are dice, faces"),
        ("solve shut-the-box --score golf", "unknown score 'golf': allowed are sum, count"),
        ("solve shut-the-box --objective win", "unknown objective 'win': allowed are score, shut, at-most:T"),
        ("solve shut-the-box --dice 7 --faces 20", "7 dice of 20 faces have 1,280,000,000 throws"),
        ("solve chess", "argument GAME: invalid choice: 'chess'"),
        ("solve", "the following arguments are required: GAME"),
        ("", "the following arguments are required: COMMAND"),
        ("solve shut-the-box --frob", "unrecognized arguments: --frob"),
        ("evaluate threes", "one of the arguments --strategy --policy is required"),
        ("evaluate threes --strategy best", "unknown strategy of threes 'best': allowed are random"),
        ("evaluate threes --policy no/such/file", "there is no policy file no/such/file"),
        ("advise shut-the-box --open 1,4", "what was thrown is missing: say --roll"),
        ("advise shut-the-box --open 1,x --roll 3", "argument --open: invalid list of numbers value: '1,x'"),
        ("advise shut-the-box --open 1,1 --roll 3", "open must name at least one tile, and each once"),
        ("advise shut-the-box --roll 13", "roll must be an integer from 2 to 12, not 13"),
        ("advise threes --roll 3 --dice-shown 3", "unknown option for threes 'roll': allowed are points, dice-shown"),
        ("advise threes --dice-shown 1,2,7", "each of dice shown must be an integer from 1 to 6, not 7"),
        ("simulate threes --strategy random --games 1", "number of games must be an integer from 2"),
        ("simulate threes --strategy random --seed -1", "seed must be an integer from 0"),
        ("round threes --ties both", "unknown ties 'both': allowed are all-win, split, nobody"),
        ("round threes --players 0", "players must be an integer from 1 to 100, not 0"),
        (
            "round threes --players 3 --strategies optimal,random",
            "a round of 3 players needs as many strategies, not 2",
        ),
        ("round threes --strategies optimal,biggest-first", "unknown strategy of threes 'biggest-first': allowed"),
        ("round threes --strategies optimal,no.npz", "there is no policy file no.npz"),
        ("round threes --may-stop", "may_stop needs a game whose points only fall during a turn"),
        ("match threes", "the following arguments are required: --strategies"),
        ("match threes --strategies optimal", "a round of 2 players needs as many strategies, not 1"),
        ("match threes --strategies optimal,random --rounds 0", "rounds must be an integer from 1 to 10000, not 0"),
        ("strategies --tiles 9", "rules are of a game: say which, shut-the-box or threes"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, arguments, message):
    try:
        status = main(arguments.split())
    except SystemExit as stop:
        status = stop.code
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    assert printed.err.startswith("stb-gym: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_a_reader_that_stops_reading_causes_no_traceback():
    read, write = os.pipe()
    os.close(read)
    told = {"stdout": write, "stderr": subprocess.PIPE, "env": {**os.environ, "PYTHONUNBUFFERED": "1"}}
    done = subprocess.run([COMMAND, "solve", "threes"], **told, timeout=60, check=False)
    os.close(write)
    assert done.stderr == b""


def test_variants_by_name_and_by_rules(capsys):
    rows = {row["name"]: row for row in answer(capsys, "variants", "--tiles", "10", "--dice", "2")["variants"]}
    assert rows.keys() == VARIANTS.keys()
    assert rows["full-house"]["value"] == solve(ShutTheBox(tiles=10)).value
    assert rows["thai-style"]["shut_probability"] == solve(ShutTheBox(tiles=10, match="one-tile"), "shut").value
    assert rows["thai-style"]["rules"]["match"] == "one-tile"
    assert rows["3-down-extreme"]["states"] == 129
    by_name = answer(capsys, "solve", "shut-the-box", "--variant", "thai-style", "--tiles", "8")
    rules = ["--match", "one-tile", "--tiles", "8"]
    assert by_name["value"] == answer(capsys, "solve", "shut-the-box", *rules)["value"]
    moon = answer(capsys, "solve", "threes", "--moon", "--free-face", "0", "--dice", "2")
    assert moon["title"] == "threes: dice 2, faces 6, free_face 0, moon True"
    opened = ["--start-open", "1,3,4", "--first-move", "3", "--ending-roll", "9", "--one-die", "any-time"]
    game = ShutTheBox(open=(1, 3, 4), first_move=3, ending_roll=9, one_die="any-time", one_die_forced=True)
    assert answer(capsys, "solve", "shut-the-box", *opened, "--one-die-forced")["value"] == solve(game).value
    assert rule_words(ShutTheBox(dice=1)) == ["--dice", "1"]  # 1 is no flag, though it equals True
    assert rule_words(game) == [*opened[:2], *opened[6:], "--one-die-forced", *opened[2:6]]


def test_a_move_with_a_choice_of_dice(capsys):
    where = ["--variant", "low-sum", "--open", "1,4,5", "--roll", "9", "--dice-in-hand", "2"]
    moves = answer(capsys, "advise", "shut-the-box", *where)["moves"]
    assert [(move["tiles"], move["dice"]) for move in moves] == [([4, 5], 1), ([4, 5], 2)]
    assert main(["advise", "shut-the-box", *where]) == 0
    assert "shut 4,5, throw 2 dice" in capsys.readouterr().out
    moves = answer(capsys, "advise", "shut-the-box", "--variant", "jackpot", "--roll", "3,4")["moves"]
    assert sorted(move["tiles"] for move in moves) == [[3], [4], [7]]


def test_tournament(capsys):
    players = ["--strategies", "optimal,biggest-first"]
    result = answer(capsys, "tournament", "shut-the-box", *players)
    assert result["wins"] == pytest.approx([0.5243487768, 0.4756512232])
    assert result["mean_rounds"] == pytest.approx(8.4125826562)
    out = answer(capsys, "tournament", "shut-the-box", *players, "--ends", "out-at")
    assert (out["limit"], out["wins"]) == (45, pytest.approx([0.5155634567, 0.4844365433]))
    assert main(["tournament", "shut-the-box", *players, "--limit", "50"]) == 0
    assert "optimal        5" in capsys.readouterr().out


def test_values_of_every_board_in_a_file(capsys, tmp_path, monkeypatch):
    file, box = str(tmp_path / "values"), ["shut-the-box", "--tiles", "7", "--dice", "3"]
    where = ["--open", "1,2,4,6,7", "--roll", "8"]
    solved, advice = answer(capsys, "solve", *box), answer(capsys, "advise", *box, *where)
    saved = answer(capsys, "solve", *box, "--out", file)
    assert saved["by_first_roll"] == pytest.approx(solved["by_first_roll"])
    assert (saved["value"], saved["states"], saved["out"]) == (pytest.approx(solved["value"]), 128, file)
    looked_up = answer(capsys, "advise", *box, *where, "--values", file)
    assert looked_up == {**advice, "value": pytest.approx(advice["value"]), "moves": looked_up["moves"]}
    for move, same in zip(looked_up["moves"], advice["moves"], strict=True):
        assert move == {
            **same,
            "value": pytest.approx(same["value"]),
            "regret": pytest.approx(same["regret"], abs=1e-9),
        }
    monkeypatch.setattr("stb_gym.tables.LARGEST_TABLE", 100)
    assert answer(capsys, "advise", *box, *where) == looked_up
    assert answer(capsys, "solve", *box)["value"] == saved["value"]
    assert main(["solve", *box, "--exact"]) == 2
    assert "the worst play and fractions are for games that fit into arrays" in capsys.readouterr().err
    assert main(["advise", *box, *where, "--values", file, "--objective", "shut"]) == 2
    assert "objective 'score', not 'shut'" in capsys.readouterr().err
    assert main(["solve", "threes", "--out", file]) == 2
    assert "values by boards are of shut-the-box, not of Threes()" in capsys.readouterr().err


def test_certificates(capsys, tmp_path):
    file = tmp_path / "values.txt"
    result = answer(capsys, "certify", "shut-the-box", "--out", str(file))
    assert result["fraction"] == "27323400707/2448880128"
    assert result["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (result["states"], result["nodes"], result["optimal_actions_agree"]) == (512, 5622, True)
    assert 0 < result["largest_relative_error"] < 1e-13
    assert main(["certify", "threes", "--objective", "shut"]) == 0
    assert "holds at all" in capsys.readouterr().out


def test_leads_are_final_scores_of_the_game(capsys):
    odd = answer(capsys, "round", "shut-the-box", "--tiles", "4", "--start-open", "odd")
    assert odd["survival"].keys() == {"0", "1", "3", "4"}
    assert odd["survival"]["0"] == [1, 1]
    moon = answer(capsys, "round", "threes", "--dice", "2", "--moon")["survival"]
    assert list(moon)[:2] == ["-1", "0"]
    assert moon["-1"] == [1, 1]
    assert moon["0"] == [1, pytest.approx(1 - 1 / 36)]  # a moon after it


def test_a_variant_that_cannot_be_is_told_in_its_row(capsys):
    rows = {row["name"]: row for row in answer(capsys, "variants", "--tiles", "5")["variants"]}
    assert rows["lucky-seven"]["refused"] == "each of open must be an integer from 1 to 5, not 7"
    assert "value" not in rows["lucky-seven"]
    assert rows["classic"]["value"] == solve(ShutTheBox(tiles=5)).value
    assert main(["variants", "--tiles", "5"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("all with tiles 5\n")
    assert "not so: each of open must be an integer from 1 to 5, not 7" in printed


def test_every_word_for_open_tiles_may_be_typed(capsys):
    for opened in ("odd", "4-up", "7,5", "1,2,3,4,5,6,7,8,9"):
        result = answer(capsys, "solve", "shut-the-box", "--start-open", opened)
        given = opened if opened in OPEN else [int(tile) for tile in opened.split(",")]
        assert result["value"] == solve(ShutTheBox(open=given)).value


def test_where_nothing_is_thrown_no_dice_are_chosen(capsys):
    where = ["--one-die", "any-time", "--open", "1,4", "--roll", "5", "--dice-in-hand", "2"]
    assert answer(capsys, "advise", "shut-the-box", *where)["moves"] == [{"tiles": [1, 4], "value": 0, "regret": 0}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tournament shut-the-box --strategies random,worst --ends never", "unknown end of a tournament 'never'"),
        (
            "round shut-the-box --tiles 14 --score digits",
            "a round of 2 players of ShutTheBox(tiles=14, score='digits')",
        ),
        (
            "tournament shut-the-box --tiles 12 --score digits --strategies random,worst,optimal --limit 10000",
            "is too large",
        ),
        ("play shut-the-box --values none --against random", "values of boards are for a turn alone"),
        ("play shut-the-box --tiles 24 --dice 4 --shut-wins", "are rules of a round"),
        ("advise shut-the-box --values none --roll 5", "there is no file of board values none"),
        ("solve shut-the-box --out .", ". is a folder, and no file"),
        ("solve shut-the-box --tiles 24 --match one-tile", "solutions with match sum or two-at-most, not one-tile"),
        ("solve shut-the-box --tiles 24 --one-die any-time", "there are no solutions with one_die any-time; the rules"),
        ("solve shut-the-box --variant none", "unknown variant 'none': allowed are classic"),
        ("solve threes --variant golf", "variants are of shut-the-box, not of threes"),
        ("advise shut-the-box --variant thai-style --roll 5", "roll must be the faces of 2 dice, not 5"),
    ],
)
def test_what_variants_and_large_boxes_do_not_allow_is_one_line(words, message, capsys):
    assert main(words.split()) == 2
    printed = capsys.readouterr().err.splitlines()
    assert len(printed) == 1
    assert message in printed[0]
