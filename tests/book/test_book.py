"""The tables of the book say what is known, and its files hold what the tables say."""

import csv
import io
import math
import re
from functools import cache

import numpy as np
import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, compile_game, evaluate, solve, strategy
from stb_gym.book import boxes, contests, frontier, players, positions, totals
from stb_gym.book.boxes import scorings
from stb_gym.book.contents import contents
from stb_gym.exact import optimise
from stb_gym.games import legal_moves
from stb_gym.output import Table, column

BOX, THREES = ShutTheBox(), Threes()


@cache
def table_of(game, name):
    return contents(game)[name].table()


def rows_by(table, *headings):
    """Rows as dictionaries, by their values under the headings."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {tuple(row[heading] for heading in headings) if len(headings) > 1 else row[headings[0]]: row for row in rows}


def words(tiles):
    return "open " + ",".join(map(str, tiles))


@pytest.mark.slow
def test_every_table_is_whole_and_its_files_say_the_same(book):
    assert book.tables.keys() == contents(book.game).keys()
    for name, table in book.tables.items():
        assert table.title, name
        assert table.note.endswith("."), name
        assert len(table) == len(table.rows) > 0, name
        assert not any(isinstance(value, np.generic) for value in table.rows[0]), name
        header, *lines = csv.reader(io.StringIO(table.to_csv()))
        assert all(re.fullmatch(r"[a-z0-9_]+", heading) for heading in header), name
        assert len(set(header)) == len(table.columns), name
        for line, row in zip(lines, table.rows, strict=True):
            assert [*read(line, row)] == [value for value in row if value is not None], name
        written = [line for line in table.to_markdown(5000).splitlines() if line.startswith("| ")][2:]
        assert [line[2:-2].split(" | ") for line in written] == table.cells(), name


def read(line, row):
    """The cells of a line of a file that are not empty, as values like those of a row."""
    for text, value in zip(line, row, strict=True):
        if text:
            yield text if isinstance(value, str) else type(value)(text)


def test_a_table_formats_takes_and_cuts():
    table = Table(
        "A title", "A note.", {"the word": column("", ["a", "b"]), "p-q": column(".2%", np.array([0.5, 1 / 3]))}
    )
    assert table.to_csv() == "the_word,p_q\na,0.5\nb,0.3333333333333333\n"
    assert table.cells() == [["a", "50.00%"], ["b", "33.33%"]]
    assert table.take([1]).rows == [("b", 1 / 3)]
    assert (
        table.to_markdown(2)
        == "# A title\n\nA note.\n\n| the word | p-q |\n| --- | ---: |\n| a | 50.00% |\n| b | 33.33% |\n"
    )
    cut = table.to_markdown(1)
    assert "| a |" in cut
    assert "| b |" not in cut
    assert "The first 1 of 2 rows" in cut


# Shut the Box


@pytest.mark.parametrize(
    ("name", "best", "worst", "fewest_then_biggest"),
    [
        ("sum", 33.842491556, 20.655438102, 33.676853130),
        ("count", 6.804460729, 5.371746524, 6.658750985),
        ("shut", 0.0714316223, 0.0097822017, 0.0699922778),
    ],
)
def test_the_full_board(name, best, worst, fewest_then_biggest):
    row = dict(zip(table_of(BOX, f"states-{name}").columns, table_of(BOX, f"states-{name}").rows[0], strict=True))
    assert (row["state"], row["open tiles"], row["open sum"]) == (words(range(1, 10)), 9, 45)
    assert (row["closed tiles"], row["closed sum"], row["highest open"]) == (0, 0, 9)
    assert [row["best"], row["worst"], row["fewest-then-biggest"]] == pytest.approx(
        [best, worst, fewest_then_biggest], abs=1e-9
    )
    assert row["best minus worst"] == pytest.approx(best - worst, abs=1e-9)


def test_every_board_has_a_row():
    table = table_of(BOX, "states-sum")
    rows = rows_by(table, "state")
    assert len(rows) == len(table) == 512
    assert rows[words([1, 2])]["best"] == pytest.approx(42.2222, abs=1e-4)
    shut = rows["open none"]
    assert (shut["best"], shut["worst"], shut["closed sum"], shut["closed tiles"]) == (45, 45, 45, 9)
    assert (rows[words([2, 7])]["closed sum"], rows[words([2, 7])]["highest open"]) == (36, 7)


def test_a_board_whose_first_roll_may_fit_nothing_has_one_row():
    game = ShutTheBox(3)
    [by_sum, *_] = scorings(game)
    assert len(boxes.states(game, by_sum)) == 8


@pytest.mark.parametrize(("name", "number"), [("sum", 1772), ("shut", 1716), ("count", 1720)])
def test_the_positions_where_the_move_matters(name, number):
    assert len(table_of(BOX, f"choices-{name}")) == number
    assert len(table_of(BOX, f"nodes-{name}")) == 4040


def test_a_tie_joins_the_moves_within_it():
    by_sum, by_shut, _ = scorings(BOX)
    here = (words([1, 4, 5, 8]), "9")
    assert rows_by(positions.nodes(BOX, by_sum), "state", "roll")[here]["best moves"] == "shut 4,5"
    assert rows_by(positions.nodes(BOX, by_shut), "state", "roll")[here]["best moves"] == "shut 1,8"
    assert rows_by(positions.nodes(BOX, by_sum, tie=1.0), "state", "roll")[here]["best moves"] == "shut 1,8 or shut 4,5"
    assert len(positions.choices(BOX, by_sum, tie=45)) == 0


@pytest.mark.parametrize(("name", "objective"), [("sum", "score"), ("shut", "shut")])
def test_all_best_moves_are_listed_rounding_aside(name, objective):
    best = table_of(BOX, f"nodes-{name}").columns["best moves"].values
    assert sum(moves.count("shut") for moves in best) == solve(BOX, objective).optimal.sum()


def test_best_and_worst_moves_and_those_of_strategies():
    row = rows_by(table_of(BOX, "nodes-sum"), "state", "roll")[words([1, 2, 3, 4, 5]), "8"]
    assert row["best moves"] == "shut 3,5"
    assert row["biggest-first"] == "shut 3,5"
    row = rows_by(table_of(BOX, "nodes-sum"), "state", "roll")[words([1, 2, 4, 5, 8, 9]), "12"]
    assert row["biggest-first"] == "shut 1,2,9"
    assert row["best moves"] == "shut 4,8"
    assert row["worst value"] < row["best value"]
    for table in (table_of(BOX, "nodes-sum"), table_of(THREES, "nodes-points")):
        better = 1 if "open" in table.rows[0][0] else -1
        gaps = np.array(table.columns["best value"].values) - np.array(table.columns["worst value"].values)
        assert (better * gaps >= -1e-12).all()
        assert (better * gaps).max() > 1


@pytest.mark.parametrize(("name", "number"), [("biggest-first", 210), ("fewest-then-biggest", 181)])
def test_departures(name, number):
    by_loss, by_cost = table_of(BOX, f"departures-{name}"), table_of(BOX, f"departures-{name}-by-cost")
    regret = evaluate(BOX, strategy(BOX, name)).regret
    assert len(by_loss) == len(by_cost) == number
    assert sorted(by_loss.rows) == sorted(by_cost.rows)
    for table, heading in ((by_loss, "loss"), (by_cost, "cost")):
        values = table.columns[heading].values
        assert values == sorted(values, reverse=True)
        assert math.fsum(table.columns["cost"].values) == pytest.approx(regret, abs=1e-12)
    assert f"{regret:.6f} points" in by_loss.note
    found = evaluate(BOX, strategy(BOX, name)).mistakes()
    assert [row[4:] for row in by_cost.rows][: len(found)] == [(m.loss, m.visits, m.cost) for m in found]


def test_the_largest_departure():
    state, roll, plays, best, loss, *_ = table_of(BOX, "departures-biggest-first").rows[0]
    assert (state, roll, plays, best) == (words([1, 2, 4, 5, 8, 9]), "12", "shut 1,2,9", "shut 4,8")
    assert loss == pytest.approx(4.467593, abs=1e-6)


def test_openings():
    values = [
        *(15.838927661, 14.313913705, 13.706206148, 12.514746173, 11.726631322, 10.825008858, 9.240806179),
        *(7.623689388, 11.139918487, 11.194009457, 9.936173208),
    ]
    table = table_of(BOX, "openings")
    rows = rows_by(table, "roll")
    assert [rows[str(roll)]["expected points"] for roll in range(2, 13)] == pytest.approx(values, abs=1e-9)
    assert table.columns["expected points"].values == pytest.approx(sorted(values), abs=1e-9)
    shut = [row["chance of score 0"] * row["chance of the roll"] for row in rows.values()]
    assert sum(shut) == pytest.approx(0.0714316223, abs=1e-9)
    assert rows["9"]["best for the points"] == "shut 9"
    assert len(table_of(THREES, "openings")) == 252


@pytest.mark.slow
def test_the_dearest_boards():
    table = table_of(BOX, "dearest-states")
    dearest = [[5, 6, 7, 8, 9], [4, 5, 7, 8, 9], [6, 7, 8, 9], [4, 5, 6, 7, 8, 9], [5, 7, 8, 9], [4, 6, 7, 8, 9]]
    assert table.columns["state"].values[:6] == [words(tiles) for tiles in dearest]
    costs = table.columns["expected points"].values
    assert costs[:6] == pytest.approx([24.711, 23.841, 23.646, 23.202, 22.727, 22.680], abs=5e-4)
    assert len(table) == 511


def test_the_largest_tile_kept():
    table = table_of(BOX, "largest-kept")
    assert len(table) == 205
    assert min(table.columns["loss of the largest"].values) > 0
    row = rows_by(table, "state", "roll")[words([1, 2, 4, 5, 8, 9]), "12"]
    assert (row["largest that could be shut"], row["best moves"]) == (9, "shut 4,8")
    assert row["loss of the largest"] == pytest.approx(4.467593, abs=1e-6)


def test_ways_to_shut_ten_tiles():
    table = boxes.ways(ShutTheBox(10))
    assert table.columns["throws"].values == [5, 6, 7, 8, 9]
    assert table.columns["ways"].values == [117120, 465677280, 27229396320, 166670380800, 161989632000]
    assert table.columns["ways per sequence"].values[0] == pytest.approx(117120 / 36**5)


@pytest.mark.slow
def test_the_counting_rule_is_not_the_best():
    table = table_of(BOX, "counting-rule")
    assert table.columns["tiles"].values == list(range(1, 13))
    row = rows_by(table, "tiles")[10]
    found = [row[name] for name in ("random", "most-ways", "best", "counting loses")]
    assert found == pytest.approx([0.0071389916, 0.0390914237, 0.0404380299, 0.0404380299 - 0.0390914237], abs=1e-9)
    assert len(boxes.counting_rule(ShutTheBox(13))) == 13


# Few points and a score of 0


@pytest.mark.parametrize("game", [BOX, THREES, ShutTheBox(6, score="count")], ids=str)
def test_the_frontier_is_the_best_for_every_price(game):
    tables = compile_game(game)
    points, chance, low, high = zip(*frontier.frontier(game).rows, strict=True)
    middle = [(a + b) / 2 for a, b in zip(low, high[:-1], strict=False)]
    prices = np.array([0.0, *middle, *np.geomspace(1e-3, 1e7, 60)])
    saved, shut = -tables.final_score[:, None], tables.final_score[:, None] == 0
    best = optimise(tables, saved + prices * shut)[0][tables.start]
    worth = -np.array(points)[:, None] + np.outer(chance, prices)
    assert worth.max(axis=0) == pytest.approx(best, rel=1e-9)
    assert worth.argmax(axis=0)[1 : len(points)].tolist() == list(range(len(points) - 1))
    assert all(a < b for a, b in zip(low, high[:-1], strict=False))
    assert list(points) == sorted(points)
    assert list(low[1:]) == list(high[:-1])


def test_the_ends_of_the_frontier():
    first, *_, last = table_of(BOX, "frontier").rows
    assert first[:2] == pytest.approx((11.157508444, 0.0708885323), abs=1e-9)
    assert last[1] == pytest.approx(0.0714316223, abs=1e-9)
    assert last[0] < evaluate(BOX, strategy(BOX, "optimal-shut")).value  # which wastes points where all is lost
    assert last[3] is None
    assert len(frontier.frontier(ShutTheBox(1))) == 1


def test_where_few_points_and_score_0_part():
    table = table_of(BOX, "where-they-part")
    row = rows_by(table, "state", "roll")[words([1, 4, 5, 8]), "9"]
    assert (row["best for the points"], row["best for score 0"]) == ("shut 4,5", "shut 1,8")
    assert row["points lost for score 0"] == pytest.approx(7.027778 - 6.888889, abs=1e-6)
    assert row["chance lost for the points"] > 0
    assert min(table.columns["points lost for score 0"].values) > 0
    assert table.columns["visits"].values == sorted(table.columns["visits"].values, reverse=True)


# Strategies


def test_strategies():
    rows = rows_by(table_of(BOX, "strategies"), "strategy")
    assert rows["random"]["expected points"] == pytest.approx(20.418812228, abs=1e-9)
    assert rows["random"]["chance of score 0"] == pytest.approx(0.0203934956, abs=1e-9)
    assert rows["biggest-first"]["regret"] == pytest.approx(11.373255046 - 11.157508444, abs=1e-9)
    assert rows["biggest-first"]["how it plays"].startswith("Shut the biggest tile")
    assert rows_by(table_of(THREES, "strategies"), "strategy")["take-all"]["mean throws"] == pytest.approx(1)
    values = table_of(BOX, "strategies").columns["expected points"].values
    assert values == sorted(values)


@pytest.mark.slow
@pytest.mark.parametrize("game", [BOX, THREES], ids=["box", "threes"])
def test_scores_exact_and_sampled(game):
    exact, sampled = table_of(game, "scores"), table_of(game, "scores-sampled")
    for name in list(exact.columns)[1:]:
        scores, chances = np.array(exact.columns["score"].values), np.array(exact.columns[name].values)
        assert chances.sum() == pytest.approx(1)
        assert chances @ scores == pytest.approx(evaluate(game, strategy(game, name)).value)
        shares = dict(zip(sampled.columns["score"].values, sampled.columns[name].values, strict=True))
        assert sum(shares.values()) == pytest.approx(1)
        seen = np.array([shares.get(score, 0) for score in scores.tolist()])
        assert (abs(seen - chances) <= 5 * np.sqrt(chances * (1 - chances) / players.GAMES) + 1e-4).all()
        assert (seen != chances).any()
    assert players.sampled_scores(game, 50) == players.sampled_scores(game, 50)


# Rounds


@pytest.mark.slow
@pytest.mark.parametrize(("game", "ties"), [(BOX, "split"), (THREES, "all-win")], ids=["box", "threes"])
def test_the_tournament(game, ties):
    table = table_of(game, f"tournament-{ties}")
    rows = rows_by(table, "first player")
    assert list(rows) == list(table.columns)[1:]
    for first, second in (
        ("random", "worst"),
        ("optimal", "random"),
        ("random", "optimal"),
        ("approximation", "worst"),
    ):
        wins = Round(game, 2, ties).evaluate([first, second]).seats[0]
        assert rows[first][second] == pytest.approx(wins, abs=1e-12)
    assert rows["optimal"]["optimal"] == pytest.approx({"split": 0.4979939469, "all-win": 0.566301}[ties], abs=1e-7)


@pytest.mark.slow
def test_the_tournament_knows_the_tie_rule():
    rows = rows_by(table_of(BOX, "tournament-split"), "first player")
    assert rows["optimal-score"]["optimal-score"] == pytest.approx(0.5, abs=1e-12)
    rows = rows_by(table_of(BOX, "tournament-all-win"), "first player")
    assert rows["optimal-score"]["optimal-score"] == pytest.approx(0.4793840513 + 0.0412318974, abs=1e-9)


def test_the_tournament_tells_how_much_depends_on_the_indifferent():
    """Most does so for two who are perfect: the first wins 52.00 to 53.48 %."""
    note = table_of(BOX, "tournament-all-win").note
    assert "who is indifferent prefers to share the lead with fewer; another rule for the indifferent changes" in note
    assert float(re.search(r"by ([\d.]+)% at most", note)[1]) >= 1.48
    assert "changes" not in table_of(BOX, "tournament-split").note


@pytest.mark.slow
def test_winning_with_a_score():
    rows = rows_by(table_of(THREES, "winning"), "score")
    assert [rows[4][f"4 after, all win: {end}"] for end in ("least", "most")] == pytest.approx([0.3400] * 2, abs=5e-5)
    assert rows[4]["4 after, approximation"] == pytest.approx(0.2886, abs=5e-5)
    ends = [rows[10][f"1 after, all win: {end}"] for end in ("least", "most")]
    assert ends == pytest.approx([0.2252, 0.2998], abs=5e-5)
    second = Round(THREES).evaluate(["random", "optimal"])  # who sees a lead as the last of any round does
    assert [row["1 after"] for row in rows.values()] == pytest.approx(second.worth[1])
    assert rows[10]["1 after"] == pytest.approx(0.1092, abs=5e-5)
    assert rows[10]["1 after, approximation"] == pytest.approx(0.1236, abs=5e-5)
    assert list(rows) == list(range(31))


@pytest.mark.slow
def test_the_seats_of_rounds():
    rows = rows_by(table_of(THREES, "rounds"), "players", "seat")
    assert list(rows) == [(players, seat) for players in range(1, 7) for seat in range(1, players + 1)]
    ends = [rows[2, 1][f"all-win: {end}"] for end in ("least", "most")]
    assert ends == pytest.approx([0.5663, 0.5960], abs=5e-5)
    lowest = Round(THREES, 3, "all-win", indifferent="lowest").solve().seats[0]
    assert rows[3, 1]["all-win: least"] < lowest < rows[3, 1]["all-win: most"]
    assert rows[2, 2]["all-win: most"] == pytest.approx(0.5813610, abs=1e-7)
    assert [rows[2, seat]["split"] for seat in (1, 2)] == pytest.approx([0.475290977, 0.524709023], abs=1e-9)
    for size in range(1, 7):
        assert sum(rows[size, seat]["split"] for seat in range(1, size + 1)) == pytest.approx(1)
        assert sum(rows[size, seat]["nobody: most"] for seat in range(1, size + 1)) < 1 + 1e-12


def test_evenings():
    game = Threes(3)
    first = Round(game, 2).evaluate(["optimal", "random"]).outcome
    second = Round(game, 2).evaluate(["random", "optimal"]).outcome
    [one, two] = contests.evenings(game, ["random"], most=2).rows
    assert one == pytest.approx((1, first.win, first.loss))
    ahead = first.win * (second.loss + second.tie) + first.tie * second.loss  # won one and not lost the other
    behind = first.loss * (second.win + second.tie) + first.tie * second.win
    assert two == pytest.approx((2, ahead, behind))


# Threes


def test_by_dice():
    table = table_of(THREES, "by-dice")
    best = [3, 79 / 18, 2261 / 432, 544369 / 93312, 504205555 / 80621568]
    assert table.columns["dice left"].values == [1, 2, 3, 4, 5]
    assert table.columns["best"].values == pytest.approx(best, abs=1e-12)
    assert table.columns["threes-only"].values[-1] == pytest.approx(6.804024892, abs=1e-9)
    assert table.columns["worst"].values[-1] == pytest.approx(evaluate(THREES, strategy(THREES, "worst")).value)


def test_beat():
    rows = rows_by(table_of(THREES, "beat"), "below")
    percent = [87.64, 81.16, 72.45, 61.89, 49.93, 38.23, 26.71, 16.21, 7.30, 2.11]
    assert [100 * rows[number]["5 left"] for number in range(10, 0, -1)] == pytest.approx(percent, abs=5e-3)
    assert rows[3]["2 left"] == pytest.approx(0.3565, abs=5e-5)
    assert rows[7]["1 left"] == 1


def test_take_or_rethrow():
    rows = rows_by(table_of(THREES, "take-or-rethrow"), "dice left", "below")
    take = [100 * rows[2, number]["take a 1"] for number in range(8, 0, -1)]
    rethrow = [100 * rows[2, number]["rethrow all"] for number in range(8, 0, -1)]
    assert take == pytest.approx([100, 83.33, 66.67, 50, 50, 33.33, 16.67, 0], abs=5e-3)
    assert rethrow == pytest.approx([86.11, 80.56, 68.06, 56.94, 45.37, 35.65, 19.91, 7.41], abs=5e-3)
    assert rows[5, 6]["take a 2"] == pytest.approx(rows_by(table_of(THREES, "beat"), "below")[4]["4 left"])
    assert rows[3, 2]["take a 3"] == pytest.approx(rows[2, 2]["rethrow all"])
    keep_one, *_ = legal_moves(THREES, 0, 3, THREES.roll_of(np.array([[3, 1, 6]], np.uint8))[0])
    assert (keep_one.held, keep_one.dice) == (0, 2)
    assert "of 3,1,6 one may keep the 3 and throw both others again" in table_of(THREES, "take-or-rethrow").note
    assert list(rows) == [(dice, below) for dice in range(2, 6) for below in range(1, 6 * dice + 1)]
    assert len(totals.take_or_rethrow(Threes(1))) == 0


def test_a_die_that_is_worth_too_much_leaves_no_chance():
    table = totals.take_or_rethrow(Threes())
    below = np.array(table.columns["below"].values)
    for face in (1, 2, 4, 5, 6):
        assert not np.array(table.columns[f"take a {face}"].values)[below <= face].any()


@pytest.mark.slow
def test_what_the_first_player_keeps():
    table = table_of(THREES, "keeps")
    rows = rows_by(table, "roll")
    assert len(rows) == len(table) == 252
    assert sum(table.columns["chance"].values) == pytest.approx(1)
    tables, solution = compile_game(THREES), Round(THREES, 6).solve()
    for roll in ([1, 1, 1, 1, 1], [3, 3, 1, 2, 2], [3, 1, 2, 4, 6]):
        node = tables.find_node(tables.start, roll)
        row = rows[",".join(map(str, roll))]
        assert row["optimal-score"] == strategy(THREES, "optimal-score")[node] + 1
        for after in range(1, 6):
            assert row[f"{after} after"] == solution.policy(Standing(after=after))[node] + 1
    assert (rows["1,1,1,1,1"]["optimal-score"], rows["1,1,1,1,1"]["5 after"]) == (5, 1)
    differ = [len(set(row[2:])) > 1 for row in table.rows]
    assert differ == sorted(differ, reverse=True)


@pytest.mark.slow
def test_unusual_keeps():
    table = table_of(THREES, "unusual-keeps")
    for *_, roll, kept, _usual in table.rows:
        faces = kept.split(",")
        assert roll.startswith(kept)
        assert ("2" in faces and len(faces) > 1) or faces.count("1") > 1
    tables, policy = compile_game(THREES), Round(THREES, 6).solve().policy(Standing(6, 1, 2))
    expected = []
    for node in range(tables.node_start[tables.start], tables.node_start[tables.start + 1]):
        faces = tables.node_roll(node).tolist()[: policy[node] + 1]
        if (2 in faces and len(faces) > 1) or faces.count(1) > 1:
            expected.append(",".join(map(str, faces)))
    here = [row for row in table.rows if row[:2] == (2, 6)]
    assert sorted(row[4] for row in here) == sorted(expected)
    assert [row[2] for row in here] == sorted((row[2] for row in here), reverse=True)
    asked = {row[:2] for row in table.rows}
    assert {after for after, _ in asked} == set(range(6))
    assert (5, None) in asked
    assert not any(after == 0 and lead is None for after, lead in asked)
    assert not any(after == 5 and lead is not None for after, lead in asked)
    assert len(totals.unusual_keeps(Threes(1))) == 0


def test_the_counting_rule_is_told_of_the_sizes_that_the_rules_allow():
    table = boxes.counting_rule(ShutTheBox(tiles=6, open="4-up"))
    assert table.columns["tiles"].values == list(range(4, 13))
    assert table.rows[0][3] == pytest.approx(solve(ShutTheBox(tiles=4, open="4-up"), "shut").value)


def test_leads_and_scores_in_tables_are_those_of_the_game():
    game = ShutTheBox(tiles=4, open="odd", score="digits")
    assert contests.winning(game, 2).columns["score"].values == [0, 1, 3, 13]
    assert players.exact_scores(game).columns["score"].values == [0, 1, 13]  # no roll of two dice leaves the 3 alone
    assert {*players.sampled_scores(game, 200).columns["score"].values} <= {0, 1, 13}
    assert [row[0] for row in totals.unusual_keeps(Threes(dice=2, moon=True), 2).rows]
