"""The coach: what every choice cost, and accounts that add up."""

import re
from itertools import product

import numpy as np
import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, compile_game, solve, solve_boards, strategy
from stb_gym.games import legal_moves, rolls
from stb_gym.rounds import TIES
from stb_gym.terminal.chances import chances
from stb_gym.terminal.coach import coach_alone
from stb_gym.terminal.turns import Position, step_in_words, take_turn
from tests.terminal.person import boards, move_of, node_of, position_at, talk, wins


def test_the_coach_says_what_every_choice_cost(monkeypatch, capsys):
    game = ShutTheBox()
    solution = solve(game)
    tables, kinds = solution.tables, set()
    for seed in range(3):
        seen = talk(monkeypatch, capsys, Round(game, 1), coach=True, seed=seed)
        assert "Coach: 11.16 expected points with perfect play.\n" in seen
        for opened, roll, said, tiles in boards(seen):
            position = position_at(game, {"open": opened, "roll": roll})
            node = node_of(tables, position)
            edge = tables.edges_of(node)[position.moves.index(move_of(game, position, tuple(tiles)))]
            best = [other for other in tables.edges_of(node) if solution.optimal[other]]
            if not solution.optimal[edge]:
                moves = (",".join(map(str, game.moves[tables.edge_action[other]])) for other in best)
                assert said == f"{-solution.advantage[edge]:.2f} points lost: shut {' or shut '.join(moves)} was best."
            else:
                assert said == (
                    "best move." if len(best) < len(tables.edges_of(node)) else "all moves were equally good."
                )
            kinds.add(said.split()[0])
    assert {"best"} < kinds


def test_the_coach_on_a_known_position():
    game = ShutTheBox()
    position = position_at(game, {"open": [1, 4, 5, 8], "roll": 9})
    left, right = (move_of(game, position, tiles) for tiles in ((1, 8), (4, 5)))
    score, shut = coach_alone(solve(game, "score")), coach_alone(solve(game, "shut"))
    assert score.remark(position, left) == "0.14 points lost: shut 4,5 was best."
    assert score.remark(position, right) == shut.remark(position, left) == "best move."
    remark = shut.remark(position, right)
    assert re.fullmatch(r"\d\.\d\d percentage points lost: shut 1,8 was best\.", remark)
    game = Threes()
    position = position_at(game, {"points": 0, "roll": [3, 1, 6]})
    remark = coach_alone(solve(game, "score")).remark(position, move_of(game, position, 3))
    assert remark == "3.00 points lost: keep 2 (3 1) was best."


def test_a_loss_too_small_for_two_digits_is_not_called_none():
    solution = solve(ShutTheBox())
    tables = solution.tables
    edge = int(np.where((solution.advantage < -1e-9) & (solution.advantage > -0.005))[0][0])
    node, state = tables.edge_node[edge], tables.node_state[tables.edge_node[edge]]
    held, dice, roll = int(tables.held[state]), int(tables.dice[state]), tables.node_roll(node)
    position = Position(held, dice, (), roll, legal_moves(tables.game, held, dice, roll))
    remark = coach_alone(solution).remark(position, position.moves[edge - tables.edges_of(node).start])
    assert remark.startswith("less than 0.01 points lost: ")


@pytest.mark.parametrize("seed", range(4))
def test_the_account_at_the_end_adds_up(monkeypatch, capsys, seed):
    seen = talk(monkeypatch, capsys, Round(ShutTheBox(), 1), coach=True, seed=seed)
    final = int(re.search(r"You end with (\d+)", seen)[1])
    account = seen.split("\n\n")[-2].split("\n")
    assert account[0].split() == ["dice", "choices", "expected", "points"]
    assert account[1].split() == ["at", "the", "start", "11.16"]
    choices = re.findall(r"Shut which tiles\? [\d,]+\nCoach: (\S+)|The only|No open", seen)
    assert len(choices) == len(account) - 3
    worth = 11.16
    for row, said in zip(account[2:-1], choices, strict=True):
        *changes, after = re.findall(r"[+-]?\d+\.\d\d", row)
        worth += sum(map(float, changes))
        assert float(after) == pytest.approx(worth, abs=0.02 * len(account))
        assert len(changes) == 1 + bool(said)
        assert not said or changes[1] == ("0.00" if said in ("best", "all") else f"+{said}")
    *changes, after = account[-1].split()[2:]
    assert after == f"{final}.00"
    sums = re.fullmatch(r"In points: the dice (\S+) you (.*), your choices cost you (.*)\.\n", seen.split("\n\n")[-1])
    luck, cost = (float(change) for change in changes)
    assert sums[1] == ("cost" if luck > 0 else "helped")
    assert sums[2].endswith(f"{abs(luck):.2f}")
    assert sums[3] == (f"{cost:.2f}" if cost > 0 else "nothing")


