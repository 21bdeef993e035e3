"""Playing in the terminal, as a person does it, and the accounts of the coach."""

import os
import re
import select
import subprocess
import sys
import time
from itertools import count, product
from pathlib import Path

import numpy as np
import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, compile_game, solve, strategy
from ?board_tables import BoardTables
from stb_gym.command import main
from stb_gym.terminal.coach import chances, coach_alone
from ?dialogue import your_turn
from ?objectives import parse_objective
from stb_gym.terminal import play, play_alone
from stb_gym.rounds import TIES
from stb_gym.exact import approximation
from stb_gym.exact import solve_boards
from ?turns import step_in_words
from stb_gym.terminal.turns import take_turn

COMMAND = str(Path(sys.executable).parent / "stb-gym")
SEED_OF_A_SEVEN = next(seed for seed in range(99) if np.random.default_rng(seed).integers(36) == 15)  # 3 + 4
CTRL_C, CTRL_D = b"\x03", b"\x04"
STRICT = {"PYTHONIOENCODING": "utf-8:strict"}  # what Python does in most languages, though not where none is set


# A person at a pseudo-terminal.


def sit_down(*arguments, types):
    """Run `stb-gym play` on a terminal; `types` gets all that it shows at each prompt and returns the keys pressed."""
    ours, theirs = os.openpty()

    def own_the_terminal():  # so that Ctrl-C reaches the command: a session's first terminal opened is its own
        os.close(os.open(os.ttyname(0), os.O_RDWR))

    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    session = {"start_new_session": True, "preexec_fn": own_the_terminal, "env": os.environ | STRICT}
    person = subprocess.Popen([COMMAND, "play", *arguments], **streams, **session)
    os.close(theirs)
    seen = b""
    try:
        while select.select([ours], [], [], 30)[0]:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the command has ended
                break
            if seen.endswith((b"tiles? ", b"dice? ")):
                time.sleep(0.05)  # a person takes a moment; Python misses a Ctrl-C that comes with the prompt
                os.write(ours, types(seen.decode(errors="replace")))
        return person.wait(timeout=30), seen.decode(errors="replace").replace("\r\n", "\n")
    finally:
        person.kill()
        os.close(ours)


class Careful:
    """Asks for the moves before every choice, and takes the one that `pick` picks of them."""

    def __init__(self, pick):
        self.pick, self.asked = pick, False

    def __call__(self, seen):
        self.asked = not self.asked
        return b"?\n" if self.asked else f"{self.pick(offered(seen))}\n".encode()


def offered(seen):
    """The moves last listed, as they are typed."""
    return re.findall(r"(?:shut|keep) ([\d,]+)", seen[seen.rindex("You can") :])


def in_turn(*keys):
    """Types one after another."""
    left = list(keys)
    return lambda seen: left.pop(0)


# The same without a terminal, quickly.


def talk(monkeypatch, capsys, rules, *opponents, types=None, objective="score", seat=1, coach=False, seed=None):
    """What `play` prints, if at each prompt `types` returns a line for all that was printed; the first move if None."""
    seen = ""
    careful = Careful(lambda moves: moves[0])

    def answer(prompt):
        nonlocal seen
        seen += capsys.readouterr().out
        line = types(seen) if types else careful(seen).decode().strip()
        print(prompt, end="")
        return line

    monkeypatch.setattr("builtins.input", answer)
    play(rules, objective, [(str(name), name) for name in opponents], seat, coach, seed)
    return seen + capsys.readouterr().out


def boards(seen):
    """(open tiles, roll, what the coach said, tiles shut) of every choice in a transcript of Shut the Box."""
    for part in seen.split("\n\n"):
        if shown := re.search(r"^dice .*?(\d+)\npoints \d+\nShut which", part, re.MULTILINE):
            opened = [int(tile) for tile in re.findall(r"│ *(\d+) *│", part)]
            typed = re.findall(r"tiles\? ([\d,]+)$", part, re.MULTILINE)[-1]
            said = re.search(r"Coach: (.*)", part)
            yield opened, int(shown[1]), said and said[1], [int(tile) for tile in typed.split(",")]


def node_at(game, where):
    held, dice, roll = game.locate(where)
    tables = compile_game(game)
    return tables.find_node(tables.find_state(held, dice), roll)


def edge_of(tables, node, move):
    [edge] = [edge for edge in tables.edges_of(node) if tables.game.moves[tables.edge_action[edge]] == move]
    return edge


