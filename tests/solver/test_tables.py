"""The compiled arrays against the rules as the reference states them: every state, roll and move."""

import itertools
import math
from dataclasses import dataclass
from functools import partialmethod
from typing import ClassVar

import numpy as np
import pytest
from stb_gym.games.shut_the_box.rules import NO_MOVE
from stb_gym.solver.scripted import by_thumb

from stb_gym import ShutTheBox, Threes, compile_game, solve
from stb_gym.games import Edges, own_rules, rolls, throw_faces
from stb_gym.solver import optimise
from tests.twins import SMALL, STANDARD, MostThrees, moves_at, nodes_of, position, roll_at, throwing_states, twin


@pytest.mark.parametrize("game", [*SMALL, *STANDARD], ids=str)
def test_states_rolls_and_moves_are_those_of_the_rules(game):
    tables, other = compile_game(game), twin(game)
    positions = dict(throwing_states(tables))
    assert sorted(map(str, positions.values())) == sorted(str(p) for p in other.positions() if not other.is_over(p))
    for state, where in positions.items():
        chances = {roll_at(tables, node): tables.node_probability[node] for node in nodes_of(tables, state)}
        assert chances == pytest.approx({roll: float(chance) for roll, chance in other.outcomes(where)}, abs=1e-15)
        for node in nodes_of(tables, state):
            found = {
                move: position(game, int(tables.held[s]), int(tables.dice[s]))
                for move, s in moves_at(tables, node).items()
            }
            assert found == dict(other.moves(where, roll_at(tables, node))), tables.describe_node(node)


@pytest.mark.parametrize("game", [*SMALL, *STANDARD], ids=str)
def test_final_scores_are_those_of_the_rules(game):
    tables, other = compile_game(game), twin(game)
    for state in range(tables.states):
        where = position(game, int(tables.held[state]), int(tables.dice[state]))
        assert tables.final_score[state] == other.final_score(where)


@pytest.mark.parametrize("game", [*SMALL, *STANDARD], ids=str)
def test_edges_are_counted_before_they_are_made(game):
    more_than_there_are = game.most_edges() - len(compile_game(game).edge_next)
    assert more_than_there_are >= 0
    if own_rules(game).keys() <= {"tiles", "dice", "faces", "score"}:
        assert more_than_there_are <= (len(rolls(game, game.dice).counts) if isinstance(game, ShutTheBox) else 0)


def test_sizes_of_the_nine_tile_box():
    tables = compile_game(ShutTheBox())
    choices = np.diff(tables.edge_start)
    assert (tables.states, tables.actions) == (512, 62)
    assert (len(tables.decisions), np.count_nonzero(choices > 1), len(tables.edge_next)) == (4040, 1774, 7104)


def test_every_edge_leads_to_a_lower_level_and_levels_cover_everything():
    tables = compile_game(Threes())
    level_of = np.empty(tables.states, int)
    for number, level in enumerate(tables.levels):
        level_of[level.states] = number
    assert (level_of[tables.edge_next] < level_of[tables.node_state[tables.edge_node]]).all()
    for part, size in (("states", tables.states), ("nodes", tables.nodes), ("edges", len(tables.edge_next))):
        bounds = [(getattr(level, part).start, getattr(level, part).stop) for level in tables.levels]
        assert [0, *(stop for _, stop in bounds)] == [*(start for start, _ in bounds), size]


def test_observations_of_different_nodes_differ():
    for game in (*SMALL, *STANDARD):
        tables = compile_game(game)
        assert len(np.unique(tables.observation, axis=0)) == tables.nodes
        assert (tables.observation <= game.observation_high).all()
        assert (tables.observation_index.find(tables.observation) == np.arange(tables.nodes)).all()


def test_legal_marks_the_edges():
    tables = compile_game(ShutTheBox(tiles=6))
    mask = tables.legal()
    assert mask.sum() == len(tables.edge_next)
    assert mask[tables.edge_node, tables.edge_action].all()
    some = np.array([40, 3, 17])
    assert (tables.legal(some) == mask[some]).all()


@pytest.mark.parametrize("game", [ShutTheBox(faces=4, dice=3), Threes(dice=3)], ids=str)
def test_every_throw_gives_the_roll_of_its_faces(game):
    table = rolls(game, 3)
    every_throw = list(itertools.product(range(1, game.faces + 1), repeat=3))
    assert [throw_faces(throw, 3, game.faces) for throw in range(len(table.of_throw))] == every_throw
    for throw, roll in enumerate(table.of_throw):
        faces = throw_faces(throw, 3, game.faces)
        expected = [sum(faces)] if isinstance(game, ShutTheBox) else sorted(faces, key=lambda f: (f != 3, f))
        assert table.shown[roll].tolist() == expected
    assert (np.bincount(table.of_throw) == table.counts).all()


