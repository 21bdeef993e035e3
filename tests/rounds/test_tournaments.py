"""Tournaments: against all joint totals in exact fractions, and what must hold of any."""

from fractions import Fraction
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from stb_gym import ShutTheBox, Solution, Threes, evaluate, strategies, strategy
from stb_gym.rounds import ENDS, TIES, tournament, tournaments
from tests.twins import MostThrees

NINE = ShutTheBox()
LOW, HIGH = {0: 0.25, 1: 0.5, 3: 0.25}, {0: 0.125, 2: 0.5, 5: 0.375}
FAR, NEVER = {0: 0.5, 3: 0.25, 123456789: 0.125, 123456790: 0.125}, {0: 1.0}
LINEUPS = [[LOW, HIGH], [LOW, LOW, FAR], [HIGH, LOW, HIGH], [FAR, FAR], [NEVER, LOW, LOW], [LOW]]


@pytest.fixture
def any_turns(monkeypatch):
    """Players may be named by the distribution of their final scores."""
    monkeypatch.setattr(Solution, "evaluate", lambda _, turn: SimpleNamespace(score_distribution=turn))


# A second opinion: all joint totals, by the rules


def left_in(rule, limit, totals):
    """Who still plays: nobody once the tournament is over."""
    below = [player for player, total in enumerate(totals) if total < limit]
    over = len(below) < len(totals) if rule == "first-to" else len(below) < 2
    return [] if over else below


def payoffs(rule, limit, ties, before, totals, best=min):
    """What each player gets of a tournament that is over after the round that began with totals `before`."""
    if rule == "first-to":
        winners = [player for player, total in enumerate(totals) if total == best(totals)]
    else:
        winners = [player for player, total in enumerate(totals) if total < limit]
        winners = winners or [player for player, total in enumerate(before) if total < limit]
    share = {"all-win": Fraction(1), "split": Fraction(1, len(winners)), "nobody": Fraction(len(winners) == 1)}[ties]
    return [share if player in winners else Fraction(0) for player in range(len(totals))]


def rounds_from(turns, rule, limit, totals):
    """Every (chance, totals after it) of a round in which who still plays has a turn."""
    plays = left_in(rule, limit, totals)
    choices = [turn.items() if player in plays else [(0, 1)] for player, turn in enumerate(turns)]
    for scores in product(*choices):
        chance = Fraction(1)
        for _, part in scores:
            chance *= Fraction(part)
        yield chance, tuple(total + score for total, (score, _) in zip(totals, scores, strict=True))


def reference(turns, rule, limit, ties, best=min):
    """What each player wins, then the mean number of rounds. Rounds in which all score 0 are repeated."""

    @cache
    def from_totals(before):
        got, again = [Fraction(0)] * len(turns) + [Fraction(1)], Fraction(0)
        for chance, totals in rounds_from(turns, rule, limit, before):
            if totals == before:
                again += chance
                continue
            goes_on = left_in(rule, limit, totals)
            then = from_totals(totals) if goes_on else [*payoffs(rule, limit, ties, before, totals, best), Fraction(0)]
            got = [sum_so_far + chance * more for sum_so_far, more in zip(got, then, strict=True)]
        return [part / (1 - again) for part in got]

    start = (0,) * len(turns)
    if not left_in(rule, limit, start):
        return [*payoffs(rule, limit, ties, start, start), Fraction(0)]
    return from_totals(start)