@pytest.mark.slow
@pytest.mark.parametrize("pick", [min, max])
def test_a_turn_of_shut_the_box_on_a_terminal(pick):
    status, seen = sit_down("shut-the-box", "--seed", "4", types=Careful(pick))
    assert status == 0
    assert seen.startswith("Shut the box: try to end with as few points as you can.\n")
    choices = list(boards(seen))
    assert len(choices) >= 2
    for opened, roll, _, tiles in choices:
        assert sum(tiles) == roll
        assert set(tiles) <= set(opened)
    last = [int(tile) for tile in re.findall(r"│ *(\d+) *│", seen.split("\n\n")[-1])]
    assert re.search(r"No open tiles add up to \d+\.\n", seen)
    assert seen.endswith(f"You end with {sum(last)} point{'s' * (sum(last) != 1)}.\n")
    assert "Coach" not in seen


def test_a_turn_of_threes_on_a_terminal():
    status, seen = sit_down("threes", "--seed", "4", types=lambda seen: b"2\n")
    throws = [[int(face) for face in dice.split()] for dice in re.findall(r"dice   ([\d ]+)\n", seen)]
    assert (status, [len(throw) for throw in throws]) == (0, [5, 3, 1])
    kept = [sorted(0 if face == 3 else face for face in throw)[:2] for throw in throws]
    assert seen.count("Keep how many dice? 2\n") == 2
    assert f"The only move: keep 1 ({throws[-1][0]}).\n" in seen
    total = sum(map(sum, kept))
    assert seen.endswith(f"You end with {total} point{'s' * (total != 1)}.\n")


@pytest.mark.slow
def test_bad_typing_gets_a_line_that_helps_and_another_try():
    wrong = {
        "": "These are no tiles. ",
        "nine": "These are no tiles. ",
        "4;5": "These are no tiles. ",
        "-9": "These are no tiles. ",
        "9" * 5000: "These are no tiles. ",
        "10": "Tile 10 is not open. ",
        "0 9": "Tile 0 is not open. ",
        "2": "That is 2. ",
        "1 + 1": "Every tile is there only once. ",
        "5 4 3": "3 + 4 + 5 = 12. ",
    }
    lines = [*wrong, "  ?  ", "HELP", "9 , ", " 5,  4 ", "q"]
    done = subprocess.run(
        [COMMAND, "play", "shut-the-box", "--seed", "3"], input="\n".join(lines), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\ndice   4 + 5 = 9\n" in done.stdout
    said = done.stdout.split("Shut which tiles? ")[1:]
    allowed = "Type open tiles that add up to 9. ? shows which you can shut.\n"
    for (typed, fault), answer in zip(wrong.items(), said, strict=False):
        assert answer == f"{typed}\n{fault}{allowed}"
    for answer in said[len(wrong) : len(wrong) + 2]:
        assert answer.endswith(
            "\nYou can shut 1,2,6; shut 1,3,5; shut 1,8; shut 2,3,4; shut 2,7; shut 3,6; shut 4,5; shut 9.\n"
        )
    assert said[len(wrong) + 2] == f"9 , \nThese are no tiles. {allowed}"
    assert said[len(wrong) + 3].startswith(" 5,  4 \n\n╭───╮╭───╮╭───╮          ╭───╮")
    assert said[-1].endswith("q\nGoodbye.\n")


@pytest.mark.slow
def test_bad_typing_in_threes_and_bytes_that_are_no_text(monkeypatch, capsys):
    lines = iter(["0", "6", "1 2", "all", "?", "5"])
    seen = talk(monkeypatch, capsys, Round(Threes(), 1), types=lambda seen: next(lines), seed=3)
    assert seen.count("Type how many dice to keep, from 1 to 5. ? shows which they are.\n") == 4
    dice = re.search(r"dice   ([\d ]+)\n", seen)[1].split()
    lowest = sorted(dice, key=lambda face: (face != "3", face))
    keeps = (f"keep {n} ({' '.join(lowest[:n])})" for n in range(1, 6))
    assert f"You can {'; '.join(keeps)}.\n" in seen
    status, seen = sit_down("threes", "--seed", "3", types=in_turn(b"\xff\xfe\n", b"q\n"))
    assert status == 0
    assert seen.endswith("from 1 to 5. ? shows which they are.\nKeep how many dice? q\nGoodbye.\n")


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "left"), [(CTRL_D, ""), (b"q\n", "q"), (b"Quit\n", "Quit")])
def test_leaving_in_the_middle(typed, left):
    status, seen = sit_down("threes", "--against", "random", "--coach", types=in_turn(b"1\n", typed))
    assert status == 0
    assert seen.endswith(f"\nKeep how many dice? {left}\nGoodbye.\n")


