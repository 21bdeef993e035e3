"""Others play, and one looks on: who chooses what, what is said of every move, and films."""

import re
import sys
from itertools import product
from math import prod

import numpy as np
import pytest
from PIL import Image, ImageSequence

from stb_gym import Round, ShutTheBox, Threes, load_policy, save_policy, solve, solve_boards, strategies, strategy
from stb_gym.cli import main
from stb_gym.games import entry_of, legal_moves, rolls
from stb_gym.games.canvas import Canvas
from stb_gym.terminal import chooser, coach_alone, frames, play, play_together, show, write_film
from stb_gym.terminal.turns import Position
from tests.terminal.person import node_of

NINE = ShutTheBox()


def random(seed=0):
    return np.random.default_rng(seed)


def positions(game, count=150):
    """Positions of a game, met by playing at random."""
    dice = random(7)
    while True:
        held, left = game.start()
        while left:
            shown = rolls(game, left).shown
            roll = shown[dice.integers(len(shown))]
            moves = legal_moves(game, held, left, roll)
            yield Position(held, left, (), roll, moves)
            count -= 1
            if not count:
                return
            if not moves:
                break
            _, held, left = moves[dice.integers(len(moves))]


@pytest.mark.slow
@pytest.mark.parametrize("game", [NINE, ShutTheBox(tiles=6, one_die="any-time"), Threes()], ids=str)
def test_whoever_plays_chooses_as_the_policy_does(game):
    best = solve(game)
    coach, tables = coach_alone(best), best.tables
    for name in strategies(game):
        if name == "random":
            continue
        choose, policy = chooser(coach, name, random()), strategy(game, name)
        for position in positions(game):
            chosen = choose(position)
            assert (chosen.action if chosen else None) == (
                policy[node_of(tables, position)] if position.moves else None
            )


def test_a_rule_of_thumb_sees_all_of_the_position(monkeypatch):
    def odd(game, moves):
        assert len(moves.held) == len(moves.roll) == len(moves.next_dice)
        return np.where(moves.held % 2, moves.action, -moves.action) * np.where(moves.roll[:, 0] > 7, 1, -1)

    monkeypatch.setitem(entry_of(NINE).rules_of_thumb, "odd", odd)
    choose = chooser(coach_alone(solve(NINE)), "odd", random())
    for position in positions(NINE):
        if position.moves:
            highest = (position.held % 2 == 1) ^ (position.roll[0] > 7)
            assert choose(position) == position.moves[-1 if highest else 0]


def test_random_choices_are_drawn_from_the_weights():
    game = ShutTheBox(open=(1, 4, 5, 8))
    choose = chooser(coach_alone(solve(game)), "random", random())
    position = next(p for p in positions(game) if len(p.moves) == 2)
    drawn = [position.moves.index(choose(position)) for _ in range(400)]
    assert 150 < sum(drawn) < 250


@pytest.mark.slow
def test_a_box_too_large_for_arrays_is_played_by_every_strategy_it_has():
    big, small = ShutTheBox(tiles=20, dice=3), ShutTheBox(tiles=7)
    coach = coach_alone(solve_boards(big))
    lost = {}
    for name in ("optimal", "optimal-score", "biggest-first", "random", "worst"):
        turn = play(name, coach, chooser(coach, name, random()), random(2))
        lost[name] = -coach.account(turn.steps).total("choices")
    assert lost["optimal"] == lost["optimal-score"] == 0 < lost["biggest-first"] < lost["random"] < lost["worst"]
    with pytest.raises(ValueError, match="unknown strategy of shut-the-box 'approximation'"):
        chooser(coach, "approximation", random())
    by_boards, by_arrays = coach_alone(solve_boards(small)), coach_alone(solve(small))
    for position in positions(small):
        assert by_boards.choice(position).loss == pytest.approx(by_arrays.choice(position).loss)


def test_who_is_no_player_is_refused():
    coach = coach_alone(solve(Threes()))
    with pytest.raises(
        ValueError, match=r"unknown strategy of threes 'biggest-first': allowed are random, threes-only"
    ):
        chooser(coach, "biggest-first", random())
    with pytest.raises(ValueError, match="a policy of"):
        chooser(coach, np.zeros(3, int), random())


