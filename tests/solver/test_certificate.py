"""Certificates: against the reference, and that a wrong value is found wherever it is."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, compile_game, solve
from stb_gym.games import VARIANTS, words_of
from stb_gym.solver import Solution, certificate, certify, check_bellman, optimise, value_text
from stb_gym.solver import values as values_module
from stb_gym.solver.certificate import values_of
from tests import reference
from tests.twins import SMALL, nodes_of, position, roll_at, throwing_states, twin

TWO_THROWS = ShutTheBox(tiles=4, faces=3, one_die="any-time", first_move=2, ending_roll=4)
FEW = [ShutTheBox(tiles=4), TWO_THROWS, Threes(dice=2, faces=3, moon=True)]
NAMED = {ShutTheBox.preset(name, tiles=7): name for name in reversed(VARIANTS) if name != "the-300"}
UTILITIES = {"score": reference.fewest, "shut": reference.shut, "at-most:3": reference.at_most(3)}


def natural(objective, utility):
    return -utility if objective == "score" else utility


def expected_states(game, objective):
    """The value of every state with dice by the reference."""
    tables, other, utility = compile_game(game), twin(game), UTILITIES[objective]
    for state, where in throwing_states(tables):
        yield state, natural(objective, reference.value(other, where, utility))


def expected_nodes(game, objective):
    """The value of every node with dice by the reference."""
    tables, other, utility = compile_game(game), twin(game), UTILITIES[objective]
    for state, where in throwing_states(tables):
        for node in nodes_of(tables, state):
            yield node, natural(objective, reference.node_value(other, where, roll_at(tables, node), utility))


def exact_values(game, objective="score"):
    return values_of(solve(game, objective, exact=True))


# What is certified is true


@pytest.mark.parametrize("objective", UTILITIES)
@pytest.mark.parametrize("game", [*SMALL, *FEW], ids=str)
def test_a_certificate_tells_what_the_reference_finds(game, objective):
    certificate = certify(game, objective)
    tables, other, floats = compile_game(game), twin(game), solve(game, objective)
    value = reference.value(other, other.start(), UTILITIES[objective])
    assert (certificate.game, certificate.objective) == (game, objective)
    assert certificate.value == natural(objective, value)
    assert (certificate.states, certificate.nodes) == (tables.states, tables.nodes)
    errors = [(Fraction(floats.state_value[at]), value) for at, value in expected_states(game, objective)]
    errors += [(Fraction(floats.node_value[at]), value) for at, value in expected_nodes(game, objective)]
    assert certificate.largest_error == float(max(abs(inexact - value) for inexact, value in errors))
    shares = [abs(inexact / value - 1) for inexact, value in errors if value]
    assert certificate.largest_relative_error == float(max(shares, default=0)) < 1e-12
    assert certificate.optimal_actions_agree


@pytest.mark.slow
@pytest.mark.parametrize("game", NAMED, ids=NAMED.values())
def test_named_variants(game):
    certificate, other = certify(game), twin(game)
    assert certificate.value == -reference.value(other, other.start(), reference.fewest)
    assert certificate.largest_relative_error < 1e-12
    assert certificate.optimal_actions_agree


def test_nine_tiles():
    said = []
    certificate = certify(ShutTheBox(), progress=said.append)
    assert certificate.value == Fraction(27323400707, 2448880128)
    assert (certificate.states, certificate.nodes) == (512, 5622)
    assert 0 < certificate.largest_relative_error < 1e-15
    assert certificate.sha256 == "5bba5a5590bb20dfc2381ffff282e0bc7a929463445ad80b5fb23d0599f58761"
    assert said == ["solved 512 states in fractions", "compared floats with fractions"]


def test_the_check_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr(certificate, "STATES_AT_ONCE", 6)
    said = []
    check_bellman(ShutTheBox(tiles=4), "score", *exact_values(ShutTheBox(tiles=4)), said.append)
    assert said == [f"checked {states} of 17 states" for states in (6, 12)]


# The text and its hash


@pytest.mark.parametrize("game", [*FEW, ShutTheBox(tiles=5, open=(2, 5))], ids=str)
@pytest.mark.parametrize("objective", UTILITIES)
def test_the_text_is_the_value_of_every_state(game, objective):
    name, rules, goal, *lines, end = certify(game, objective).text.split("\n")
    assert (name, goal, end) == (game.name, objective, "")
    assert rules == json.dumps(asdict(game), sort_keys=True)
    told = {}
    for line in lines:
        held, dice, value = line.split(" ")
        told[int(held), int(dice)] = value
    assert list(told) == sorted(told)
    other = twin(game)
    positions = {position(game, *state): value for state, value in told.items()}
    assert positions.keys() >= set(other.positions())
    for where in other.positions():
        value = natural(objective, reference.value(other, where, UTILITIES[objective]))
        assert positions[where] == f"{value.numerator}/{value.denominator}"


def test_the_hash_is_that_of_the_file(tmp_path):
    certificate = certify(Threes(dice=3), "shut")
    certificate.save(tmp_path / "new" / "values.txt")
    written = (tmp_path / "new" / "values.txt").read_bytes()
    assert hashlib.sha256(written).hexdigest() == certificate.sha256
    assert written.decode() == certificate.text
    assert written.startswith(b'threes\n{"dice": 3, "faces": 6, "free_face": 3, "moon": false}\nshut\n0 0 1/1\n')


def test_the_hash_tells_games_objectives_and_values_apart():
    certificate = certify(ShutTheBox(tiles=4))
    states, _ = exact_values(ShutTheBox(tiles=4))
    texts = [certificate.text, certify(ShutTheBox(tiles=4), "shut").text]
    texts += [certify(ShutTheBox(tiles=4, open="all", ending_roll=12)).text, certify(Threes(dice=1)).text]
    for state, value in states.items():
        texts.append(value_text(certificate.game, "score", {**states, state: value + Fraction(1, 10**40)}))
    assert len({replace(certificate, text=text).sha256 for text in texts}) == len(texts)


# What is wrong is found


@pytest.mark.slow
@pytest.mark.parametrize("objective", UTILITIES)
@pytest.mark.parametrize("game", FEW, ids=str)
@pytest.mark.parametrize("error", [Fraction(1, 10**40), Fraction(-1, 10**40)])
def test_a_wrong_node_is_named(game, objective, error):
    tables, (states, nodes) = compile_game(game), exact_values(game, objective)
    for place, (node, value) in enumerate(nodes.items()):
        with pytest.raises(ValueError, match="the Bellman equation fails at") as refused:
            check_bellman(game, objective, states, {**nodes, node: value + error})
        where = tables.describe_node(place)
        assert str(refused.value) == f"the Bellman equation fails at {where}: the value is {value}, not {value + error}"


@pytest.mark.parametrize("objective", UTILITIES)
@pytest.mark.parametrize("game", FEW, ids=str)
@pytest.mark.parametrize("error", [Fraction(1, 10**40), Fraction(-1, 10**40)])
def test_a_wrong_state_is_found(game, objective, error):
    """It is named itself, or a node is from which it is best to go there."""
    states, nodes = exact_values(game, objective)
    for state, value in states.items():
        with pytest.raises(ValueError, match="the Bellman equation fails at") as refused:
            check_bellman(game, objective, {**states, state: value + error}, nodes)
        itself = f"fails at {words_of(game).state(*state)}: the value is {value}, not {value + error}"
        assert ("roll" in str(refused.value)) != (itself in str(refused.value))
        if state == game.start():
            assert itself in str(refused.value)


def test_the_first_of_many_wrong_values_is_named():
    states, nodes = exact_values(ShutTheBox(tiles=4))
    with pytest.raises(ValueError, match=r"fails at open none, roll none: the value is 0, not 1$") as refused:
        check_bellman(ShutTheBox(tiles=4), "score", states, {node: value + 1 for node, value in nodes.items()})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("game", FEW, ids=str)
def test_values_of_another_question_are_refused(game):
    others = [values_of(solve(game, worst=True, exact=True)), exact_values(game, "shut")]
    for values in others:
        with pytest.raises(ValueError, match="the Bellman equation fails"):
            check_bellman(game, "score", *values)
    with pytest.raises(ValueError, match="the Bellman equation fails"):
        check_bellman(game, "shut", *exact_values(game))


def test_values_that_are_missing_or_too_many_are_refused():
    game = ShutTheBox(tiles=4)
    states, nodes = exact_values(game)
    without = dict(list(states.items())[1:])
    for wrong, count in (
        ({**states, (99, 2): Fraction(0)}, 18),
        (without, 16),
        ({**without, (99, 2): Fraction(0)}, 17),
    ):
        with pytest.raises(ValueError, match=f"^values of {count} states are not those of the 17 states of ShutTheBox"):
            check_bellman(game, "score", wrong, nodes)
    with pytest.raises(ValueError, match=r"open 1,3, roll 5: the value is 4, not None$"):
        check_bellman(game, "score", states, {node: value for node, value in nodes.items() if node != (0b101, 2, 3)})
    with pytest.raises(ValueError, match=f"^values of {len(nodes) + 1} nodes are not those of the {len(nodes)} nodes"):
        check_bellman(game, "score", states, {**nodes, (0, 0, 1): Fraction(0)})


@dataclass(frozen=True)
class Broken(Threes):
    """Threes whose moves may lead nowhere, or never end."""

    to_nowhere: bool = False
    name: ClassVar[str] = "broken"

    def edges(self, held, dice):
        edges = super().edges(held, dice)
        if self.to_nowhere:
            return edges._replace(next_held=edges.next_held - 7)
        return edges._replace(next_dice=edges.next_dice * 0 + dice, next_held=edges.next_held * 0)


@pytest.mark.parametrize("to_nowhere", [True, False])
def test_moves_that_do_not_descend_are_refused(to_nowhere):
    message = "^a move at held 0, 1 die, roll 1 leads to no state of a lower level$"
    with pytest.raises(ValueError, match=message):
        check_bellman(Broken(dice=2, to_nowhere=to_nowhere), "score", *exact_values(Threes(dice=2)))


# The tables, the sweep and the floats are seen through


@pytest.mark.parametrize("game", FEW, ids=str)
def test_a_mistake_in_the_arrays_is_seen(game):
    tables = compile_game(game)
    utility = np.array([Fraction(-int(points)) for points in tables.final_score], object)
    exact = solve(game, exact=True)
    seen = 0
    for edge in range(len(tables.edge_next)):
        elsewhere = tables.edge_next.copy()
        elsewhere[edge] = 0
        wrong = Solution(tables, exact.objective, *optimise(replace(tables, edge_next=elsewhere), utility))
        if (wrong.node_utility != exact.node_utility).any():  # else the move is not the only best one, or is not best
            seen += 1
            with pytest.raises(ValueError, match=r"the Bellman equation fails at .*, roll"):
                check_bellman(game, "score", *values_of(wrong))
    assert seen > 5


def change_solutions(monkeypatch, change, **of):
    """What `certify` sees of solutions that are exact or not, as `of` says."""

    def changed(*asked, exact=False):
        solution = solve(*asked, exact=exact)
        return change(solution) if {"exact": exact} == of else solution

    monkeypatch.setattr(certificate, "solve", changed)


def test_a_wrong_solution_gets_no_certificate(monkeypatch):
    change_solutions(monkeypatch, lambda solution: solve(solution.tables.game, worst=True, exact=True), exact=True)
    with pytest.raises(ValueError, match="the Bellman equation fails at open"):
        certify(ShutTheBox(tiles=4))


@pytest.mark.parametrize("place", ["state_utility", "node_utility"])
def test_errors_of_the_floats_are_measured_at_states_and_nodes(monkeypatch, place):
    def change(solution):
        values = getattr(solution, place).copy()
        values[-3] = values[-3] * (1 + 1e-6)
        return replace(solution, **{place: values})

    value = getattr(solve(ShutTheBox(tiles=6)), place)[-3]
    change_solutions(monkeypatch, change, exact=False)
    certificate = certify(ShutTheBox(tiles=6))
    assert certificate.largest_error == pytest.approx(-value * 1e-6, rel=1e-6)
    assert certificate.largest_relative_error == pytest.approx(1e-6, rel=1e-6)


def test_a_float_that_should_be_zero_is_infinitely_wrong(monkeypatch):
    change_solutions(
        monkeypatch, lambda solution: replace(solution, state_utility=solution.state_utility + 1e-9), exact=False
    )
    certificate = certify(Threes(dice=1))
    assert certificate.largest_error == pytest.approx(1e-9)
    assert certificate.largest_relative_error == float("inf")


def test_optimal_actions_that_differ_are_told(monkeypatch):
    monkeypatch.setattr(values_module, "TIE", 0.2)
    assert not certify(ShutTheBox(tiles=6)).optimal_actions_agree


@pytest.mark.parametrize("check", [certify, lambda game, goal: check_bellman(game, goal, *exact_values(game))])
def test_unknown_objectives_are_refused(check):
    with pytest.raises(ValueError, match="unknown objective 'points'"):
        check(ShutTheBox(tiles=4), "points")


def test_a_utility_in_fractions_is_not_rounded():
    game = ShutTheBox(tiles=1)

    def halves(points):
        return points * 0.5

    values = values_of(solve(game, halves, exact=True))
    check_bellman(game, halves, *values)
    assert values[0][game.start()] == Fraction(1, 2)
    nothing = [dict.fromkeys(each, Fraction(0)) for each in values]
    with pytest.raises(ValueError, match="the Bellman equation fails"):
        check_bellman(game, halves, *nothing)