@pytest.mark.slow
def test_ctrl_c_ends_with_one_line_and_status_130():
    status, seen = sit_down("shut-the-box", types=in_turn(b"x\n", CTRL_C))
    assert status == 130
    assert re.search(r"Shut which tiles\? \^C\s*stb-gym: interrupted\n$", seen)
    assert "Traceback" not in seen


@pytest.mark.slow
def test_a_pipe_reads_like_a_terminal():
    arguments = ("threes", "--seed", "5", "--against", "threes-only", "--seat", "2", "--coach")
    status, seen = sit_down(*arguments, types=lambda seen: b"1\n")
    piped = subprocess.run([COMMAND, "play", *arguments], input="1\n" * 9, capture_output=True, text=True)
    assert (status, piped.returncode, piped.stderr) == (0, 0, "")
    assert piped.stdout == seen


@pytest.mark.slow
@pytest.mark.parametrize("seat", [1, 2, 3])
def test_a_round_on_a_terminal(seat):
    arguments = ["shut-the-box", "--against", "biggest-first", "--against", "random", "--seat", str(seat)]
    status, seen = sit_down(*arguments, types=Careful(lambda moves: moves[0]))
    assert status == 0
    players = ["biggest-first", "random"]
    players.insert(seat - 1, "Your turn")
    heads = re.findall(r"^(biggest-first|random|Your turn)(?:: .*)?$", seen, re.MULTILINE)
    assert heads == players
    ends = re.findall(r"^(?:(?:  ends|You end) with (\d+) point|You shut the box!)", seen, re.MULTILINE)
    scores = [int(score or 0) for score in ends]
    others = {"biggest-first": scores[players.index("biggest-first")], "random": scores[players.index("random")]}
    before = {name: others[name] for name in players[: seat - 1]}
    situation = re.search(r"Your turn: (.*)\.\n", seen)[1]
    if before:
        lead = min(before.values())
        leaders = [name for name in before if before[name] == lead]
        verb = "leads" if len(leaders) == 1 else "lead"
        assert situation.startswith(f"{' and '.join(leaders)} {verb} with {lead} point")
    else:
        assert situation.startswith("you begin, ")
    after = {1: "biggest-first and random play", 2: "random plays", 3: "nobody plays"}
    assert situation.endswith(f", {after[seat]} after you")


def test_bad_arguments_are_one_line_and_status_2(capsys):
    for arguments, message in [
        ("threes --against best", "unknown strategy of threes 'best': allowed are random"),
        ("threes --against random --against random --seat 4", "seat must be an integer from 1 to 3, not 4"),
        ("threes --seat 2", "seat must be an integer from 1 to 1, not 2"),
        ("threes --seed -1", "seed must be an integer from 0"),
        ("threes --objective win", "unknown objective 'win'"),
        ("threes --against random --objective shut", "objective shut is for playing alone: a round is played to win"),
        ("threes --against random --may-stop", "may_stop needs a game whose points only fall"),
        ("threes --against no-such-file.npz", "there is no policy file no-such-file.npz"),
        ("shut-the-box --shut-wins", "ties, shut-wins and may-stop are rules of a round: name somebody"),
        ("shut-the-box --ties split", "ties, shut-wins and may-stop are rules of a round: name somebody"),
    ]:
        assert main(["play", *arguments.split()]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(f"stb-gym: {message}")
        assert printed.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["{} </dev/null", "{} <&-"])
def test_who_cannot_type_is_bid_goodbye(shell):
    command = shell.format(f"{COMMAND} play threes --seed 1")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Goodbye.\n")


@pytest.mark.slow
def test_a_terminal_without_frames_for_the_tiles_shows_their_numbers():
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    command = [COMMAND, "play", "shut-the-box", "--seed", "1"]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "? 8 ?? 9 ?" in done.stdout


# What the coach says.