def test_the_account_of_perfect_play_says_so(monkeypatch, capsys):
    rules = Round(ShutTheBox(), 2, "all-win")
    policy = chances(rules, ["random", "random"], 1).reply

    def types(seen):
        opened, roll, _, _ = list(boards(f"{seen}Shut which tiles? 0\n"))[-1]
        lead = int(re.search(r"leads with (\d+)", seen)[1])
        node = node_of(rules.tables, position_at(rules.game, {"open": opened, "roll": roll}))
        return " ".join(map(str, rules.game.moves[policy.policy(Standing(lead, 1, 0))[node]]))

    seen = talk(monkeypatch, capsys, rules, "random", types=types, seat=2, coach=True, seed=7)
    assert re.search("^ +others +dice +choices +chance to win$", seen, re.MULTILINE)
    assert "lost" not in seen
    assert seen.endswith("your choices cost you nothing.\n")
    assert re.search(r"^random: \d+ points +[+-]\d", seen, re.MULTILINE)


def random_turn(game, random):
    def choose(position):
        return position.moves[random.integers(len(position.moves))] if position.moves else None

    return take_turn(game, random, choose)


def turn_by(policy, tables, random):
    def choose(position):
        action = policy[node_of(tables, position)]
        return next((move for move in position.moves if move.action == action), None)

    return take_turn(tables.game, random, choose)


GAMES = [ShutTheBox(), ShutTheBox(tiles=3), ShutTheBox(tiles=5, dice=1, score="count"), Threes()]


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["score", "shut", "at-most:6"])
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_start_luck_and_cost_make_the_result_of_a_turn(game, objective):
    best, random = solve(game, objective), np.random.default_rng(1)
    coach = coach_alone(best)
    assert best.objective.sign * coach.start == pytest.approx(best.value)
    for _ in range(100):
        steps, score = random_turn(game, random)
        account = coach.account(steps)
        assert account.end == pytest.approx(best.objective.utilities(np.array([score]))[0], abs=1e-12)
        assert account.start + account.total("dice") + account.total("choices") == pytest.approx(account.end, abs=1e-12)
        assert all(entry.changes.get("choices", 0) <= 0 for entry in account.events)
        steps, _ = turn_by(best.policy, best.tables, random)
        assert coach.account(steps).total("choices") == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("game", [ShutTheBox(tiles=6), *GAMES[1:-1], Threes(dice=4)], ids=str)
def test_luck_averages_to_nothing_at_every_state(game):
    tables = compile_game(game)
    coaches = [coach_alone(solve(game, "score")), coach_alone(solve(game, "shut"))]
    prospects = chances(Round(game, 3, "split"), ["random", "random", "optimal"], 1)
    lead = int(tables.final_score.max())
    coaches.append(prospects.coach(prospects.standings.find(Standing(lead, 1, 1))))
    for held, dice in zip(tables.held.tolist(), tables.dice.tolist(), strict=True):
        if dice == 0:
            continue
        thrown = rolls(game, dice)
        positions = [Position(held, dice, (), roll, legal_moves(game, held, dice, roll)) for roll in thrown.shown]
        for coach in coaches:
            luck = [coach.choice(position).utility - coach.known.worth(held, dice) for position in positions]
            assert abs(thrown.counts @ luck) / thrown.counts.sum() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("ties", "shut_wins"), list(product(TIES, [False, True])))