def test_a_first_roll_that_fits_nothing_has_one_legal_move_which_ends_the_turn():
    game = ShutTheBox(tiles=3)
    tables = compile_game(game)
    assert game.moves[-1] == NO_MOVE
    dead = [node for node in nodes_of(tables, tables.start) if roll_at(tables, node) > 6]
    assert len(dead) == 6
    for node in dead:
        [edge] = range(tables.edge_start[node], tables.edge_start[node + 1])
        after = tables.edge_next[edge]
        assert tables.edge_action[edge] == len(game.moves) - 1
        assert (tables.held[after], tables.dice[after], tables.final_score[after]) == (0b111, 0, 6)
    assert NO_MOVE not in ShutTheBox().moves


@dataclass(frozen=True)
class Broken(Threes):
    """Threes with one fault in its edges."""

    fault: str = ""
    name: ClassVar[str] = "broken"

    def edges(self, held, dice):
        edges = super().edges(held, dice)
        if dice != 2:
            return edges
        if self.fault == "order":
            return Edges(*(column[::-1] for column in edges))
        if self.fault == "dice":
            return edges._replace(next_dice=np.full_like(edges.next_dice, self.dice + 1), next_held=edges.next_held * 0)
        if self.fault == "nowhere":
            return edges._replace(next_held=edges.next_held + 50)
        return edges._replace(next_dice=np.full_like(edges.next_dice, 2), next_held=edges.next_held * 0)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("order", "is not in order"),
        ("nowhere", "leads to no state"),
        ("dice", "leads to no state"),
        ("level", "leads to a state that is not of a lower level"),
    ],
)
def test_rules_that_break_their_contract_are_refused_by_name(fault, message):
    with pytest.raises(ValueError, match=rf"^move .*1.* at held \d, 2 dice, roll \d,\d {message}$"):
        compile_game(Broken(dice=3, fault=fault))


def broken(**says):
    """Threes of two dice of which some methods say something else."""
    methods = {name: partialmethod(_changed, name, change) for name, change in says.items()}
    return dataclass(frozen=True, repr=False)(type("Wrong", (Threes,), {"name": "wrong", **methods}))(dice=2)


def _changed(game, name, change, *asked):
    return change(getattr(Threes, name)(game, *asked))


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ({"start": lambda start: (1, 2)}, r"starts with \(1, 2\), which is none of its states"),
        (
            {"states": lambda states: (np.append(states[0], 3), np.append(states[1], 1))},
            "names the state held 3, 1 die twice",
        ),
        (
            {"states": lambda states: (states[0], states[1][1:])},
            r"of Wrong\(dice=2\) must be two arrays \[S\], not of shapes",
        ),
        (
            {"states": lambda states: (states[0][:, None], states[1][:, None])},
            r"must be two arrays \[S\], not of shapes",
        ),
        ({"states": lambda states: (states[0][:0], states[1][:0])}, r"must be two arrays \[S\], not of shapes"),
        (
            {"states": lambda states: (states[0], states[1] + 1)},
            r"must throw 0 to 2 dice, as many as the first throw has",
        ),
        (
            {"states": lambda states: (states[0], states[1] - 1)},
            r"must throw 0 to 2 dice, as many as the first throw has",
        ),
        ({"final_score": lambda score: score / 2}, "must give an integer for each of 21 states, not float64 of shape"),
        (
            {"final_score": lambda score: score[1:]},
            r"must give an integer for each of 21 states, not int64 of shape \(20,\)",
        ),
        ({"edges": lambda edges: edges._replace(action=edges.action + 1)}, "must be from 0 to 1, as many as its moves"),
        ({"edges": lambda edges: edges._replace(action=edges.action - 1)}, "must be from 0 to 1, as many as its moves"),
    ],
)
def test_methods_that_break_their_contract_are_named(says, message):
    with pytest.raises(ValueError, match=message) as refused:
        compile_game(broken(**says))
    assert "Wrong(dice=2)" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_games_that_do_not_fit_are_refused_with_their_size(monkeypatch):
    with pytest.raises(ValueError, match=r"7 dice of 20 faces have 1,280,000,000 throws"):
        compile_game(ShutTheBox(dice=7, faces=20))
    monkeypatch.setattr("stb_gym.solver.compiling.LARGEST_TABLE", 4090)
    with pytest.raises(ValueError, match=r"tiles=8, dice=3.* has [\d,]+ edges; arrays hold at most 4,090"):
        compile_game(ShutTheBox(tiles=8, dice=3))
    with pytest.raises(ValueError, match=r"tiles=8, dice=4.* has 5,357 nodes; arrays"):
        compile_game(ShutTheBox(tiles=8, dice=4, match="two-at-most"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ShutTheBox(tiles=0), "tiles must be an integer from 1 to 28, not 0"),
        (lambda: ShutTheBox(tiles=29), "tiles must be"),
        (lambda: ShutTheBox(tiles=9.0), "tiles must be"),
        (lambda: ShutTheBox(dice=True), "dice must be"),
        (lambda: ShutTheBox(faces=1), "faces must be an integer from 2 to 20, not 1"),
        (lambda: ShutTheBox(score="golf"), "unknown score 'golf': allowed are sum, count, digits"),
        (lambda: Threes(dice=8), "dice must be an integer from 1 to 7, not 8"),
        (lambda: Threes(faces=21), "faces must be"),
    ],
)
def test_fields_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# What the arrays say of nodes and edges, against plain loops