def test_the_coach_tells_what_every_choice_cost(monkeypatch, capsys):
    game = ShutTheBox()
    solution = solve(game)
    tables, kinds = solution.tables, set()
    for seed in range(3):
        seen = talk(monkeypatch, capsys, Round(game, 1), coach=True, seed=seed)
        assert "Coach: 11.16 expected points with perfect play.\n" in seen
        for opened, roll, said, tiles in boards(seen):
            node = node_at(game, {"open": opened, "roll": roll})
            edge = edge_of(tables, node, tuple(tiles))
            best = [other for other in tables.edges_of(node) if solution.optimal[other]]
            if not solution.optimal[edge]:
                moves = (",".join(map(str, game.moves[tables.edge_action[other]])) for other in best)
                assert said == f"{solution.edge_loss[edge]:.2f} points lost: shut {' or shut '.join(moves)} was best."
            else:
                assert said == (
                    "best move." if len(best) < len(tables.edges_of(node)) else "all moves were equally good."
                )
            kinds.add(said.split()[0])
    assert {"best"} < kinds


def test_the_coach_on_a_known_position():
    game = ShutTheBox()
    tables = compile_game(game)
    node = node_at(game, {"open": [1, 4, 5, 8], "roll": 9})
    left, right = (edge_of(tables, node, tiles) for tiles in ((1, 8), (4, 5)))
    score, shut = turn_alone(solve(tables.game, "score")), turn_alone(solve(tables.game, "shut"))
    assert (score.remark(left), score.remark(right)) == ("0.14 points lost: shut 4,5 was best.", "best move.")
    assert shut.remark(left) == "best move."
    assert re.fullmatch(r"\d\.\d\d percentage points lost: shut 1,8 was best\.", shut.remark(right))
    game = Threes()
    tables = compile_game(game)
    node = node_at(game, {"points": 0, "roll": [3, 1, 6]})
    remark = turn_alone(solve(tables.game, "score")).remark(edge_of(tables, node, 3))
    assert remark == "3.00 points lost: keep 2 (3 1) was best."


def test_a_loss_too_small_for_two_digits_is_not_called_none():
    tables = compile_game(ShutTheBox())
    turn = turn_alone(solve(tables.game, "score"))
    losses = turn.node_utility[tables.edge_node] - turn.state_utility[tables.edge_next]
    edge = int(np.where((losses > 1e-9) & (losses < 0.005))[0][0])
    assert turn.remark(edge).startswith("less than 0.01 points lost: ")


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
    told = re.fullmatch(r"In points: the dice (\S+) you (.*), your choices cost you (.*)\.\n", seen.split("\n\n")[-1])
    luck, cost = (float(change) for change in changes)
    assert told[1] == ("cost" if luck > 0 else "helped")
    assert told[2].endswith(f"{abs(luck):.2f}")
    assert told[3] == (f"{cost:.2f}" if cost > 0 else "nothing")


def test_the_account_of_perfect_play_says_so(monkeypatch, capsys):
    rules = Round(ShutTheBox(), 2)
    policy = chances(rules, ["random", "random"], 1).reply

    def types(seen):
        opened, roll, _, _ = list(boards(f"{seen}Shut which tiles? 0\n"))[-1]
        lead = int(re.search(r"leads with (\d+)", seen)[1])
        node = node_at(rules.game, {"open": opened, "roll": roll})
        return " ".join(map(str, rules.game.moves[policy.policy(Standing(lead, 1, 0))[node]]))

    seen = talk(monkeypatch, capsys, rules, "random", types=types, seat=2, coach=True, seed=7)
    assert re.search("^ +others +dice +choices +chance to win$", seen, re.MULTILINE)
    assert "lost" not in seen
    assert seen.endswith("your choices cost you nothing.\n")
    assert re.search(r"^random: \d+ points +[+-]\d", seen, re.MULTILINE)


# The accounts themselves.


def random_turn(tables, random):
    def choose(faces, node):
        edges = tables.edges_of(node)
        return int(random.choice(edges)) if edges else None

    return take_turn(tables, random, choose)


def play_by(policy, tables, random):
    def choose(faces, node):
        edges = tables.edges_of(node)
        return next((edge for edge in edges if tables.edge_action[edge] == policy[node]), None)

    return take_turn(tables, random, choose)


GAMES = [ShutTheBox(), ShutTheBox(tiles=3), ShutTheBox(tiles=5, dice=1, score="count"), Threes()]


