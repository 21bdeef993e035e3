"""Rounds: the published numbers, the reference player by player, best responses, and matches."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from stb_gym import Outcome, Round, ShutTheBox, Standing, Threes, compile_game, evaluate, match, strategy
from stb_gym.rounds import INDIFFERENT, TIES, Standings, replies, standings
from stb_gym.solver import approximation, chance_to_beat, optimise
from tests import golden, reference, reference_rounds
from tests.twins import MostThrees, choice, in_our_words, moves_at, nodes_of, ours, roll_at, throwing_states, twin

NINE, FIVE_DICE = ShutTheBox(), Threes()
TWO_TILES = ShutTheBox(tiles=2, dice=1, faces=3)
EQUILIBRIA = [(ours(other), *rules) for other, *rules in golden.EQUILIBRIA]
LINE_UPS = [(ours(other), *rules) for other, *rules in golden.LINE_UPS]


def figure(section, game, *rules):
    """A golden figure of the reference."""
    return golden.golden()[section][golden.key(twin(game), *rules)]


def standing_of(scores, players):
    """What is told of the scores."""
    after = players - 1 - len(scores)
    if not scores:
        return Standing(after=after)
    return Standing(min(scores), scores.count(min(scores)), after)


@cache
def some_strategy(game, seed):
    """Plays in another way at every standing, as `golden.shares` says."""
    other = twin(game)

    @cache
    def plays(tables, told):
        where = (told.lead, told.holders, told.after)
        return in_our_words(tables, lambda position, roll: golden.shares(other, seed, where, position, roll))

    return plays


# What is published


def test_two_and_three_players_of_threes():
    two, three = (Round(FIVE_DICE, players, "all-win", indifferent="lowest").solve().seats for players in (2, 3))
    assert two == pytest.approx([0.5761170, 0.5813610], abs=5e-8)
    assert three[0] == pytest.approx(0.3897337, abs=5e-8)
    assert Round(FIVE_DICE, 2).solve().seats == pytest.approx([0.475290977, 0.524709023], abs=5e-10)


def test_two_players_of_shut_the_box():
    split, both_lose = Round(NINE, 2), Round(NINE, 2, "nobody")
    first = ["optimal-score", "random"]
    assert split.solve().seats[0] == pytest.approx(0.4979939469, abs=5e-11)
    assert split.evaluate(first).best_response(1).value == pytest.approx(0.5022402513, abs=5e-11)
    assert both_lose.evaluate(first).best_response(1).value == pytest.approx(0.4821802385, abs=5e-11)
    assert Round(NINE, 2, "all-win").evaluate(first).best_response(1).value == pytest.approx(0.5233596117, abs=5e-11)


def test_two_who_ignore_each_other():
    outcome = Round(NINE).evaluate(["optimal-score", "optimal-score"]).outcome
    assert outcome == pytest.approx((0.4793840513, 0.4793840513, 0.0412318974), abs=5e-11)


def test_chances_of_a_lead_in_threes_and_their_approximation():
    survival = Round(FIVE_DICE, 5, "all-win", indifferent="lowest").solve().survival
    assert survival[[1, 4], [10, 4]] == pytest.approx([0.2503, 0.3400], abs=5e-5)
    tables = compile_game(FIVE_DICE)
    approximate = 1 - chance_to_beat(tables)[tables.start]
    assert [approximate[10], approximate[4] ** 4] == pytest.approx([0.1236, 0.2886], abs=5e-5)
    published = [87.64, 81.16, 72.45, 61.89, 49.93, 38.23, 26.71, 16.21, 7.30, 2.11]
    assert 100 * (1 - approximate[10:0:-1]) == pytest.approx(published, abs=0.005)


def test_line_ups_of_the_approximation():
    three = Round(FIVE_DICE, 3, "all-win").evaluate(["approximation"] * 3)
    assert three.seats == pytest.approx([0.38880, 0.40311, 0.41886], abs=5e-6)
    six = Round(FIVE_DICE, 6, "all-win").evaluate(["threes-only", "approximation"] * 3)
    assert six.seats == pytest.approx([0.18616, 0.22781, 0.18688, 0.23891, 0.18798, 0.25124], abs=5e-6)
    gains = [three.best_response(seat).gain for seat in range(3)]
    assert min(gains[:2]) > 1e-4
    assert gains[2] == pytest.approx(0, abs=1e-12)  # the last player has nobody to think about


def test_what_the_approximation_keeps():
    tables = compile_game(FIVE_DICE)
    node = tables.find_node(tables.start, FIVE_DICE.roll_of(np.array([[3, 1, 3, 2, 4]], np.uint8))[0])
    told = [Standing(8, 1, 0), Standing(8, 1, 10), Standing(2, 1, 0)]
    assert [FIVE_DICE.moves[approximation(tables, standing)[node]] for standing in told] == [5, 2, 2]
    assert (strategy(FIVE_DICE, "approximation") == approximation(tables, Standing(after=1))).all()


def test_how_often_the_approximation_thinks_to_win_against_a_lead_of_one():
    tables = compile_game(FIVE_DICE)
    scores = evaluate(FIVE_DICE, approximation(tables, Standing(1, 1, 4))).score_distribution
    thinks = (1 - chance_to_beat(tables)[tables.start]) ** 4
    assert scores[0] * thinks[0] + scores[1] * thinks[1] == pytest.approx(0.0685, abs=5e-5)


# Against the reference


@pytest.mark.parametrize(("game", "players", "ties", "shut_wins", "indifferent"), EQUILIBRIA, ids=str)
def test_the_equilibrium_is_that_of_the_reference(game, players, ties, shut_wins, indifferent):
    seats = Round(game, players, ties, shut_wins, indifferent=indifferent).solve().seats
    assert seats == pytest.approx([*map(float, figure("equilibria", game, players, ties, shut_wins, indifferent))])


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players", "ties", "shut_wins", "indifferent"), EQUILIBRIA, ids=str)
def test_every_choice_of_the_equilibrium_is_that_of_the_reference(game, players, ties, shut_wins, indifferent):
    """So equality to within a tolerance is equality in fractions, wherever it matters."""
    solution = Round(game, players, ties, shut_wins, indifferent=indifferent).solve()
    tables, found = compile_game(game), {}
    for scores in golden.scores_met(twin(game), players, shut_wins):
        policy = solution.policy(standing_of(scores, players))
        for state, where in throwing_states(tables):
            for node in nodes_of(tables, state):
                if moves_at(tables, node):
                    [found[golden.situation(scores, where, roll_at(tables, node))]] = choice(tables, node, policy)
    if golden.digest(found) != figure("choices", game, players, ties, shut_wins, indifferent):
        assert found == golden.choices(twin(game), players, ties, shut_wins, indifferent)


@pytest.mark.parametrize("indifferent", INDIFFERENT)
@pytest.mark.parametrize("ties", TIES)
def test_five_dice_in_fractions(ties, indifferent):
    """Where equal choices were broken by the last bit of a float, seats would differ in the second digit."""
    exact = figure("equilibria", FIVE_DICE, 2, ties, False, indifferent)
    seats = Round(FIVE_DICE, 2, ties, indifferent=indifferent).solve().seats
    assert seats == pytest.approx([float(seat) for seat in exact], abs=1e-13)


@pytest.mark.parametrize("game", [NINE, FIVE_DICE, MostThrees(dice=3)], ids=str)
def test_the_worth_of_a_state_at_a_standing(game):
    """Of the throw: what best play wins; of an end: what its score wins."""
    tables, solution = compile_game(game), Round(game, 3, "split").solve()
    standings = solution.evaluation.standings
    for standing in (Standing(after=2), Standing(6, 1, 1), Standing(6, 2, 0)):
        reply = solution.replies[standing.after]
        [utility] = reply.utility(np.array([standings.find(standing)]))
        state, _ = optimise(tables, utility[tables.score_index])
        worth = reply.values_at(standing).worth
        for place in range(0, tables.states, 7):
            held, dice = int(tables.held[place]), int(tables.dice[place])
            assert worth(held, dice) == pytest.approx(state[place], rel=1e-13)
            assert worth(held, 0) == utility[tables.score_index[place]]
            assert type(worth(held, dice)) is type(worth(held, 0)) is float


def test_small_chances_are_told_apart_as_large_ones_are():
    [*_, first] = Round(FIVE_DICE, 3).solve().replies
    smaller = replies.Reply(first.tables, first.standings, first.worth * 1e-30)
    assert (smaller.policy(Standing(after=2)) == first.policy(Standing(after=2))).all()


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players", "ties", "shut_wins"), LINE_UPS, ids=str)
def test_line_ups_and_best_responses_are_those_of_the_reference(game, players, ties, shut_wins):
    plays = [strategy(game, "random"), *(some_strategy(game, seed) for seed in range(1, players))]
    evaluation = Round(game, players, ties, shut_wins).evaluate(plays)
    expected = figure("line-ups", game, players, ties, shut_wins)
    assert evaluation.seats == pytest.approx([*map(float, expected["seats"])], abs=1e-12)
    for seat, (seat_is_worth, best) in enumerate(zip(expected["seats"], expected["best"], strict=True)):
        assert evaluation.best_response(seat).value == pytest.approx(float(best), abs=1e-12)
        assert evaluation.best_response(seat).gain == pytest.approx(float(best - seat_is_worth), abs=1e-12)


@pytest.mark.parametrize("game", [ours(golden.OF_ROUNDS[place]) for place in (2, 5, 4)], ids=str)
def test_the_approximation_is_that_of_the_reference(game):
    tables = compile_game(game)
    for lead, after in [(None, 1), (None, 4), (0, 2), (3, 0), (6, 2)]:
        policy = approximation(tables, Standing(lead, 0 if lead is None else 1, after))
        other = reference_rounds.approximation(twin(game), lead, after)
        for state, where in throwing_states(tables):
            for node in nodes_of(tables, state):
                if policy[node] >= 0 and twin(game).moves(where, roll_at(tables, node)):
                    assert other(where, roll_at(tables, node)) == choice(tables, node, policy)


# Games in which the most points win, against the reference in which the fewest lacking points win

MOST = [MostThrees(dice=2, faces=3), MostThrees(dice=2, faces=4, free_face=0), MostThrees(dice=3, faces=2)]


def lacking(game, *scores):
    """The points that lack of the most, as the twin counts them."""
    return tuple(game.perfect_score - score for score in scores)


@pytest.mark.slow
@pytest.mark.parametrize("shut_wins", [False, True])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("game", "players"), [*product(MOST, (1, 2)), (MOST[0], 3)], ids=str)
def test_the_most_points_win_a_round(game, players, ties, shut_wins):
    rules, other = Round(game, players, ties, shut_wins), twin(game)
    for indifferent in INDIFFERENT:
        expected = reference_rounds.equilibrium(other, players, ties, shut_wins, indifferent)
        seats = replace(rules, indifferent=indifferent).solve().seats
        assert seats == pytest.approx([*map(float, expected)], abs=1e-13)
    assert rules.solve().evaluation.exploitability == pytest.approx(0, abs=1e-12)
    uniform = [reference_rounds.whatever_the_scores(reference.uniform(other))] * players
    evaluation = rules.evaluate(["random"] * players)
    expected = reference_rounds.lineup(other, uniform, ties, shut_wins)
    assert evaluation.seats == pytest.approx([*map(float, expected)], abs=1e-13)
    for seat in range(players):
        best = reference_rounds.best_response_value(other, seat, uniform, ties, shut_wins)
        assert evaluation.best_response(seat).value == pytest.approx(float(best), abs=1e-13)


def test_every_choice_of_who_sees_the_most_points_is_that_of_the_reference():
    game = MOST[1]
    solution, tables, other = Round(game, 2).solve(), compile_game(game), twin(game)
    for lead in range(9):
        policy = solution.policy(Standing(lead, 1, 0))
        theirs = reference_rounds.equilibrium_policy(other, 2, "split", False, "fewer", lacking(game, lead))
        for state, where in throwing_states(tables):
            for node in nodes_of(tables, state):
                assert choice(tables, node, policy) == theirs(where, roll_at(tables, node))


def test_the_approximation_beats_the_most_points():
    game = MOST[1]
    tables, other = compile_game(game), twin(game)
    chances = chance_to_beat(tables)[tables.start]
    for place, score in enumerate(tables.scores.tolist()):
        assert chances[place] == pytest.approx(float(reference_rounds.beat_chance(other, *lacking(game, score))))
    for lead, after in [(None, 1), (None, 3), (8, 0), (5, 2), (0, 2)]:
        policy = approximation(tables, Standing(lead, 0 if lead is None else 1, after))
        theirs = reference_rounds.approximation(other, None if lead is None else lacking(game, lead)[0], after)
        for state, where in throwing_states(tables):
            for node in nodes_of(tables, state):
                assert choice(tables, node, policy) == theirs(where, roll_at(tables, node))


@pytest.mark.parametrize("ties", TIES)
def test_standings_lead_with_the_most_points(ties):
    standings = Standings(compile_game(MOST[1]), players=3, ties=ties, shut_wins=True)
    assert standings.scores.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    five = standings.find(Standing(5, 1, 1))
    assert standings.standing(five, 1) == Standing(5, 1, 1)
    assert standings.scores[standings.holds[five]].tolist() == [8, 7, 6, 5]  # who ends with these leads
    assert standings.scores[standings.keeps[five]].tolist() == [5, 4, 3, 2, 1, 0]  # and against these stays ahead
    after = [standings.standing(index, 0).lead for index in standings.after[five].tolist()]
    assert after == [8, 7, 6, 5, 5, 5, 5, 5, 5]
    assert standings.over.sum() == 3  # as many as may lead with 8, which nobody can beat
    with pytest.raises(ValueError, match=r"^a lead of 8 ends the round: nobody plays after it$"):
        standings.find(Standing(8, 1, 1))
    with pytest.raises(ValueError, match=r"^lead must be an integer from 0 to 8, not 9$"):
        standings.find(Standing(9, 1, 1))


def test_scores_that_no_turn_ends_with_are_refused():
    standings = Standings(compile_game(ShutTheBox(tiles=3, open=(1, 3))), players=2, ties="split", shut_wins=False)
    assert standings.scores.tolist() == [0, 1, 3, 4]
    with pytest.raises(ValueError, match=r"^no turn ends with a score of 2$"):
        standings.find(Standing(2, 1, 0))


# What must hold of any round


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    ("game", "players"),
    [
        (NINE, 2),
        pytest.param(NINE, 3, marks=pytest.mark.slow),
        (FIVE_DICE, 2),
        pytest.param(FIVE_DICE, 4, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_nobody_can_gain_at_the_equilibrium(game, players, ties):
    rules = Round(game, players, ties)
    assert rules.solve().evaluation.exploitability == pytest.approx(0, abs=1e-12)
    by_standing = rules.evaluate([lambda _, standing: rules.solve().policy(standing)] * players)
    assert by_standing.seats == pytest.approx(rules.solve().seats, abs=1e-13)
    assert rules.evaluate(["optimal"] * players).seats == pytest.approx(rules.solve().seats, abs=1e-15)


def test_a_best_response_is_never_worse_and_does_what_it_says():
    rules = Round(NINE, 3, "split")
    lineup = ["biggest-first", "approximation", "most-ways"]
    evaluation = rules.evaluate(lineup)
    assert evaluation.exploitability == pytest.approx(sum(evaluation.best_response(seat).gain for seat in range(3)))
    for seat in range(3):
        best = evaluation.best_response(seat)
        assert best.value > evaluation.seats[seat]
        assert best.gain == pytest.approx(best.value - evaluation.seats[seat], abs=1e-15)
        reply = [*lineup[:seat], lambda _, standing, best=best: best.reply.policy(standing), *lineup[seat + 1 :]]
        assert rules.evaluate(reply).seats[seat] == pytest.approx(best.value, abs=1e-13)


@pytest.mark.parametrize("shut_wins", [False, True])
@pytest.mark.parametrize("game", [NINE, FIVE_DICE], ids=str)
def test_one_win_is_won_if_ties_share_it(game, shut_wins):
    rules = Round(game, 3, "split", shut_wins)
    for evaluation in (rules.solve(), rules.evaluate(["random", "approximation", "optimal"])):
        assert evaluation.seats.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_who_plays_alone_wins(ties):
    assert Round(NINE, 1, ties).solve().seats == pytest.approx([1])
    assert Round(NINE, 1, ties).evaluate(["worst"]).seats == pytest.approx([1])


def test_who_shuts_wins_at_once():
    game = ShutTheBox(tiles=1, dice=1, faces=2)  # a 1 shuts the box, a 2 leaves the 1 open
    assert Round(game, 2, "all-win", shut_wins=True).solve().seats == pytest.approx([3 / 4, 1 / 2])
    assert Round(game, 2, "all-win").solve().seats == pytest.approx([3 / 4, 3 / 4])
    survival = Round(NINE, 3, "nobody", shut_wins=True).solve().survival
    assert survival[:, 0] == pytest.approx([1, 1, 1])


def test_survival_counts_back_from_the_last_player():
    evaluation = Round(FIVE_DICE, 3).evaluate(["take-all", "random", "optimal-score"])
    record, random = (
        evaluate(FIVE_DICE, strategy(FIVE_DICE, name)).score_distribution for name in ("optimal-score", "random")
    )
    stands = [sum(chance for score, chance in scores.items() if score >= 6) for scores in (record, random)]
    assert evaluation.survival[:, 6] == pytest.approx([1, stands[0], stands[0] * stands[1]])
    assert evaluation.survival.shape == Round(FIVE_DICE, 3, "split").solve().survival.shape == (3, 31)


def throws_until_ahead(game, where, lead):
    """Expected throws of uniform play that stops when its score is below the lead."""
    if game.is_over(where) or game.final_score(where) < lead:
        return 0
    total = Fraction(1)
    for roll, chance in game.outcomes(where):
        moves = game.moves(where, roll)
        total += sum(chance / len(moves) * throws_until_ahead(game, after, lead) for _, after in moves)
    return total


def test_who_may_stop_throws_less_and_wins_the_same():
    game = ShutTheBox(tiles=4, dice=1)
    lineup = ["biggest-first", "random"]
    stops, goes_on = (Round(game, 2, may_stop=may).evaluate(lineup) for may in (True, False))
    assert stops.seats == pytest.approx(goes_on.seats, abs=1e-15)
    first = evaluate(game, strategy(game, "biggest-first"))
    assert goes_on.throws == pytest.approx([first.mean_throws, evaluate(game, strategy(game, "random")).mean_throws])
    other = twin(game)
    until_ahead = [
        chance * float(throws_until_ahead(other, other.start(), lead))
        for lead, chance in first.score_distribution.items()
    ]
    assert stops.throws == pytest.approx([first.mean_throws, sum(until_ahead)])
    three, stops_last = (Round(game, 3, may_stop=may).evaluate(["random"] * 3).throws for may in (False, True))
    assert stops_last[:2] == pytest.approx(three[:2])  # for who has others to come, fewer points are better still
    assert stops_last[2] < three[2]
    assert Round(game, 1, may_stop=True).evaluate(["random"]).throws == pytest.approx(goes_on.throws[1:])


def test_nobody_throws_after_the_box_is_shut():
    game = ShutTheBox(tiles=1, dice=1, faces=2)
    assert Round(game, 3, shut_wins=True).solve().evaluation.throws == pytest.approx([1, 1 / 2, 1 / 4])


def test_standings_in_small_blocks_give_the_same(monkeypatch):
    whole = Round(NINE, 3, "split").solve()
    monkeypatch.setattr(standings, "LARGEST_BLOCK", 5 * 7104)
    blocks = Round(NINE, 3, "split").solve()
    assert blocks.seats == pytest.approx(whole.seats, abs=1e-15)
    assert blocks.evaluation.exploitability == pytest.approx(0, abs=1e-12)


# Matches


def test_outcomes_do_not_depend_on_who_is_asked():
    rules = Round(FIVE_DICE, 2, "nobody")
    evaluation = rules.evaluate(["threes-only", "optimal"])
    win, loss, tie = evaluation.outcome
    assert evaluation.seats == pytest.approx([win, loss])
    assert win + loss + tie == pytest.approx(1)
    shared = Round(FIVE_DICE, 2, "split").evaluate(["threes-only", "optimal-score"])
    assert shared.seats[0] == pytest.approx(shared.outcome.win + shared.outcome.tie / 2)


def test_who_shuts_first_is_not_tied():
    game = ShutTheBox(tiles=1, dice=1, faces=2)
    assert Round(game, 2, shut_wins=True).solve().evaluation.outcome == pytest.approx((1 / 2, 1 / 4, 1 / 4))


def test_a_match_is_all_ways_of_its_rounds():
    outcome = Outcome(win=0.5, loss=0.3, tie=0.2)
    expected = dict.fromkeys(("win", "loss", "tie"), 0.0)
    for rounds in product(outcome._asdict(), repeat=4):
        ahead = rounds.count("win") - rounds.count("loss")
        chance = np.prod([getattr(outcome, how) for how in rounds])
        expected["win" if ahead > 0 else "loss" if ahead < 0 else "tie"] += chance
    assert match(outcome, 4)._asdict() == pytest.approx(expected)
    assert match(outcome, 1) == pytest.approx(outcome)
    assert match(Outcome(0.6, 0.4, 0), 1000).win == pytest.approx(1)


# What is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Round(NINE, 0), "players must be an integer from 1 to 101, not 0"),
        (lambda: Round(NINE, 102), "players must be an integer from 1 to 101, not 102"),
        (lambda: Round(NINE, 2, "both"), "unknown ties 'both': allowed are split, all-win, nobody"),
        (
            lambda: Round(FIVE_DICE, 2, may_stop=True),
            "may_stop needs a game whose points only get better during a turn; in threes they get worse",
        ),
        (lambda: Round(NINE, 3).evaluate(["random"]), "a round of 3 players needs as many strategies, not 1"),
        (lambda: Round(NINE, 1).evaluate(["threes-only"]), "unknown strategy of shut-the-box 'threes-only'"),
        (
            lambda: Round(NINE, 2).evaluate(["random"] * 2).best_response(2),
            "seat must be an integer from 0 to 1, not 2",
        ),
        (lambda: Round(NINE, 3).evaluate(["random"] * 3).outcome, "win, loss and tie are of two players, not of 3"),
        (lambda: Round(NINE, 1).evaluate([np.zeros(3, int)]), "a policy of ShutTheBox"),
        (lambda: match(Outcome(1, 0, 0), 0), "rounds must be an integer from 1 to 10000, not 0"),
        (lambda: Round(NINE).solve().policy(Standing(46, 1)), "lead must be an integer from 0 to 45, not 46"),
        (lambda: Round(NINE).solve().policy(Standing(3, 2)), "holders of the lead must be an integer from 1 to 1"),
        (lambda: Round(NINE).solve().policy(Standing(None, 1)), "before anybody has played there are no holders"),
        (lambda: Round(NINE).solve().policy(Standing(3, 1, 1)), "is the first of 2: there is no lead yet"),
        (lambda: Round(NINE, shut_wins="yes"), "shut_wins must be True or False, not 'yes'"),
        (lambda: Round(NINE, may_stop=2), "may_stop must be True or False, not 2"),
        (
            lambda: Round(NINE).evaluate(["random", lambda tables, standing: None]),
            r"the strategy asked at Standing\(lead=0, holders=1, after=0\): a policy of ShutTheBox",
        ),
        (lambda: Round(NINE).policy("approximation", Standing(46, 1)), "lead must be an integer from 0 to 45, not 46"),
        (lambda: Round(NINE, 1).policy(lambda tables, standing: [[1], [1, 2]], Standing()), "the strategy asked at"),
        (lambda: Round(NINE).solve().policy(Standing(after=2)), "players after must be an integer from 0 to 1, not 2"),
        (
            lambda: Round(NINE, shut_wins=True).solve().policy(Standing(0, 1)),
            "a lead of 0 ends the round: nobody plays after it",
        ),
    ],
)
def test_what_is_not_allowed_is_said_in_a_line(make, message):
    with pytest.raises(ValueError, match=message) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ties", TIES)
def test_standings_are_found_where_they_are(ties):
    standings = Standings(compile_game(TWO_TILES), players=4, ties=ties, shut_wins=False)
    assert standings.scores.tolist() == [0, 1, 2, 3]
    for seat in range(4):
        for index in standings.met_by(seat).tolist():
            assert standings.find(standings.standing(index, 3 - seat)) == index
    assert standings.standing(standings.find(Standing(2, 1, 2)), 2) == Standing(2, 1, 2)
    assert standings.standing(standings.find(Standing(2, 3, 0)), 0) == Standing(2, 3, 0)
    assert standings.standing(standings.find(Standing(after=3)), 3) == Standing(after=3)


@pytest.mark.parametrize("plays", ["random", "approximation", "optimal", np.zeros(3, int)], ids=str)
def test_what_is_played_is_asked_only_where_a_round_can_stand(plays):
    with pytest.raises(ValueError, match=r"999|a policy of"):
        Round(Threes(dice=2)).policy(plays, Standing(999, 1, 0) if isinstance(plays, str) else Standing(None, 0, 1))


def test_a_round_is_of_a_game():
    with pytest.raises(TypeError, match=r"^'threes' is no game: make one, such as stb_gym.Threes\(\)$"):
        Round("threes")