def reference_rounds(turns, rule, limit, most):
    """The chances that it takes 0 to `most` rounds."""
    start = (0,) * len(turns)
    going, ends = {start: Fraction(1)}, []
    for _ in range(most + 1):
        ends.append(sum(chance for totals, chance in going.items() if not left_in(rule, limit, totals)))
        going = {totals: chance for totals, chance in going.items() if left_in(rule, limit, totals)}
        after = {}
        for before, reached in going.items():
            for chance, totals in rounds_from(turns, rule, limit, before):
                after[totals] = after.get(totals, 0) + reached * chance
        going = after
    return ends


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("rule", ENDS)
@pytest.mark.parametrize("limit", [1, 5])
@pytest.mark.parametrize("turns", LINEUPS, ids=str)
@pytest.mark.usefixtures("any_turns")
def test_wins_and_rounds_are_those_of_the_reference(turns, limit, rule, ties):
    found = tournament(NINE, turns, rule, limit, ties)
    *wins, mean_rounds = map(float, reference(turns, rule, limit, ties))
    assert found.wins == pytest.approx(wins, abs=1e-14)
    assert found.mean_rounds == pytest.approx(mean_rounds, abs=1e-12)
    expected = [float(chance) for chance in reference_rounds(turns, rule, limit, 4)]
    assert np.resize(np.append(found.rounds, np.zeros(5)), 5) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("rule", ENDS)