@pytest.mark.parametrize("objective", ["score", "shut", "at-most:6"])
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_start_luck_and_cost_make_the_result_of_a_turn(game, objective):
    tables, random = compile_game(game), np.random.default_rng(1)
    turn, best, goal = turn_alone(solve(tables.game, objective)), solve(game, objective), parse_objective(objective)
    assert goal.sign * turn.start == pytest.approx(best.value)
    for _ in range(100):
        steps, score = random_turn(tables, random)
        account = turn.account(steps)
        assert account.end == pytest.approx(goal.utility(np.array([score]))[0], abs=1e-12)
        assert account.start + account.total("dice") + account.total("choices") == pytest.approx(account.end, abs=1e-12)
        assert all(entry.changes.get("choices", 0) <= 0 for entry in account.entries)
        steps, _ = play_by(best.policy, tables, random)
        assert turn.account(steps).total("choices") == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_luck_averages_to_nothing_at_every_state(game):
    tables = compile_game(game)
    turns = [turn_alone(solve(tables.game, "score")), turn_alone(solve(tables.game, "shut"))]
    prospects = chances(Round(game, 3, "split"), ["random", "random", "optimal"], 1)
    lead = int(tables.final_score.max())
    turns.append(prospects.turn(prospects.standings.find(Standing(lead, 1, 1))))
    for turn in turns:
        luck = tables.node_probability * (turn.node_utility - turn.state_utility[tables.node_state])
        mean = np.bincount(tables.node_state, luck)
        assert abs(mean).max() < 1e-12


def wins(ties, scores, player):
    """What a player of a round gets."""
    if player >= len(scores) or scores[player] > min(scores):
        return 0
    return {"all-win": 1, "split": 1 / scores.count(min(scores)), "nobody": int(scores.count(min(scores)) == 1)}[ties]


@pytest.mark.parametrize(("ties", "shut_wins"), list(product(TIES, [False, True])))
@pytest.mark.parametrize("game", [ShutTheBox(tiles=4, dice=1, faces=4), Threes(dice=2, faces=4)], ids=str)
def test_start_luck_cost_and_the_others_make_the_result_of_a_round(game, ties, shut_wins):
    rules = Round(game, 4, ties, shut_wins)
    tables, random = rules.tables, np.random.default_rng(2)
    lineup = ["random", "optimal", strategy(game, "worst"), "approximation"]
    for seat in range(4):
        prospects = chances(rules, lineup, seat)
        assert prospects.before[0][-1] == pytest.approx(rules.best_response(seat, lineup).value, abs=1e-12)
        cut_short = 0
        for number in range(60):
            scores, steps, standing = [], [], len(rules.standings.lead) - 1
            for player in range(4):
                if shut_wins and 0 in scores:
                    cut_short += 1
                    break
                if player == seat and number % 2:
                    reply = prospects.reply.policy(rules.standings.standing(standing, 3 - seat))
                    played, score = play_by(reply, tables, random)
                else:
                    played, score = random_turn(tables, random)
                steps = played if player == seat else steps
                scores.append(score)
                standing = rules.standings.after[standing, score]
            account = prospects.account("abcd", scores, steps)
            assert account.end == pytest.approx(wins(ties, scores, seat), abs=1e-12)
            assert account.start == prospects.before[0][-1]
            assert len(account.entries) == len(steps) + len(scores) - (seat < len(scores))
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
    tables, random = rules.tables, np.random.default_rng(3)
    nobody = len(rules.standings.lead) - 1
    steps, score = random_turn(tables, random)
    first = played[0].chances[nobody]
    mean = sum(first[t] * prospects.account("abc", [t], []).total("others") for t in np.flatnonzero(first))
    assert mean == pytest.approx(0, abs=1e-12)
    standing = rules.standings.after[rules.standings.after[nobody, 4], score]
    last = played[2].chances[standing]
    changes = {t: prospects.account("abc", [4, score, t], steps).entries[-1].changes for t in np.flatnonzero(last)}
    mean = sum(last[t] * change["others"] for t, change in changes.items())
    assert mean == pytest.approx(0, abs=1e-12)
    assert any(change["others"] for change in changes.values())


# The rounds.


def test_the_same_seed_is_the_same_game(monkeypatch, capsys):
    rules = Round(ShutTheBox(), 3)

    def game(seed, **how):
        return talk(monkeypatch, capsys, rules, "random", "approximation", seat=2, seed=seed, **how)

    assert game(5) == game(5) != game(6)
    assert game(None) != game(None)