@pytest.mark.parametrize("game", [ShutTheBox(tiles=4, dice=1, faces=4), Threes(dice=2, faces=4)], ids=str)
def test_start_luck_cost_and_the_others_make_the_result_of_a_round(game, ties, shut_wins):
    rules = Round(game, 4, ties, shut_wins)
    random = np.random.default_rng(2)
    lineup = ["random", "optimal", strategy(game, "worst"), "approximation"]
    for seat in range(4):
        prospects = chances(rules, lineup, seat)
        assert prospects.before[0][-1] == pytest.approx(rules.evaluate(lineup).best_response(seat).value, abs=1e-12)
        cut_short = 0
        for number in range(24):
            scores, steps, standing = [], [], len(rules.standings.lead) - 1
            for player in range(4):
                if shut_wins and 0 in scores:
                    cut_short += 1
                    break
                if player == seat and number % 2:
                    reply = prospects.reply.policy(rules.standings.standing(standing, 3 - seat))
                    played, score = turn_by(reply, rules.tables, random)
                else:
                    played, score = random_turn(game, random)
                steps = played if player == seat else steps
                scores.append(score)
                standing = rules.standings.after[standing, rules.standings.place(score)]
            account = prospects.account("abcd", scores, steps)
            assert account.end == pytest.approx(wins(ties, scores, seat), abs=1e-12)
            assert account.start == prospects.before[0][-1]
            assert len(account.events) == len(steps) + len(scores) - (seat < len(scores))
            if number % 2:
                assert account.total("choices") == pytest.approx(0, abs=1e-12)
            assert account.total("choices") <= 0
        assert (cut_short > 0) == shut_wins


def test_the_chances_against_the_equilibrium_are_its_own():
    rules = Round(ShutTheBox(tiles=6), 3, "nobody")
    for seat in range(3):
        prospects = chances(rules, ["optimal"] * 3, seat)
        assert prospects.before[0][-1] == pytest.approx(rules.solve().seats[seat], abs=1e-9)


def test_what_the_others_change_averages_to_nothing():
    """Every score that a seat can make, weighted by its chance: the entries of the account sum to zero."""
    rules = Round(Threes(dice=2, faces=4), 3, "split")
    lineup = ["threes-only", "random", "take-all"]
    played = rules.evaluate(lineup).played
    prospects = chances(rules, lineup, 1)
    nobody = len(rules.standings.lead) - 1
    steps, score = random_turn(rules.game, np.random.default_rng(3))
    first = played[0].chances[nobody]
    mean = sum(first[t] * prospects.account("abc", [t], []).total("others") for t in np.flatnonzero(first))
    assert mean == pytest.approx(0, abs=1e-12)
    standing = rules.standings.after[rules.standings.after[nobody, 4], score]
    last = played[2].chances[standing]
    changes = {t: prospects.account("abc", [4, score, t], steps).events[-1].changes for t in np.flatnonzero(last)}
    mean = sum(last[t] * change["others"] for t, change in changes.items())
    assert mean == pytest.approx(0, abs=1e-12)
    assert any(change["others"] for change in changes.values())


@pytest.mark.parametrize(
    "game", [ShutTheBox(), ShutTheBox(tiles=3), ShutTheBox(tiles=6, dice=3, score="count")], ids=str
)
@pytest.mark.parametrize("objective", ["score", "shut"])
def test_a_turn_without_arrays_is_the_same(game, objective):
    coaches = coach_alone(solve(game, objective)), coach_alone(solve_boards(game, objective))
    for seed in range(30):
        said = []
        for coach in coaches:
            random, remarks = np.random.default_rng(seed), []

            def choose(position, coach=coach, random=random, remarks=remarks):
                if not position.moves:
                    return None
                move = position.moves[random.integers(len(position.moves))]
                remarks.append(coach.remark(position, move))
                return move

            steps, score = take_turn(game, np.random.default_rng([seed, 1]), choose)
            said.append((score, remarks, str(coach.account(steps)), [step_in_words(game, step) for step in steps]))
        assert said[0] == said[1]