def test_what_is_shown_of_a_turn(capsys):
    best = solve(NINE)
    coach, lost = coach_alone(best), 0
    for seed in range(20):
        turn = play("chance", coach, chooser(coach, "random", random(seed)), random(seed))
        show(turn)
        first, *parts = capsys.readouterr().out.split("\n\n")
        assert first == "chance plays Shut the box. 11.16 expected points with perfect play."
        assert len(parts) == len(turn.steps) + 1
        total = 0
        for part, (position, move) in zip(parts, turn.steps, strict=False):
            said = part.splitlines()[-1]
            if move is None:
                assert said == f"No open tiles add up to {position.roll[0]}."
                continue
            tiles, _, remark = said.partition(": ")
            assert tiles == f"shut {','.join(map(str, NINE.moves[move.action]))}"
            edge = best.tables.edges_of(node_of(best.tables, position))[position.moves.index(move)]
            if len(position.moves) == 1:
                assert remark == "the only move."
            elif best.optimal[edge]:
                assert remark in ("best move.", "all moves were equally good.")
            else:
                total -= best.advantage[edge]
                amount = re.match(r"(\d+\.\d\d|less than 0\.01) points lost: shut .* was best\.$", remark)[1]
                assert amount == ("less than 0.01" if -best.advantage[edge] < 0.005 else f"{-best.advantage[edge]:.2f}")
        end, sums = parts[-1].rstrip("\n").split("\n")
        assert end == f"chance ends with {turn.score} point{'s' * (turn.score != 1)}."
        luck = best.value + total - turn.score
        did = f"the dice {'helped by' if luck > 0 else 'cost'} {abs(luck):.2f}"
        assert sums == f"In points: {did}, the choices cost {f'{total:.2f}' if total > 1e-9 else 'nothing'}."
        lost += total
    assert lost > 50


@pytest.fixture
def told(monkeypatch):
    """All words that are drawn."""
    words, write = [], Canvas.text
    monkeypatch.setattr(
        Canvas,
        "text",
        lambda canvas, x, y, text, *how, **more: words.append(text) or write(canvas, x, y, text, *how, **more),
    )
    return words


def test_a_film_shows_every_throw_every_move_with_its_loss_and_the_end(told):
    coach = coach_alone(solve(NINE))
    turn = play("chance", coach, chooser(coach, "random", random(1)), random(3))
    film = list(frames(turn))
    moves = sum(step.move is not None for step in turn.steps)
    assert len(film) == len(turn.steps) + moves + 1
    assert len({frame.picture.shape for frame in film}) == 1
    assert turn.end in told
    assert turn.summary in told
    assert len(list(frames(turn._replace(result="chance wins.")))) == len(film) + 1
    assert "chance wins." in told
    for number, step in enumerate(turn.steps, 1):
        assert f"throw {number}" in told
        assert turn.remark(step) in told
        worth = f"{-coach.choice(step.position).utility:.2f} expected points"
        assert f"chance; perfect play: {worth}" in told
        if step.move is not None:
            worth = f"{-coach.known.worth(step.move.held, step.move.dice):.2f} expected points"
            assert f"chance; perfect play: {worth}" in told


def test_a_film_is_a_gif_of_these_pictures_that_goes_on_for_ever(tmp_path):
    coach = coach_alone(solve(Threes()))
    turn = play("ppo", coach, chooser(coach, load_policy("ppo-threes", Threes()), random()), random(3))
    film = list(frames(turn))
    write_film(tmp_path / "new" / "film.gif", film)
    with Image.open(tmp_path / "new" / "film.gif") as gif:
        assert (gif.format, gif.info["loop"]) == ("GIF", 0)
        shown = [(np.array(each.convert("RGB")), each.info["duration"]) for each in ImageSequence.Iterator(gif)]
    assert [duration for _, duration in shown] == [round(1000 * frame.seconds) for frame in film]
    for (picture, _), frame in zip(shown, film, strict=True):
        assert picture.shape == frame.picture.shape
        assert abs(picture.astype(int) - frame.picture).mean() < 2
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["film.gif"]


def share(scores, seat, after=()):
    """What a seat wins by the lowest of all scores, by trying all that may come of the distributions of those after."""
    won = 0.0
    for later in product(*(each.items() for each in after)):
        everybody = [*scores, *(score for score, _ in later)]
        won += (scores[seat] == min(everybody)) / everybody.count(scores[seat]) * prod(chance for _, chance in later)
    return won