def test_choices_do_not_change_the_dice_of_the_others(monkeypatch, capsys):
    rules = Round(Threes(), 2)
    turns = [
        talk(monkeypatch, capsys, rules, "random", types=lambda seen, keep=keep: keep, seed=5).split("\nrandom\n")
        for keep in ("1", "2")
    ]
    (first, last), (other_first, other_last) = turns
    assert first != other_first
    assert last.split("  ends")[0] == other_last.split("  ends")[0]


@pytest.mark.parametrize("ties", TIES)
def test_the_result_in_words(monkeypatch, capsys, ties):
    rules, results = Round(Threes(dice=1), 3, ties), set()
    for seed in range(150):
        seen = talk(monkeypatch, capsys, rules, "take-all", "random", seat=2, seed=seed, coach=True)
        scores = [int(score) for score in re.findall(r"^(?:  ends|You end) with (\d+) point", seen, re.MULTILINE)]
        lowest = min(scores)
        names = [name for name, score in zip(["take-all", "you", "random"], scores, strict=True) if score == lowest]
        who = " and ".join(sorted(names, key=lambda name: name != "you")).replace("you", "You")
        if len(names) == 1:
            how = "win" if who == "You" else "wins"
        else:
            shares = f"tie and win 1/{len(names)} each"
            how = {"all-win": "tie and win", "split": shares, "nobody": "tie, so nobody wins,"}[ties]
        assert f"{'expected share of the win' if ties == 'split' else 'chance to win'}\nat the start " in seen
        assert f"\n\n{who} {how} with {lowest} point{'s' * (lowest != 1)}.\n\n" in seen
        assert re.search(r"in all .* (.*)%\n", seen)[1] == f"{100 * wins(ties, scores, 1):.2f}"
        results.add(tuple(names))
    assert len(results) == 7  # every set of winners


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("name", ["optimal", "approximation", "biggest-first"])
def test_opponents_play_their_strategy_where_they_stand(monkeypatch, capsys, name, after):
    game = ShutTheBox(tiles=7)
    rules, choices = Round(game, 3, "split"), 0
    opponents = [name, "worst"] if after else ["worst", name]
    for seed in range(12):
        seen = talk(monkeypatch, capsys, rules, *opponents, seed=seed)
        scores = re.findall(r"(?:  ends|You end) with (\d+) point", seen)
        before = [int(score) for score in scores[: 2 - after]]
        standing = Standing(min(before), before.count(min(before)), after)
        if name == "optimal":
            policy = rules.solve().policy(standing)
        elif name == "approximation":
            policy = approximation(rules.tables, standing)
        else:
            policy = strategy(game, name)
        opened = set(range(1, 8))
        turn = seen.split(f"\n{name}\n")[1].split("  ends with ")
        for roll, tiles, left in re.findall(r"^  .*?(\d+)  +shut ([\d,]+) +open (.*)$", turn[0], re.MULTILINE):
            shut = tuple(map(int, tiles.split(",")))
            node = node_at(game, {"open": sorted(opened), "roll": int(roll)})
            assert game.moves[policy[node]] == shut
            opened -= set(shut)
            assert left == (",".join(map(str, sorted(opened))) or "none")
            choices += 1
        assert turn[1].split()[0] == str(sum(opened))
    assert choices > 20


def test_opponents_that_are_arrays_and_share_a_name(monkeypatch, capsys):
    game = Threes()
    half = (strategy(game, "take-all")[:, None] == np.arange(5)) * 0.5
    half[:, 0] += 0.5  # keep one die or all, the same if only one is left
    rules, seen = Round(game, 3), []
    lines = iter(["5"] * 20)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    for seed in range(20):
        play(rules, "score", [("robot", strategy(game, "take-all")), ("robot", half)], 2, False, seed)
    seen = capsys.readouterr().out
    assert seen.count("\nrobot (seat 1)\n") == seen.count("\nrobot (seat 3)\n") == 20
    assert len(re.findall(r"robot \(seat 1\)\n  \d \d \d \d \d  keep 5 .*\n  ends", seen)) == 20
    firsts = re.findall(r"robot \(seat 3\)\n  \d \d \d \d \d  keep (\d)", seen)
    assert {"1": 4, "5": 4}.items() <= {k: min(4, firsts.count(k)) for k in "15"}.items()
    assert set(firsts) == {"1", "5"}
    with pytest.raises(ValueError, match="a policy of"):
        play(rules, "score", [("robot", np.zeros(3, int)), ("robot", half)], 2, False, None)


