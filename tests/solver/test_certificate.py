"""Test certificates against the reference, and that any wrong value is refused."""

import hashlib
import json
from dataclasses import asdict, replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, certify, solve
from stb_gym.games import walk
from stb_gym.solver import (
    certificate,
    check_bellman,
    induction,
    objective_of,
)
from stb_gym.solver.certificate import values_of
from tests import reference
from tests.twins import around_four, games, position, squares, their_utility, thirds, twin

FOUR = ShutTheBox(tiles=4)
FEW = [
    ShutTheBox(tiles=3),
    ShutTheBox(tiles=3, faces=3, one_die="any-time", first_move=2, ending_roll=4),
    Threes(2, 3, moon=True),
]


@given(games(), st.sampled_from(["score", "shut", squares, around_four, thirds]))
def test_a_certificate_holds_the_values_of_the_reference(game, goal):
    found, other, utility = certify(game, goal), twin(game), their_utility(game, goal)
    sign = objective_of(game, goal).sign
    name, rules, objective, *lines, end = found.text.split("\n")
    assert (name, objective, end) == (game.name, objective_of(game, goal).name, "")
    assert json.loads(rules) == json.loads(json.dumps(asdict(game)))
    afterstates = []
    for line in lines:
        progress, dice, value = line.split()
        afterstates.append((int(progress), int(dice)))
        where = position(game, *afterstates[-1])
        ends = utility(other.final_score(where))
        assert Fraction(value) == sign * (reference.value(other, where, utility) if int(dice) else ends)
    assert afterstates == sorted(walk(game))
    assert (found.value, found.afterstates) == (sign * reference.value(other, other.start(), utility), len(afterstates))
    assert found.largest_error <= 1e-12 * float(abs(solve(game, goal).afterstate_utilities).max())
    assert found.optimal_actions_agree


def test_the_hash_is_that_of_the_saved_file(tmp_path):
    found = certify(Threes(dice=3), "shut")
    found.save(tmp_path / "new" / "values.txt")
    written = (tmp_path / "new" / "values.txt").read_bytes()
    assert hashlib.sha256(written).hexdigest() == found.sha256
    assert written.startswith(b'threes\n{"dice": 3, "faces": 6, "free_face": 3, "moon": false}\nshut\n0 0 1/1\n')


@pytest.mark.slow
@pytest.mark.parametrize("game", FEW, ids=str)
@pytest.mark.parametrize("error", [Fraction(1, 10**40), Fraction(-1, 10**40)])
def test_a_wrong_value_is_refused_where_it_is(game, error):
    """A wrong afterstate is named itself, or a state whose best move leads there."""
    afterstates, states = values_of(solve(game, exact=True))
    for state, value in states.items():
        with pytest.raises(
            ValueError, match=f"at {game.describe_state(*state)}: the value is {value}, not {value + error}$"
        ):
            check_bellman(game, "score", afterstates, {**states, state: value + error})
    for afterstate, value in afterstates.items():
        itself = f"{game.describe_afterstate(*afterstate)}: the value is {value}, not {value + error}"
        where = itself if afterstate == game.start() else f"({itself}|roll)"
        with pytest.raises(ValueError, match=f"at .*{where}"):
            check_bellman(game, "score", {**afterstates, afterstate: value + error}, states)


def test_missing_and_additional_values_are_refused():
    afterstates, states = values_of(solve(FOUR, exact=True))
    without = dict(list(afterstates.items())[1:])
    for wrong in (
        (afterstates | {(99, 2): Fraction(0)}, states),
        (without, states),
        (afterstates, {}),
        (afterstates, states | afterstates),
    ):
        with pytest.raises(ValueError, match="17 afterstates"):
            check_bellman(FOUR, "score", *wrong)


@pytest.mark.parametrize("name", ["afterstate_utilities", "state_utilities"])
def test_errors_of_floats_are_measured_at_states_and_afterstates(monkeypatch, name):
    solve_tables = certificate.solve_tables

    def with_errors(game, goal, exact=False):
        solved = solve_tables(game, goal, exact=exact)
        return solved if exact else replace(solved, **{name: getattr(solved, name) + 1e-6})

    monkeypatch.setattr(certificate, "solve_tables", with_errors)
    found = certify(ShutTheBox(tiles=1, dice=1), lambda points: points + 1)  # with values from 1 to 2
    assert [found.largest_error, found.largest_relative_error] == pytest.approx([1e-6, 1e-6])
    assert certify(Threes(dice=1)).largest_relative_error == float("inf")  # of the value 0


def test_optimal_actions_that_differ_are_reported(monkeypatch):
    monkeypatch.setattr(induction, "TIE", 0.2)
    assert not certify(ShutTheBox(tiles=6)).optimal_actions_agree
