"""Certificates: against the reference, and that a wrong value is refused wherever it is."""

import hashlib
import json
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, certify, solve
from stb_gym.games import rolls, words_of
from stb_gym.solver import (
    Solution,
    certificate,
    check_bellman,
    compile_game,
    objective_of,
    optimise,
    solution,
    value_text,
)
from stb_gym.solver.certificate import values_of
from tests import reference
from tests.twins import around_four, games, position, squares, their_utility, thirds, twin

FOUR = ShutTheBox(tiles=4)
FEW = [FOUR, ShutTheBox(tiles=4, faces=3, one_die="any-time", first_move=2, ending_roll=4), Threes(2, 3, moon=True)]
SMALL_ERRORS = [Fraction(1, 10**40), Fraction(-1, 10**40)]


def exact_values(game, objective="score"):
    return values_of(solve(game, objective, exact=True))


@given(games(), st.sampled_from(["score", "shut", squares, around_four, thirds]))
def test_a_certificate_holds_the_values_of_the_reference(game, goal):
    found, other, floats = certify(game, goal), twin(game), solve(game, goal)
    name, rules, objective, *lines, end = found.text.split("\n")
    assert (name, json.loads(rules), end) == (game.name, json.loads(json.dumps(asdict(game))), "")
    assert objective == found.objective == objective_of(game, goal).name
    assert lines == sorted(lines, key=lambda line: tuple(map(int, line.split()[:2])))
    sign, utility = objective_of(game, goal).sign, their_utility(game, goal)
    errors = []
    for line in lines:
        held, dice, value = line.split()
        where = position(game, int(held), int(dice))
        ends = dice == "0"
        expected = sign * (utility(other.final_score(where)) if ends else reference.value(other, where, utility))
        assert value == f"{expected.numerator}/{expected.denominator}"
        inexact = floats.state_value[floats.tables.find_state(int(held), int(dice))]
        errors.append((abs(Fraction(inexact) - expected), abs(expected)))
    assert found.value == sign * reference.value(other, other.start(), utility)
    assert (found.states, found.nodes) == (floats.tables.states, floats.tables.nodes) == (len(lines), found.nodes)
    assert found.largest_error >= float(max(error for error, _ in errors))
    assert found.largest_relative_error >= float(max((error / size for error, size in errors if size), default=0))
    assert found.largest_error <= 1e-12 * float(max(size for _, size in errors)) + 1e-15
    assert found.optimal_actions_agree


@pytest.mark.parametrize(
    ("game", "value", "sha256"),
    [
        (
            ShutTheBox(),
            Fraction(27323400707, 2448880128),
            "5bba5a5590bb20df",
        ),
        (Threes(), Fraction(504205555, 80621568), "9632c154802612f4"),
    ],
    ids=str,
)
def test_certificates_of_the_standard_games(game, value, sha256):
    calls = []
    found = certify(game, progress=lambda done, total: calls.append((done, total)))
    assert found.value == value
    assert found.sha256.startswith(sha256)
    assert 0 < found.largest_relative_error < 1e-15
    assert calls == sorted(calls)
    assert calls[-1] == (found.nodes, found.nodes)


def test_the_hash_is_that_of_the_saved_file(tmp_path):
    found = certify(Threes(dice=3), "shut")
    found.save(tmp_path / "new" / "values.txt")
    written = (tmp_path / "new" / "values.txt").read_bytes()
    assert hashlib.sha256(written).hexdigest() == found.sha256
    assert written.decode() == found.text
    assert written.startswith(b'threes\n{"dice": 3, "faces": 6, "free_face": 3, "moon": false}\nshut\n0 0 1/1\n')


def test_the_hash_tells_games_objectives_and_values_apart():
    found = certify(FOUR)
    states, _ = exact_values(FOUR)
    others = [certify(FOUR, "shut"), certify(ShutTheBox(tiles=4, ending_roll=12)), certify(Threes(dice=1))]
    texts = [value_text(FOUR, "score", {**states, state: value + SMALL_ERRORS[0]}) for state, value in states.items()]
    hashes = [each.sha256 for each in (found, *others, *(replace(found, text=text) for text in texts))]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("objective", ["score", "shut"])
@pytest.mark.parametrize("game", FEW, ids=str)
@pytest.mark.parametrize("error", SMALL_ERRORS)
def test_a_wrong_node_is_named(game, objective, error):
    states, nodes = exact_values(game, objective)
    for (held, dice, place), value in nodes.items():
        where = words_of(game).node(held, dice, rolls(game, dice).shown[place])
        with pytest.raises(ValueError, match=f"{where}: the value is {value}, not {value + error}$"):
            check_bellman(game, objective, states, {**nodes, (held, dice, place): value + error})


@pytest.mark.parametrize("objective", ["score", "shut"])
@pytest.mark.parametrize("game", FEW, ids=str)
@pytest.mark.parametrize("error", SMALL_ERRORS)
def test_a_wrong_state_is_named_or_a_node_whose_best_move_leads_there(game, objective, error):
    states, nodes = exact_values(game, objective)
    for state, value in states.items():
        with pytest.raises(ValueError, match="Bellman") as refused:
            check_bellman(game, objective, {**states, state: value + error}, nodes)
        is_named = f"at {words_of(game).state(*state)}: the value is {value}, not {value + error}" in str(refused.value)
        assert is_named != ("roll" in str(refused.value))
        assert is_named or state != game.start()