def test_a_final_score_of_0_ends_the_round(monkeypatch, capsys):
    rules, ends = Round(ShutTheBox(tiles=3, dice=1, faces=3), 3, shut_wins=True), set()
    for seed in range(40):
        seen = talk(monkeypatch, capsys, rules, "optimal", "random", seat=2, seed=seed, coach=True)
        assert "a score of 0 ends the round" in seen
        if "A score of 0 ends the round." in seen:
            played = "You shut the box!" in seen, "Your turn" in seen
            winner = "You win" if played[0] else "optimal wins"
            assert f"\nA score of 0 ends the round.\n\n{winner} with 0 points.\n" in seen
            assert "\nrandom\n" not in seen
            ends.add(played)
    assert ends == {(True, True), (False, False)}


def test_the_last_player_stops_once_ahead(monkeypatch, capsys):
    rules, stopped = Round(ShutTheBox(), 2, may_stop=True), set()
    for seed, seat in product(range(12), (1, 2)):
        seen = talk(monkeypatch, capsys, rules, "most-first", seat=seat, seed=seed, coach=True)
        mine = int(re.search(r"You (?:end with (\d+)|shut the box!)", seen)[1] or 0)
        other = int(re.search(r"  (?:ends|ahead, and stops) with (\d+)", seen)[1])
        if "You are ahead and nobody plays after you, so you stop." in seen:
            assert (seat, mine < other) == (2, True)
            assert seen.split("in all")[1].split("\n")[0].endswith("100.00%")
            stopped.add("you")
        elif "  ahead, and stops with" in seen:
            assert (seat, other < mine) == (1, True)
            stopped.add("other")
        else:
            assert (mine >= other) if seat == 2 else (other >= mine) or "  ends with 0" in seen or mine == 0
    assert stopped == {"you", "other"}
    assert "stop" not in talk(monkeypatch, capsys, Round(ShutTheBox(), 2), "most-first", seat=2, seed=0)


def test_only_the_last_player_may_stop(monkeypatch, capsys):
    rules = Round(ShutTheBox(), 3, may_stop=True)
    for seed in range(6):
        seen = talk(monkeypatch, capsys, rules, "worst", "worst", seat=2, seed=seed)
        assert "so you stop" not in seen
        assert "  ahead, and stops" not in seen.split("You end")[0]


def test_alone_for_a_goal(monkeypatch, capsys):
    rules, said = Round(ShutTheBox(tiles=4), 1), set()
    for seed in range(20):
        seen = talk(monkeypatch, capsys, rules, objective="at-most:3", seed=seed)
        assert seen.startswith("Shut the box (tiles 4): try to end with at most 3 points.\n")
        points = int(re.search(r"You (?:end with (\d+)|shut the box!)", seen)[1] or 0)
        last = seen.split("\n")[-2]
        assert last == ("Just what you wanted!" if points <= 3 else "You wanted at most 3 points.")
        said.add(last)
    assert len(said) == 2


def test_a_first_roll_that_fits_nothing_ends_the_turn(monkeypatch, capsys):
    rules = Round(ShutTheBox(tiles=3), 1)
    for seed in count():
        seen = talk(monkeypatch, capsys, rules, coach=True, seed=seed)
        if "You end with 6 points" in seen:
            break
    assert re.search(r"No open tiles add up to \d+\.\nYou end with 6 points\.\n", seen)
    assert "throw 1: " in seen
    assert "no move" in seen


@pytest.mark.parametrize(
    "game", [ShutTheBox(), ShutTheBox(tiles=3), ShutTheBox(tiles=6, dice=3, score="count")], ids=str
)
@pytest.mark.parametrize("objective", ["score", "shut"])
def test_a_turn_without_arrays_goes_and_is_told_like_one_with_them(game, objective):
    with_arrays, without = turn_alone(solve(game, objective)), turn_alone(BoardTables(solve_boards(game, objective)))
    for seed in range(30):
        told = []
        for turn in (with_arrays, without):
            tables, random, remarks = turn.tables, np.random.default_rng(seed), []

            def choose(faces, node, turn=turn, tables=tables, random=random, remarks=remarks):
                edges = tables.edges_of(node)
                if not edges:
                    return None
                edge = edges[random.integers(len(edges))]
                remarks.append((tables.describe_node(node), turn.remark(edge)))
                return edge

            steps, score = take_turn(tables, np.random.default_rng([seed, 1]), choose)
            told.append((score, remarks, str(turn.account(steps)), [step_in_words(tables, step) for step in steps]))
        assert told[0] == told[1]


