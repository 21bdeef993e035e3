"""What the indifferent may do: the rules for them, the ranges over these, and that equality is decided exactly."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, compile_game, evaluate
from stb_gym.rounds import INDIFFERENT, TIES
from stb_gym.rounds.replies import least_of
from stb_gym.solver import optimal_edges, optimise
from tests import golden, reference
from tests.twins import ours, twin

NINE, FIVE_DICE = ShutTheBox(), Threes()
PRIME = 2**31 - 1


def seats(rules):
    return rules.solve().seats


def one_after(rules):
    """[T] the chance that who leads alone with each score is not beaten by the last player."""
    return rules.solve().survival[1]


# What is known


def test_ties_are_shared_and_the_indifferent_share_with_few_unless_said():
    rules = Round(NINE)
    assert (rules.ties, rules.indifferent) == ("split", "fewer")
    assert rules == Round(NINE, 2, "split", indifferent="fewer")


@pytest.mark.parametrize(
    ("game", "ties", "least", "most"),
    [
        (NINE, "all-win", [0.52002, 0.523107], [0.53480, 0.523107]),
        (NINE, "nobody", [0.47906, 0.48197], [0.48358, 0.48197]),
        (NINE, "split", [0.49799, 0.50201], [0.49799, 0.50201]),
        (FIVE_DICE, "all-win", [0.5663, 0.5812], [0.5960, 0.5814]),
        (FIVE_DICE, "split", [0.475290977, 0.524709023], [0.475290977, 0.524709023]),
    ],
    ids=str,
)
def test_what_two_players_win_at_least_and_at_most(game, ties, least, most):
    found = Round(game, 2, ties).range_of(seats)
    assert found.least == pytest.approx(least, abs=6e-6 if game is NINE else 5e-5)
    assert found.most == pytest.approx(most, abs=6e-6 if game is NINE else 5e-5)
    assert found.is_wide == (ties != "split")


def test_three_players_of_shut_the_box():
    fewer, company = (100 * seats(Round(NINE, 3, "all-win", indifferent=rule)) for rule in ("fewer", "company"))
    assert fewer == pytest.approx([35.74, 35.85, 36.01], abs=5e-3)
    assert company == pytest.approx([36.13, 36.25, 36.01], abs=5e-3)
    assert Round(NINE, 2, "all-win", indifferent="lowest").solve().seats[0] == pytest.approx(0.534070, abs=5e-7)


def test_which_lead_is_safer_is_a_convention():
    rules = Round(NINE, 2, "all-win")
    assert 100 * one_after(rules)[[31, 30]] == pytest.approx([1.51, 1.79], abs=5e-3)
    assert 100 * one_after(replace(rules, indifferent="lowest"))[[31, 30]] == pytest.approx([4.69, 4.20], abs=5e-3)
    ten = Round(FIVE_DICE, 2, "all-win").range_of(one_after)
    assert [100 * ten.least[10], 100 * ten.most[10]] == pytest.approx([22.52, 29.98], abs=5e-3)


def test_company_counts_those_who_are_expected_to_tie_later():
    """Who may lead alone before the last turn looks at how often the last player then ends with the same."""
    solution = Round(FIVE_DICE, 2, "all-win").solve()
    _, reply = solution.replies
    for lead in range(31):
        alone = reply.standings.holders == 1, reply.standings.lead == lead
        last = evaluate(FIVE_DICE, solution.policy(Standing(lead, 1, 0))).score_distribution
        assert reply.disliked[np.logical_and(*alone)] == pytest.approx(last.get(lead, 0))


# Against the reference


@pytest.mark.parametrize(("game", "players", "ties", "shut_wins"), [(ours(g), *r) for g, *r in golden.ROUNDS], ids=str)
def test_the_range_is_that_of_the_reference(game, players, ties, shut_wins):
    rules = (golden.key(twin(game), players, ties, shut_wins, indifferent) for indifferent in INDIFFERENT)
    exact = [golden.golden()["equilibria"][rule] for rule in rules]
    found = Round(game, players, ties, shut_wins).range_of(seats)
    for each, end in ((found.least, min), (found.most, max)):
        assert each == pytest.approx([float(end(seat)) for seat in zip(*exact, strict=True)], abs=1e-13)


def every_policy(game):
    """Every way to play a small game, as the chances of its final scores."""
    places = [
        (where, roll) for where in game.positions() if not game.is_over(where) for roll, _ in game.outcomes(where)
    ]
    free = {place: moves for place in places if len(moves := [move for move, _ in game.moves(*place)]) > 1}
    for chosen in product(*free.values()):
        choice = dict(zip(free, chosen, strict=True))

        def policy(where, roll, choice=choice):
            return {choice.get((where, roll), game.moves(where, roll)[0][0]): Fraction(1)}

        yield reference.score_distribution(game, policy)


@pytest.mark.parametrize("ties", ["all-win", "nobody"])
def test_of_all_that_two_players_may_do_the_range_has_the_bounds(ties):
    """Every policy of a small game is tried: the best for the second player, then the worst and best for the first."""
    game = reference.ShutTheBox(tiles=4, dice=1, faces=4)
    plays, together = list(every_policy(game)), ties == "all-win"
    assert len(plays) == 16
    bounds = {}
    for lead in range(11):
        mine = [sum(p for score, p in play.items() if score < lead + together) for play in plays]
        theirs = [sum(p for score, p in play.items() if score > lead - together) for play in plays]
        bounds[lead] = [win for own, win in zip(mine, theirs, strict=True) if own == max(mine)]
    wide = Round(ours(game), 2, ties)
    worth, first = wide.range_of(lambda rules: rules.solve().evaluation.worth[1]), wide.range_of(seats)
    assert any(min(wins) < max(wins) for wins in bounds.values())
    for end, leads, seat in ((min, worth.least, first.least[0]), (max, worth.most, first.most[0])):
        assert leads == pytest.approx([float(end(wins)) for wins in bounds.values()], abs=1e-13)
        best = max(sum(chance * end(bounds[score]) for score, chance in play.items()) for play in plays)
        assert seat == pytest.approx(float(best), abs=1e-13)


# Where tied players share the win, what each wins is no convention


@pytest.mark.parametrize("game", [NINE, FIVE_DICE], ids=str)
@pytest.mark.parametrize("players", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_if_ties_split_the_seats_win_the_same_whatever_the_indifferent_do(game, players):
    rules, tables = Round(game, players), compile_game(game)
    solution = rules.solve()

    def highest(_, standing):
        """Takes the highest of equally good actions."""
        reply = solution.replies[standing.after]
        [utility] = reply.utility(np.array([rules.standings.find(standing)]))
        best = optimal_edges(tables, *optimise(tables, utility[tables.score_index]))
        return tables.policy(tables.edge_action[tables.reduce(np.maximum, np.where(best, np.arange(len(best)), -1))])

    assert (highest(tables, Standing(20, 1, 0)) != solution.policy(Standing(20, 1, 0))).any()
    other = rules.evaluate([highest] * players)
    assert other.seats == pytest.approx(solution.seats, abs=1e-13)
    assert other.worth == pytest.approx(solution.evaluation.worth, abs=1e-13)
    assert other.exploitability == pytest.approx(0, abs=1e-12)
    assert not rules.range_of(seats).is_wide


def test_if_ties_split_how_often_there_is_a_tie_is_a_convention_still():
    outcome = Round(NINE).range_of(lambda rules: rules.solve().evaluation.outcome)
    assert outcome.is_wide
    assert outcome.most == pytest.approx(outcome.least, abs=3e-4)


# Equality is decided exactly: what floats call equal is what is equal in arithmetic modulo a prime


def residues_of(tables, ends, edges):
    """[S, B] what is to be expected modulo the prime, given it at the ends [S, B] and the edges taken [D, B]."""
    value, node = np.zeros_like(ends), ends[tables.node_state]
    place = np.cumsum(tables.choices > 0) - 1  # of a node among those that have a move
    for level in tables.levels:
        live = level.nodes.start + level.live
        node[live] = np.take_along_axis(value, tables.edge_next[edges[place[live]]], axis=0)
        counts = level.rolls.counts
        by_roll = node[level.nodes].reshape(-1, len(counts), ends.shape[1]) * counts[:, None]
        value[level.states] = by_roll.sum(axis=1) % PRIME * pow(len(level.rolls.of_throw), -1, PRIME) % PRIME
    return value


def equal_to(tables, value, edges):
    """[E, B] where edges lead to as much as the given one of their node [D, B] does, by values [S, B]."""
    return value[tables.edge_next] == tables.spread(np.take_along_axis(value, tables.edge_next[edges], axis=0))


def check_a_seat(rules, reply, seat, worth, company):
    """Compare all equalities at a seat; [Z] residues of its standings' worth and company, which are known after it."""
    tables, standings, block = rules.tables, rules.standings, rules.standings.met_by(seat)
    after = standings.after[block].T[tables.score_index]  # [S, B]
    holds, keeps = (how[block].T[tables.score_index] for how in (standings.holds, standings.keeps))
    best = optimal_edges(tables, *optimise(tables, reply.utility(block).T[tables.score_index]))
    edges = tables.lowest(best)
    assert (equal_to(tables, residues_of(tables, holds * worth[after], edges), edges) == best).all()
    if reply.disliked is not None:
        least = least_of(tables, best, holds * reply.disliked[after])
        edges = tables.lowest(least)
        equal = equal_to(tables, residues_of(tables, holds * company[after], edges), edges)
        assert ((equal & best) == least).all()
    for known in (worth, company):
        known[block] = residues_of(tables, keeps * known[after], edges)[tables.start]


@pytest.mark.parametrize("indifferent", INDIFFERENT)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("players", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("game", [NINE, FIVE_DICE], ids=str)
def test_what_floats_call_equal_is_equal(game, players, ties, indifferent):
    """Different fractions would agree modulo the prime with a chance of one in two billion."""
    rules = Round(game, players, ties, indifferent=indifferent)
    holders = rules.standings.holders
    share = {"all-win": lambda h: 1, "split": lambda h: pow(h, -1, PRIME), "nobody": lambda h: int(h == 1)}[ties]
    worth = np.array([share(h) if h else 0 for h in holders.tolist()])
    company = np.maximum(holders - 1, 0)
    for after, reply in enumerate(rules.solve().replies):
        check_a_seat(rules, reply, players - 1 - after, worth, company)