SEGMENTED = [
    ShutTheBox(tiles=5, one_die="any-time"),
    ShutTheBox(tiles=3),
    Threes(dice=3, moon=True),
    MostThrees(dice=2),
]


def numbers(rows, columns=()):
    """Distinct numbers [rows, *columns] in no order."""
    return np.random.default_rng(rows).permutation(rows * int(np.prod(columns))).reshape(rows, *columns)


@pytest.mark.parametrize("game", SEGMENTED, ids=str)
def test_nodes_and_edges_are_found_by_their_states_and_nodes(game):
    tables = compile_game(game)
    for state in range(tables.states):
        assert list(tables.nodes_of(state)) == np.flatnonzero(tables.node_state == state).tolist()
    for node in range(tables.nodes):
        assert list(tables.edges_of(node)) == np.flatnonzero(tables.edge_node == node).tolist()
        assert tables.choices[node] == len(tables.edges_of(node))
    assert tables.decisions.tolist() == [node for node in range(tables.nodes) if tables.edges_of(node)]
    assert tables.uniform.tolist() == [1 / len(tables.edges_of(node)) for node in tables.edge_node]


@pytest.mark.parametrize("columns", [(), (3,), (2, 2)])
@pytest.mark.parametrize("game", SEGMENTED, ids=str)
def test_values_are_carried_to_edges_and_back(game, columns):
    tables = compile_game(game)
    edges = len(tables.edge_next)
    at_nodes, at_states = numbers(tables.nodes, columns), numbers(tables.states, columns)
    at_decisions, at_edges = numbers(len(tables.decisions), columns), numbers(edges, columns)
    assert tables.at_edges(at_nodes).tolist() == [at_nodes[tables.edge_node[edge]].tolist() for edge in range(edges)]
    assert tables.after_edges(at_states).tolist() == [
        at_states[tables.edge_next[edge]].tolist() for edge in range(edges)
    ]
    spread = tables.spread(at_decisions)
    assert spread.shape == (edges, *columns)
    for operation, plain in ((np.maximum, max), (np.minimum, min), (np.add, sum)):
        reduced = tables.reduce(operation, at_edges)
        assert reduced.shape == (len(tables.decisions), *columns)
        for place, node in enumerate(tables.decisions):
            of_node = at_edges[list(tables.edges_of(node))].reshape(len(tables.edges_of(node)), -1)
            assert reduced[place].ravel().tolist() == [plain(column) for column in of_node.T.tolist()]
            assert (spread[list(tables.edges_of(node))] == at_decisions[place]).all()


@pytest.mark.parametrize("columns", [(3,), (2, 3)])
def test_utilities_side_by_side_are_worth_what_each_is_alone(columns):
    tables = compile_game(ShutTheBox(tiles=3))
    utility = numbers(tables.states, columns).astype(np.float64)
    together = optimise(tables, utility)
    for column in np.ndindex(columns):
        for values, alone in zip(together, optimise(tables, utility[:, *column]), strict=True):
            assert values[:, *column].tolist() == pytest.approx(alone.tolist())


@pytest.mark.parametrize("game", SEGMENTED, ids=str)
def test_sums_at_nodes(game):
    tables = compile_game(game)
    values = numbers(len(tables.edge_next)) / 8
    expected = [sum(values[edge] for edge in tables.edges_of(node)) for node in range(tables.nodes)]
    assert tables.sum_at_nodes(values).tolist() == expected
    assert 0 in expected  # where there is no edge
    assert tables.sum_at_nodes(values > 3).dtype == np.float64


