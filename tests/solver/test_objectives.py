"""Objectives of one's own: functions and objects, solved, evaluated, certified and pickled like those with names."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from stb_gym import (
    Objective,
    ShutTheBox,
    Threes,
    certify,
    compile_game,
    evaluate,
    evaluate_boards,
    simulate,
    solve,
    solve_boards,
    strategy,
)
from stb_gym.solver import board_strategy, objective_of
from tests import reference
from tests.twins import (
    SMALL,
    STANDARD,
    MostThrees,
    in_our_words,
    moves_at,
    nodes_of,
    roll_at,
    throwing_states,
    twin,
)  # fmt: skip

NINE = ShutTheBox()


def squares(points):
    """Few points, and above all never many."""
    return -(points.astype(np.int64) ** 2)


def around_four(points):
    """Positive below four points, negative above: expectations cancel."""
    return (4 - points.astype(np.int64)) ** 3


def halves(points):
    """Powers of a half, exact in floats, of numbers up to 45."""
    return 0.5 ** points.astype(float)


def thirds(points):
    """Fractions that floats have not."""
    return np.array([Fraction(7, 3) - Fraction(int(p), 3) for p in points], object)


def is_even(points):
    """Whether the points are even: truth values."""
    return points % 2 == 0


OWN = [squares, around_four, halves, thirds, is_even]


def of_one(game, utility):
    """A utility as the reference asks for it: of one score (of the points that lack, of `Mirrored`), as a fraction."""

    def of_score(score):
        points = game.perfect_score - score if isinstance(game, MostThrees) else score
        return Fraction(utility(np.array([points])).tolist()[0])

    return of_score


# Against the reference


@pytest.mark.parametrize("utility", OWN)
@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("game", [*SMALL, MostThrees(dice=2, faces=4)], ids=str)
def test_every_value_is_that_of_the_reference(game, utility, worst):
    solution, other, theirs = solve(game, utility, worst=worst, exact=True), twin(game), of_one(game, utility)
    tables, best, state_value = solution.tables, min if worst else max, solution.state_value
    for state, where in throwing_states(tables):
        assert state_value[state] == reference.value(other, where, theirs, best)
        for node in nodes_of(tables, state):
            values = reference.move_values(other, where, roll_at(tables, node), theirs, best)
            found = {move: state_value[after] for move, after in moves_at(tables, node).items()}
            assert found == values
    floats = solve(game, utility, worst=worst)
    assert solution.value == state_value[tables.start]
    np.testing.assert_allclose(floats.state_utility, solution.state_utility.astype(float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("utility", OWN)
@pytest.mark.parametrize("game", [*SMALL, *STANDARD, MostThrees(dice=3)], ids=str)
def test_floats_find_the_same_optimal_moves_as_fractions(game, utility):
    """Where utilities of both signs cancel, a share of what is left would be too small a tolerance."""
    exact, floats = solve(game, utility, exact=True), solve(game, utility)
    assert (exact.optimal == floats.optimal).all()
    assert (exact.policy == floats.policy).all()


def of_scores(utilities, others):
    """A utility from what some scores are worth, and what all others are, in fractions or not."""
    return lambda points: np.array([utilities.get(int(score), others) for score in points], object)


def best_keeps(solution, *faces):
    """How many dice are best kept of the first throw."""
    tables, game = solution.tables, solution.game
    node = tables.find_node(tables.start, game.roll_of(np.array([faces], np.uint8))[0])
    return [game.moves[tables.edge_action[edge]] for edge in tables.edges_of(node) if solution.optimal[edge]]


def test_moves_worth_nothing_are_equally_good_where_utilities_of_both_signs_cancel():
    """After 1,1 both keep 2 points, or one keeps 1 and throws for 2 to 5. A share of such a 0 would be no tolerance."""
    goal = of_scores({2: Fraction(0), 3: Fraction(1, 10), 4: Fraction(2, 10), 5: Fraction(-3, 10)}, -1)
    exact, floats = (solve(Threes(dice=2, faces=4, free_face=0), goal, exact=exact) for exact in (True, False))
    assert exact.worth(1, 1) == 0
    assert 0 < abs(floats.worth(1, 1)) < 1e-15  # as 0.1 + 0.2 - 0.3 is
    assert best_keeps(exact, 1, 1) == best_keeps(floats, 1, 1) == [1, 2]


def test_small_utilities_of_one_sign_are_told_apart_beside_large_ones():
    goal = of_scores(dict.fromkeys((3, 4, 5), 1e-12) | {2: 2e-12, 6: 1, 7: 1, 8: 1}, 0)
    exact, floats = (solve(Threes(dice=2, faces=4, free_face=0), goal, exact=exact) for exact in (True, False))
    assert best_keeps(exact, 1, 1) == best_keeps(floats, 1, 1) == [2]


def test_squares_of_open_tiles():
    best = solve(NINE, squares)
    assert best.value == pytest.approx(-182.491, abs=5e-4)
    assert (best.objective.name, best.objective.unit, best.objective.sign) == ("squares", "utility", 1)
    for policy in (solve(NINE).policy, solve(NINE, "shut").policy, strategy(NINE, "biggest-first")):
        scores = evaluate(NINE, policy).score_distribution
        assert evaluate(NINE, policy, squares).value == pytest.approx(
            -sum(c * s**2 for s, c in scores.items()), rel=1e-12
        )
        assert evaluate(NINE, policy, squares).regret > 1e-3
    assert evaluate(NINE, best.policy, squares).regret == 0
    assert solve(NINE, squares, worst=True).value < -600


@pytest.mark.parametrize("utility", OWN)
@pytest.mark.parametrize("game", [*SMALL, MostThrees(dice=2, faces=3)], ids=str)
def test_a_policy_is_worth_what_the_reference_says(game, utility):
    other, theirs = twin(game), of_one(game, utility)
    best = reference.value(other, other.start(), theirs)
    random = evaluate(game, strategy(game, "random"), utility)
    value = reference.policy_value(other, reference.uniform(other), theirs)
    assert random.value == pytest.approx(float(value))
    assert random.regret == pytest.approx(float(best - value), abs=1e-12)
    perfect = in_our_words(compile_game(game), reference.perfect(other, theirs))
    assert evaluate(game, perfect, utility).value == pytest.approx(float(best))
    assert evaluate(game, perfect, utility).regret == pytest.approx(0, abs=1e-12)


def test_an_illegal_action_is_worth_the_least_there_is():
    """Not what the worst score is worth: a player who likes many points must not gain by it."""

    def many(points):
        return points

    game = ShutTheBox(tiles=6)
    evaluation = evaluate(game, np.zeros(compile_game(game).nodes, int), many, illegal="end")
    assert evaluation.illegal_mass > 0.9
    forfeits = evaluation.forfeits @ evaluation.visits
    legal = sum(chance * score for score, chance in evaluation.score_distribution.items()) - 21 * forfeits
    assert evaluation.value == pytest.approx(legal)


@pytest.mark.parametrize("utility", [squares, around_four, thirds])
@pytest.mark.parametrize("game", [ShutTheBox(tiles=4), Threes(dice=2, moon=True)], ids=str)
def test_certificates(game, utility):
    certificate, other = certify(game, utility), twin(game)
    assert certificate.value == reference.value(other, other.start(), of_one(game, utility))
    assert certificate.objective == utility.__name__
    assert certificate.text.splitlines()[2] == utility.__name__
    assert certificate.optimal_actions_agree
    assert certificate.largest_error < 1e-12


def test_sampled_games_agree():
    game = Threes(dice=3)
    simulation = simulate(game, solve(game, squares).policy, 20_000, seed=1, objective=squares)
    assert simulation.exact == pytest.approx(solve(game, squares).value)
    assert simulation.mean == pytest.approx(-(simulation.final_scores**2).mean())
    assert abs(simulation.z) < 4


# What an objective is


def test_objectives_with_names():
    points = np.array([0, 3, 5, 45])
    score, shut, reach = (objective_of(NINE, name) for name in ("score", "shut", "at-most:3"))
    assert (score.utilities(points) == -points).all()
    assert shut.utilities(points).tolist() == [1, 0, 0, 0]
    assert reach.utilities(points).tolist() == [1, 1, 0, 0]
    assert [(each.name, each.unit, each.sign, each.target) for each in (score, shut, reach)] == [
        ("score", "points", -1, None),
        ("shut", "probability", 1, 0),
        ("at-most:3", "probability", 1, 3),
    ]
    assert objective_of(NINE, "at-most:003") == reach
    most = MostThrees(dice=2)
    assert (objective_of(most, "score").utilities(points) == points).all()
    assert objective_of(most, "at-least:5").utilities(points).tolist() == [0, 0, 1, 1]
    assert objective_of(most, "shut").target == 12
    assert [objective_of(most, name).sign for name in ("score", "shut", "at-least:5")] == [1, 1, 1]


def test_objectives_that_are_objects_are_taken_as_they_are():
    own = Objective("cost", squares, unit="coins", sign=-1)
    assert objective_of(NINE, own) is own
    solution = solve(NINE, own)
    assert solution.value == -solve(NINE, squares).value
    assert solution.state_utility.tolist() == solve(NINE, squares).state_utility.tolist()
    evaluation = solution.evaluate(strategy(NINE, "random"))
    assert evaluation.value > solution.value > 0
    assert evaluation.regret == pytest.approx(evaluation.value - solution.value)


def test_functions_are_called_by_their_names():
    class Callable:
        def __call__(self, points):
            return points

    assert objective_of(NINE, squares).name == "squares"
    assert objective_of(NINE, lambda points: points).name == "<lambda>"
    assert objective_of(NINE, Callable()).name == "utility"
    assert objective_of(NINE, np.negative).name == "negative"


@pytest.mark.parametrize(
    "utility",
    [
        lambda points: np.where(points == 0, np.nan, 1.0),
        lambda points: np.where(points == 0, np.inf, 1.0),
        lambda points: np.where(points == 45, -np.inf, 1.0),
        lambda points: 1.0,
        lambda points: None,
        lambda points: points[:-1],
        lambda points: np.stack([points, points]),
        lambda points: [*points, 1],
    ],
)
def test_a_utility_that_is_no_number_for_each_score_is_refused(utility):
    for call in (
        lambda: solve(NINE, utility),
        lambda: solve(NINE, utility, exact=True),
        lambda: certify(NINE, utility),
    ):
        with pytest.raises(
            ValueError, match=r"^the objective <lambda> must give a finite number for each of \d+ scores$"
        ):
            call()


@pytest.mark.parametrize(
    "goal", ["points", "at-most", "at-most:-1", "at-most:1.5", "at-least:5", "SCORE", None, 3, ["score"]]
)
def test_unknown_objectives_are_refused(goal):
    with pytest.raises(
        ValueError, match=r"^unknown objective .*: allowed are score, shut, at-most:T .T points, such as"
    ):
        objective_of(NINE, goal)
    with pytest.raises(ValueError, match=r"^unknown objective 'at-most:5': allowed are score, shut, at-least:T"):
        objective_of(MostThrees(), "at-most:5")


@pytest.mark.parametrize("goal", ["score", "shut", "at-most:7", squares, Objective("mine", squares, "coins", -1)])
def test_objectives_are_pickled_and_compared(goal):
    objective = objective_of(NINE, goal)
    again = pickle.loads(pickle.dumps(objective))
    assert again == objective
    assert hash(again) == hash(objective)
    points = np.arange(46)
    assert (again.utilities(points) == objective.utilities(points)).all()
    assert objective != objective_of(NINE, "at-most:8")
    assert objective_of(NINE, "score") != objective_of(MostThrees(), "score")


# A solution knows its policies


@pytest.fixture
def sweeps(monkeypatch):
    """Every backward induction that is made."""
    tables, made = type(compile_game(NINE)), []
    sweep = tables.sweep
    monkeypatch.setattr(tables, "sweep", lambda self, *asked: made.append(asked) or sweep(self, *asked))
    return made


def test_a_solution_evaluates_policies_without_solving_again(sweeps):
    best = solve(NINE)
    assert len(sweeps) == 1
    for name in ("random", "biggest-first"):
        del sweeps[:]
        policy = strategy(NINE, name)
        del sweeps[:]
        evaluation = best.evaluate(policy)
        assert evaluation.optimum is best
        evaluation.loss, evaluation.regret, evaluation.score_distribution, evaluation.agreement, evaluation.mistakes(3)
        assert len(sweeps) == 1  # that of the policy
        assert evaluation.normalised_score <= 1
        assert len(sweeps) == 2  # and that of random play
        del sweeps[:]
        again = evaluate(NINE, policy)
        assert len(sweeps) == 2
        assert again.summary() == evaluation.summary()


def test_the_evaluation_of_a_solution_is_in_its_objective():
    policy = strategy(NINE, "biggest-first")
    for goal in ("score", "shut", squares):
        assert solve(NINE, goal).evaluate(policy).summary() == evaluate(NINE, policy, goal).summary()
    with pytest.raises(ValueError, match="takes the illegal action 0"):
        solve(NINE).evaluate(np.zeros(5622, int))
    assert solve(NINE).evaluate(np.zeros(5622, int), illegal="end").illegal_mass > 0


@pytest.mark.parametrize("goal", ["score", "shut", squares])
@pytest.mark.parametrize("game", [*SMALL, MostThrees(dice=2)], ids=str)
def test_the_worth_of_a_state_is_its_utility_and_that_of_an_end_of_its_score(game, goal):
    solution = solve(game, goal)
    tables = solution.tables
    ends = solution.objective.utilities(tables.final_score)
    for state, (held, dice) in enumerate(zip(tables.held.tolist(), tables.dice.tolist(), strict=True)):
        assert solution.worth(held, dice) == solution.state_utility[state]
        assert solution.worth(held, 0) == ends[state]
        assert type(solution.worth(held, dice)) is float


@pytest.mark.parametrize("kind", [bool, np.uint64, np.uint8, float, object])
def test_the_opposite_of_any_kind_of_numbers(kind):
    goal = Objective("own", lambda points: (points > 3).astype(kind), sign=-1)
    opposite = pickle.loads(pickle.dumps(Objective("own", is_even).opposite))
    assert opposite.utilities(np.array([1, 2])).tolist() == [0, -1]
    assert goal.opposite.utilities(np.array([1, 7])).tolist() == [0, -1]
    assert goal.opposite.sign == 1
    game = ShutTheBox(tiles=4)
    assert solve(game, goal, worst=True).value == solve(game, lambda points: -(points > 3).astype(float)).value


def test_utilities_that_are_no_real_numbers_are_refused():
    for utility in (lambda points: points * 1j, lambda points: np.full(points.shape, "1")):
        with pytest.raises(ValueError, match="must give a finite number for each of"):
            solve(ShutTheBox(tiles=4), utility)


def test_a_utility_that_writes_into_the_scores_is_stopped():
    game = ShutTheBox(tiles=4)
    before = solve(game).value

    def negated(points):
        points *= -1
        return points

    with pytest.raises(ValueError, match="read-only"):
        solve(game, negated)
    assert solve(game, "shut").value == solve(game, lambda points: (points == 0) * 1.0).value
    assert solve(game).value == before


def test_play_is_measured_against_the_worst_as_by_boards():
    game = ShutTheBox(tiles=5)
    tables, boards = solve(game, worst=True), solve_boards(game, worst=True)
    for name in ("fewest-then-biggest", "random"):
        by_tables = tables.evaluate(strategy(game, name))
        by_boards = evaluate_boards(boards, board_strategy(game, name))
        assert by_tables.regret == pytest.approx(by_boards.regret)
        assert by_tables.value == pytest.approx(by_boards.value)
    assert tables.evaluate(solve(game).policy).regret == pytest.approx(tables.value - solve(game).value)
    assert tables.evaluate(tables.policy).regret == 0