@pytest.mark.parametrize("game", [ShutTheBox(tiles=3, dice=1), Threes(dice=2, faces=3)], ids=str)
def test_turns_of_a_game_are_those_of_its_strategies(game, rule):
    turns = [evaluate(game, strategy(game, name)).score_distribution for name in ("optimal", "worst")]
    *wins, _ = map(float, reference(turns, rule, 6, "split"))
    assert tournament(game, ["optimal", "worst"], rule, 6).wins == pytest.approx(wins, abs=1e-12)
    assert tournament(game, ["optimal", strategy(game, "worst")], rule, 6).wins == pytest.approx(wins, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("limit", [1, 5])
@pytest.mark.parametrize("turns", LINEUPS, ids=str)
@pytest.mark.usefixtures("any_turns")
def test_the_most_points_win_where_more_are_better(turns, limit, ties):
    found = tournament(MostThrees(), turns, "first-to", limit, ties)
    *wins, mean_rounds = map(float, reference(turns, "first-to", limit, ties, max))
    assert found.wins == pytest.approx(wins, abs=1e-14)
    assert found.mean_rounds == pytest.approx(mean_rounds, abs=1e-12)
    assert found.rounds == pytest.approx(tournament(NINE, turns, "first-to", limit, ties).rounds)


def test_perfect_play_wins_where_more_are_better():
    game = MostThrees(dice=2, faces=3)
    names = ["optimal", "random", "worst"]
    turns = [evaluate(game, strategy(game, name)).score_distribution for name in names]
    *wins, _ = map(float, reference(turns, "first-to", 3, "split", max))
    found = tournament(game, names, limit=3).wins
    assert found == pytest.approx(wins, abs=1e-12)
    assert found[0] > found[1] > found[2]
    assert found.sum() == pytest.approx(1, abs=1e-13)


# What must hold of any


@pytest.mark.parametrize(("rule", "limit"), [("first-to", 100), ("out-at", 45)])
def test_one_win_is_won_if_ties_share_it(rule, limit):
    names = [*strategies(NINE), "optimal", "random"]
    split, all_win, nobody = (tournament(NINE, names, rule, limit, ties) for ties in ("split", "all-win", "nobody"))
    assert split.wins.sum() == pytest.approx(1, abs=1e-12)
    assert split.rounds.sum() == pytest.approx(1, abs=1e-12)
    assert (split.rounds >= 0).all()
    assert split.rounds == pytest.approx(all_win.rounds)
    assert (nobody.wins < split.wins).all()
    assert (split.wins < all_win.wins).all()


@pytest.mark.slow
def test_rounding_does_not_add_up():
    assert tournament(NINE, ["optimal"] * 100, limit=1000).wins.sum() == pytest.approx(1, abs=5e-13)


@pytest.mark.parametrize("rule", ENDS)
@pytest.mark.parametrize("players", [2, 7, 100])
def test_equal_players_win_equally_often(rule, players):
    assert tournament(NINE, ["optimal"] * players, rule, 45).wins == pytest.approx([1 / players] * players, abs=1e-13)


@pytest.mark.parametrize("rule", ENDS)
def test_whom_one_names_first_does_not_matter(rule):
    first = tournament(NINE, ["optimal", "random", "biggest-first", "random"], rule).wins
    last = tournament(NINE, ["random", "biggest-first", "random", "optimal"], rule).wins
    assert first == pytest.approx(last[[3, 0, 1, 2]], abs=1e-13)
    assert first[0] > first[2] > first[1]


def test_equal_strategies_are_evaluated_once(monkeypatch):
    evaluated, evaluates = [], Solution.evaluate
    monkeypatch.setattr(Solution, "evaluate", lambda *asked: evaluated.append(asked) or evaluates(*asked))
    policy = strategy(NINE, "random")
    tournament(NINE, ["optimal", policy, policy.copy(), "worst", "optimal"])
    assert len(evaluated) == 3


def test_how_it_was_played_is_told():
    played = tournament(NINE, ["optimal", "random"], "out-at", 30, "nobody")
    assert (played.rule, played.limit, played.ties) == ("out-at", 30, "nobody")
    assert (tournament(NINE, ["random"]).rule, tournament(NINE, ["random"]).limit) == ("first-to", 100)
    assert tournament(NINE, ["random"]).ties == "split"


# What is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tournament(NINE, []), "players must be an integer from 1 to 100, not 0"),
        (lambda: tournament(NINE, ["random"] * 101), "players must be an integer from 1 to 100, not 101"),
        (
            lambda: tournament(NINE, ["random"], "last-to"),
            "unknown end of a tournament 'last-to': allowed are first-to, out-at",
        ),
        (lambda: tournament(NINE, ["random"], limit=0), "limit must be an integer from 1 to 10000, not 0"),
        (lambda: tournament(NINE, ["random"], limit=10_001), "limit must be an integer from 1 to 10000, not 10001"),
        (lambda: tournament(NINE, ["random"], ties="both"), "unknown ties 'both': allowed are split, all-win, nobody"),
        (
            lambda: tournament(MostThrees(), ["random"], "out-at"),
            "out-at is for games in which points are bad, and in most-threes more are better: say first-to",
        ),
        (lambda: tournament(NINE, ["threes-only"]), "unknown strategy of shut-the-box 'threes-only'"),
        (lambda: tournament(NINE, [np.zeros(3, int)]), "a policy of ShutTheBox"),
        (lambda: tournament(NINE, [lambda tables, standing: None]), "a policy of ShutTheBox"),
        (lambda: tournament(Threes(moon=True), ["optimal"]), "final scores must be 0 or more, not -1"),
    ],
)
def test_what_is_not_allowed_is_said_in_a_line(make, message):
    with pytest.raises(ValueError, match=message) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("any_turns")
def test_a_tournament_of_too_many_sums_is_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(tournaments, "LARGEST_STEP", 4 * 2 * 5)
    assert tournament(NINE, [LOW, HIGH], limit=4).wins.sum() == pytest.approx(1)
    monkeypatch.setattr(tournaments, "LARGEST_STEP", 4 * 2 * 5 - 1)
    with pytest.raises(ValueError, match=r"to 4 of 2 strategies with 5 final scores is too large: .* at most 39"):
        tournament(NINE, [LOW, HIGH], limit=4)


@pytest.mark.usefixtures("any_turns")
@pytest.mark.parametrize(
    ("turns", "rule", "still"),
    [
        ([NEVER, NEVER], "first-to", "2 of 2"),
        ([NEVER], "first-to", "1 of 1"),
        ([LOW, NEVER, NEVER], "out-at", "2 of 3"),
    ],
)
def test_a_tournament_that_never_ends_is_refused(turns, rule, still):
    with pytest.raises(ValueError, match=f"^the tournament never ends: {still} players always score 0$"):
        tournament(NINE, turns, rule)