@pytest.mark.slow
def test_a_box_too_large_for_arrays_is_played_alone(monkeypatch):
    status, seen = sit_down(
        "shut-the-box", "--tiles", "18", "--dice", "4", "--seed", "1", "--coach", types=Careful(max)
    )
    assert status == 0
    assert seen.startswith("Shut the box (tiles 18, dice 4): try to end with as few points as you can.\n")
    assert "expected points with perfect play" in seen
    assert len(list(boards(seen))) >= 2
    assert "In points: " in seen


def test_the_choice_of_dice_is_asked_for_until_it_is_one(monkeypatch, capsys):
    prompts, lines = [], iter(["5", "3", "1", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: prompts.append(prompt) or next(lines))
    play_alone(solve(ShutTheBox(one_die="any-time"), "score"), False, 4)  # the first roll is a 5
    assert prompts == ["Shut which tiles? ", *["Throw 1 or 2 dice next? "] * 2, "Shut which tiles? "]
    seen = capsys.readouterr().out
    assert "Type 1 or 2.\n" in seen
    assert re.search(r"dice   \d\npoints 40\n", seen)  # one die


@pytest.mark.parametrize(
    ("game", "faces", "words"),
    [
        (ShutTheBox(ending_roll=7), (3, 4), "A roll of 7 ends the turn."),
        (ShutTheBox(first_move=3), (1, 1), "The first move must shut the 3, and no tiles with it match."),
        (ShutTheBox(match="one-tile", open=(7,)), (1, 2), "No open tiles match the dice."),
        (ShutTheBox(open=(7,)), (1, 2), "No open tiles add up to 3."),
    ],
)
def test_why_a_turn_ends_is_told(game, faces, words, monkeypatch, capsys):
    monkeypatch.setattr("stb_gym.turns.throw_faces", lambda throw, dice, faces_of_a_die: faces)
    throw = (faces[0] - 1) * 6 + faces[1] - 1

    class Dice:
        def integers(self, high):
            return throw

    your_turn(compile_game(game), None, Dice())
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("match", "wanted"),
    [
        ("two-at-most", "one open tile or two that add up to 7"),
        ("one-tile", "one open tile, that of a die or of their sum"),
        ("faces-or-sum", "the open tiles of all dice, or that of their sum"),
    ],
)
def test_what_may_be_typed_depends_on_the_rules(match, wanted, monkeypatch, capsys):
    lines = iter(["1,2,3", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    monkeypatch.setattr("stb_gym.play._dice", lambda seed, players: [np.random.default_rng(SEED_OF_A_SEVEN)])
    play_alone(solve(ShutTheBox(match=match), "score"), False, None)
    assert f"Type {wanted}. ?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (ShutTheBox(one_die="low-sum"), "you may throw one die while the open tiles add up to no more than a die has"),
        (
            ShutTheBox(one_die="any-time", one_die_forced=True),
            "After the first throw you must throw one die at any time.",
        ),
        (ShutTheBox(first_move=3, ending_roll=7), "The first move must shut the 3.\nA roll of 7 ends the turn.\n"),
        (
            ShutTheBox(match="two-at-most", score="digits"),
            "Shut one open tile or two that add up to the roll; the number read",
        ),
        (
            Threes(moon=True, free_face=1),
            "a 1 counts nothing.\nA first throw of nothing but 6 is the moon, better than 0.",
        ),
        (Threes(free_face=0), "until none is left.\nType"),
    ],
    ids=str,
)
def test_the_rules_of_a_variant_are_told_first(game, words, monkeypatch, capsys):
    def leave(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", leave)
    play_alone(solve(game), False, 1)
    assert words in capsys.readouterr().out


def test_a_moon_is_called_so(monkeypatch, capsys):
    rules = Round(Threes(dice=1, moon=True), 2)
    moons = (talk(monkeypatch, capsys, rules, "random", types=lambda seen: "1", seed=seed) for seed in range(30))
    seen = next(seen for seen in moons if "You end with the moon." in seen)
    assert "The moon ends the round." in seen
    assert "You win with the moon." in seen