@pytest.mark.parametrize("game", [ShutTheBox(tiles=5), Threes(dice=3)], ids=str)
def test_in_a_round_a_move_loses_what_it_makes_less_likely_to_win(game):
    best, names = solve(game), [*list(entry_of(game).rules_of_thumb)[:2], "random"]
    scores_of = [best.evaluate(strategy(game, name)).score_distribution for name in names]
    turns = list(play_together(Round(game, 3), [(name, name) for name in names], range(12)))
    assert [turn.name for turn in turns] == names * 12
    mistakes, results = 0, set()
    for at, turn in enumerate(turns):
        seat, before = at % 3, [each.score for each in turns[at - at % 3 : at]]
        wins = {score: share([*before, score], seat, scores_of[seat + 1 :]) for score in best.tables.scores.tolist()}
        known = solve(game, np.vectorize(wins.get))
        assert turn.opening == f"{turn.task}. {known.value:.2%} expected share of the win with perfect play."
        assert turn.task.startswith(f"{turn.name} is to beat {min(before)} point" if before else f"{turn.name} begins")
        for position, move in turn.steps:
            if move is not None:
                edge = best.tables.edges_of(node_of(best.tables, position))[position.moves.index(move)]
                lost = turn.coach.choice(position).loss[position.moves.index(move)]
                assert lost == pytest.approx(-known.advantage[edge], abs=1e-9)
                mistakes += lost > 0.01
        scores = [*before, turn.score]
        winners = [name for name, score in zip(names, scores, strict=False) if score == min(scores)]
        win = "wins" if len(winners) == 1 else f"tie and win 1/{len(winners)} each"
        result = f"{' and '.join(winners)} {win} with {min(scores)} point"
        assert turn.result.startswith(result) if seat == 2 else turn.result == ""
        results.add(result)
    assert mistakes > 5
    assert len(results) > 3


# The command


def watched(capsys, *words):
    assert main(["watch", *words]) == 0
    printed = capsys.readouterr()
    assert all(line.startswith("stb-gym watch: ") for line in printed.err.splitlines())  # that the work goes on
    return printed.out


def test_several_players_have_the_same_dice_and_the_same_seed_the_same_turns(capsys):
    words = ["threes", "--policy", "optimal", "--policy", "take-all", "--seed", "5", "--turns", "2"]
    seen = watched(capsys, *words)
    assert seen == watched(capsys, *words)
    turns = re.findall(r"^(\S+) plays Threes.*\n\n(dice .*)$", seen, re.MULTILINE)
    assert [name for name, _ in turns] == ["optimal", "take-all"] * 2
    assert turns[0][1] == turns[1][1] != turns[2][1] == turns[3][1]
    assert watched(capsys, *words[:3], "--seed", "6") != watched(capsys, *words[:3], "--seed", "5")


def test_given_dice_are_played_by_everyone(capsys):
    seen = watched(capsys, "shut-the-box", "--rolls", "8,10,6,5+6,3,7", "--policy", "optimal,lowest-first")
    one, other = seen.split("lowest-first plays")
    assert "optimal ends with 0 points." in one
    assert "given throws" not in one
    assert "lowest-first ends with 21 points." in other
    assert other.rstrip().endswith("The turn ended after 4 of 6 given throws.")


def test_given_dice_may_be_too_few(capsys):
    seen = watched(capsys, "threes", "--rolls", "6+4+4+1+1,1+5+4+3")
    assert "optimal needs more dice: the turn goes on at 1 point, 3 dice left." in seen


def test_a_policy_says_its_game_and_what_it_is_for(capsys, tmp_path):
    shut = watched(capsys, "--policy", "ppo-nine-tiles-shut")
    assert shut.startswith("ppo-nine-tiles-shut plays Shut the box. 7.14% chance of 0 points with perfect\nplay.\n")
    seen = watched(capsys, "--policy", "dqn-twelve-tiles", "--policy", "biggest-first", "--objective", "score")
    assert "dqn-twelve-tiles plays Shut the box (tiles 12). 35.08 expected" in seen
    assert "biggest-first plays Shut the box (tiles 12)" in seen
    folder = tmp_path / "run"
    folder.mkdir()
    save_policy(folder / "policy.npz", Threes(), strategy(Threes(), "take-all"))
    assert watched(capsys, "--policy", str(folder)).startswith("run plays Threes.")
    assert watched(capsys, "threes").startswith("optimal plays Threes.")


def together(*names):
    return ["--together", *(word for name in names for word in ("--policy", name))]


@pytest.mark.slow
def test_a_round_is_told_in_lines_that_fit(capsys):
    names = together("random", "fewest-then-biggest", "ppo-nine-tiles", "random", "optimal")
    words = ["shut-the-box", *names, "--shut-wins", "--turns", "2", "--seed", "8"]
    seen = watched(capsys, *words)
    assert max(map(len, seen.splitlines())) <= 80
    introduction, first, second = " ".join(seen.split()).split("random (seat 1) begins, ")
    assert introduction == (
        "Shut the box: a round of 5, the lowest score wins, tied players share the win, whoever ends with 0 points "
        "wins at once. A move loses what the best one against these others would win more. "
    )
    for each in (first, second):
        assert each.startswith("fewest-then-biggest and ppo-nine-tiles and random (seat 4) and optimal play after. ")
        scores = [int(score) for score in re.findall(r" ends with (\d+) point", each)]
        assert re.search(r" with (\d+) points?\. *$", each)[1] == str(min(scores))
        assert "optimal is to beat" in each