@pytest.mark.parametrize("columns", [(), (4,)])
@pytest.mark.parametrize("game", SEGMENTED, ids=str)
def test_the_lowest_of_the_marked_edges_is_found(game, columns):
    tables = compile_game(game)
    marked = numbers(len(tables.edge_next), columns) % 3 == 0
    last = [tables.edges_of(node)[-1] for node in tables.decisions]
    marked[last] = True  # one is, at every node
    lowest = tables.lowest(marked)
    for place, node in enumerate(tables.decisions):
        for column in np.ndindex(columns):
            first = next(edge for edge in tables.edges_of(node) if marked[(edge, *column)])
            assert lowest[(place, *column)] == first
    if not columns:
        actions = tables.lowest_actions(marked)
        assert actions.tolist() == [
            min((tables.edge_action[edge] for edge in tables.edges_of(node) if marked[edge]), default=-1)
            for node in range(tables.nodes)
        ]


def test_answers_at_decisions_become_a_policy():
    tables = compile_game(ShutTheBox(tiles=3))
    answers = np.arange(len(tables.decisions)) % 3
    policy = tables.policy(answers)
    assert policy.dtype == answers.dtype
    assert policy[tables.decisions].tolist() == answers.tolist()
    assert set(np.delete(policy, tables.decisions)) == {-1}
    chances = np.random.default_rng(0).random((len(tables.decisions), tables.actions)).astype(np.float32)
    policy = tables.policy(chances)
    assert policy.dtype == np.float32
    assert (policy[tables.decisions] == chances).all()
    assert not np.delete(policy, tables.decisions, axis=0).any()


@pytest.mark.parametrize("game", [*SEGMENTED, ShutTheBox(tiles=4, score="digits")], ids=str)
def test_scores_are_sorted_best_first(game):
    tables = compile_game(game)
    assert tables.scores.tolist() == sorted(set(tables.final_score.tolist()), reverse=game.more_is_better)
    assert (tables.scores[tables.score_index] == tables.final_score).all()
    for place, score in enumerate(tables.scores):
        assert tables.place_of(score) == place
    worst, best = tables.scores[-1], tables.scores[0]
    assert tables.place_of(best + game.sign) == 0  # better than any
    assert tables.place_of(worst - game.sign) == len(tables.scores)
    assert tables.place_of(np.array([worst, best])).tolist() == [len(tables.scores) - 1, 0]


@pytest.mark.parametrize("game", SEGMENTED, ids=str)
def test_advantages_and_optimal_edges_are_those_of_each_node(game):
    tables = compile_game(game)
    solution = solve(game)
    for node in tables.decisions:
        after = {edge: solution.state_utility[tables.edge_next[edge]] for edge in tables.edges_of(node)}
        best = max(after.values())
        assert solution.node_utility[node] == best
        for edge, utility in after.items():
            assert solution.advantage[edge] == utility - best <= 0
            assert solution.optimal[edge] == (best - utility < 1e-9)


@dataclass(frozen=True)
class Coins(MostThrees):
    """Three dice more than fit a single number, in order."""

    def roll_of(self, throws):
        return np.sort(throws, axis=1)


def test_rolls_of_many_dice_are_counted_apart():
    found = rolls(Coins(dice=7, faces=2), 10)
    assert found.counts.tolist() == [math.comb(10, twos) for twos in range(11)]
    assert found.shown.sum(axis=1).tolist() == list(range(10, 21))


@pytest.mark.parametrize("column", ["state", "roll"])
@pytest.mark.parametrize("off", [-100, 100])
def test_edges_of_places_that_are_none_are_refused(column, off):
    @dataclass(frozen=True)
    class Wrong(Threes):
        name: ClassVar[str] = f"wrong-{column}-{off}"

        def edges(self, held, dice):
            edges = super().edges(held, dice)
            return edges._replace(**{column: getattr(edges, column) + off})

    with pytest.raises(ValueError, match=f"name a {column} that is not from 0 to "):
        compile_game(Wrong(dice=2))


def test_edges_to_half_a_state_are_refused():
    @dataclass(frozen=True)
    class Halved(Threes):
        name: ClassVar[str] = "halved"

        def edges(self, held, dice):
            edges = super().edges(held, dice)
            return edges._replace(next_held=edges.next_held / 2)

    with pytest.raises(ValueError, match=r"^next_held of the edges of .* must be integers, not 0\.5$"):
        compile_game(Halved(dice=2))


@pytest.mark.parametrize(
    "wrong",
    [lambda game, moves: None, lambda game, moves: moves.action[:-1], lambda game, moves: moves.action * np.nan],
)
def test_a_rule_of_thumb_answers_for_every_move(wrong):
    with pytest.raises(ValueError, match="must give a number for each of"):
        by_thumb(compile_game(Threes(dice=2)), wrong)