def test_the_first_of_many_wrong_values_is_named(snapshot):
    states, nodes = exact_values(FOUR)
    with pytest.raises(ValueError, match="Bellman") as refused:
        check_bellman(FOUR, "score", states, {node: value + 1 for node, value in nodes.items()})
    assert str(refused.value) == snapshot


@pytest.mark.parametrize("game", FEW, ids=str)
def test_values_of_another_question_are_refused(game):
    worst = values_of(solve(game, worst=True, exact=True))
    for objective, values in (("score", worst), ("score", exact_values(game, "shut")), ("shut", exact_values(game))):
        with pytest.raises(ValueError, match="Bellman"):
            check_bellman(game, objective, *values)


def test_missing_and_additional_values_are_refused():
    states, nodes = exact_values(FOUR)
    without, other = dict(list(states.items())[1:]), {(99, 2): Fraction(0)}
    for wrong in (states | other, without, without | other):
        with pytest.raises(ValueError, match="17 states"):
            check_bellman(FOUR, "score", wrong, nodes)
    with pytest.raises(ValueError, match="open 1,3, roll 5: the value is 4, not None"):
        check_bellman(FOUR, "score", states, {node: value for node, value in nodes.items() if node != (0b101, 2, 3)})
    with pytest.raises(ValueError, match=f"{len(nodes)} nodes"):
        check_bellman(FOUR, "score", states, {**nodes, (0, 0, 1): Fraction(0)})


def test_a_utility_in_fractions_is_not_rounded():
    def halves(points):
        return points * 0.5

    values = values_of(solve(ShutTheBox(tiles=1), halves, exact=True))
    check_bellman(ShutTheBox(tiles=1), halves, *values)
    assert values[0][ShutTheBox(tiles=1).start()] == Fraction(1, 2)
    with pytest.raises(ValueError, match="Bellman"):
        check_bellman(ShutTheBox(tiles=1), halves, *(dict.fromkeys(each, Fraction(0)) for each in values))


# Mistakes in the tables and in floats


@pytest.mark.parametrize("game", FEW, ids=str)
def test_a_mistake_in_the_tables_is_found(game):
    tables, exact = compile_game(game), solve(game, exact=True)
    utility = np.array([Fraction(-points) for points in tables.final_score.tolist()], object)
    found = 0
    for edge in range(len(tables.edge_next)):
        elsewhere = tables.edge_next.copy()
        elsewhere[edge] = 0
        wrong = Solution(tables, exact.objective, *optimise(replace(tables, edge_next=elsewhere), utility))
        if (wrong.node_utility != exact.node_utility).any():  # else there is a move as good
            found += 1
            with pytest.raises(ValueError, match="Bellman"):
                check_bellman(game, "score", *values_of(wrong))
    assert found > 5


def certify_changed(monkeypatch, change, exact):
    """Make `certify` see changed solutions: those in fractions, or those in floats."""
    solve_tables = certificate.solve_tables

    def changed(*asked, **how):
        solved = solve_tables(*asked, **how)
        return change(solved) if bool(how.get("exact")) == exact else solved

    monkeypatch.setattr(certificate, "solve_tables", changed)


def test_a_wrong_solution_gets_no_certificate(monkeypatch):
    certify_changed(monkeypatch, lambda solved: solve(solved.game, worst=True, exact=True), exact=True)
    with pytest.raises(ValueError, match="Bellman"):
        certify(FOUR)


@pytest.mark.parametrize("name", ["state_utility", "node_utility"])
def test_errors_of_floats_are_measured_at_states_and_nodes(monkeypatch, name):
    def change(solved):
        values = getattr(solved, name).copy()
        values[-3] *= 1 + 1e-6
        return replace(solved, **{name: values})

    value = getattr(solve(ShutTheBox(tiles=6)), name)[-3]
    certify_changed(monkeypatch, change, exact=False)
    found = certify(ShutTheBox(tiles=6))
    assert found.largest_error == pytest.approx(-value * 1e-6, rel=1e-6)
    assert found.largest_relative_error == pytest.approx(1e-6, rel=1e-6)


def test_a_float_that_should_be_zero_is_infinitely_wrong(monkeypatch):
    certify_changed(monkeypatch, lambda solved: replace(solved, state_utility=solved.state_utility + 1e-9), exact=False)
    assert certify(Threes(dice=1)).largest_relative_error == float("inf")


def test_optimal_actions_that_differ_are_reported(monkeypatch):
    monkeypatch.setattr(solution, "TIE", 0.2)
    assert not certify(ShutTheBox(tiles=6)).optimal_actions_agree


def test_unknown_objectives_are_refused():
    for check in (certify, lambda game, goal: check_bellman(game, goal, *exact_values(game))):
        with pytest.raises(ValueError, match="points"):
            check(FOUR, "points")