def test_a_round_may_end_before_all_have_played(capsys):
    words = ["threes", "--dice", "1", *together("optimal", "take-all"), "--shut-wins", "--turns", "9", "--seed", "1"]
    seen = watched(capsys, *words)
    assert seen == watched(capsys, *words) != watched(capsys, *words[:-1], "2")
    rounds = seen.split("optimal begins")[1:]
    ended = ["optimal ends with 0 points" in each for each in rounds]
    assert ["take-all is to beat" not in each for each in rounds] == ended
    assert set(ended) == {True, False}
    assert all("optimal wins with 0 points." in each for each in np.array(rounds)[ended])


def test_the_film_of_the_command(capsys, tmp_path):
    out = tmp_path / "film.gif"
    seen = watched(capsys, "threes", "--policy", "random", "--seed", "1", "--out", str(out))
    count, seconds = map(
        int, re.fullmatch(rf"wrote {re.escape(str(out))}: (\d+) pictures, (\d+) seconds\n", seen).groups()
    )
    with Image.open(out) as gif:
        assert gif.n_frames == count
        assert sum(each.info["duration"] for each in ImageSequence.Iterator(gif)) == pytest.approx(
            1000 * seconds, abs=500
        )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "watch whom at which game? Name a game, or a saved or kept policy"),
        ("--policy optimal", "watch whom at which game?"),
        ("threes --policy biggest-first", "unknown strategy of threes 'biggest-first'"),
        ("threes --policy ppo-nine-tiles", "ppo-nine-tiles is a policy of shut-the-box with"),
        ("threes --out film.mp4", "a film is a GIF: --out must end in .gif, unlike film.mp4"),
        ("threes --together --policy random", "a round is of two players or more: name each by --policy"),
        ("threes --together --policy random --policy no", "unknown strategy"),
        ("threes --together --policy random --policy take-all --objective shut", "a round is played to win"),
        ("threes --policy random --ties nobody", "ties, indifferent, shut-wins and may-stop are rules of a round"),
        ("threes --turns 0", "turns must be an integer from 1 to 10000, not 0"),
        ("shut-the-box --rolls 8,x", "'8,x' must be throws separated by commas, such as 8,10 or 3+4,6"),
        ("shut-the-box --rolls 8,13", "optimal: the throw at open 1,2,3,4,5,6,7,9: roll must be an integer from 2 to"),
        ("threes --rolls 1+2 --turns 2", "leave out --together and --turns"),
        ("threes --rolls 1+2 --together", "leave out --together and --turns"),
        ("threes --turns 21 --out x.gif", "turns must be an integer from 1 to 20, not 21"),
    ],
)
def test_wrong_use_is_one_line(capsys, words, message):
    assert main(["watch", *words.split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_without_pillow_the_command_says_what_to_install(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert main(["watch", "threes", "--out", str(tmp_path / "film.gif")]) == 2
    assert capsys.readouterr().err == (
        "stb-gym: pictures need Pillow, which is not installed: pip install 'stb-gym[render]'\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pause", "-1"], "pause must be from 0 to 60 seconds, not -1.0"),
        (["--pause", "inf"], "pause must be from 0 to 60 seconds, not inf"),
        (["--pause", "nan"], "pause must be from 0 to 60 seconds, not nan"),
        (["--seed", "-1"], "seed must be an integer from 0 to 9223372036854775807, not -1"),
    ],
)
def test_numbers_are_checked_before_anything_is_shown(words, said, capsys):
    assert main(["watch", "shut-the-box", *words]) == 2
    assert capsys.readouterr() == ("", f"stb-gym: {said}\n")


def test_who_has_no_choice_makes_no_mistake_and_no_move():
    for game in (ShutTheBox(tiles=3), ShutTheBox(tiles=3, one_die="any-time")):
        coach = coach_alone(solve(game))
        for seed in range(30):
            turn = play("somebody", coach, chooser(coach, strategy(game, "worst"), random()), random(seed))
            assert not any("no move: " in turn.remark(step) for step in turn.steps)


def test_choices_that_are_as_good_cost_nothing():
    coach = coach_alone(solve(ShutTheBox(), "shut"))
    turn = play("somebody", coach, lambda position: next(reversed(coach.choice(position).best), None), random(359))
    assert turn.summary.endswith("the choices cost nothing.")
