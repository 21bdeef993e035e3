"""Playing on the page: a seed repeats the dice, and the coach shows the figures of `stb_gym`."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import stb_gym
from stb_gym import ShutTheBox, Threes, evaluate, solve
from stb_gym.games import words_of
from stb_gym.rounds import Round
from stb_gym.solver import Standing, compile_game
from tests.browser.acting import arrive, moved, moves_of, play

GAMES = {"box": ShutTheBox(), "threes": Threes()}
PLAYED = re.compile("played=")
STEPS = """() => [...document.querySelectorAll('details tbody tr')]
    .map(row => [...row.cells].map(cell => cell.textContent))"""


def value(text):
    """Return a number that the page shows; percentages as shares."""
    if text in ("", "best"):
        return 0.0
    number = float(text.rstrip("%").replace("\N{MINUS SIGN}", "-"))
    return number / 100 if text.endswith("%") else number


def check_account(page, game, best):
    """Check that all luck and losses are differences of two exact values; return the losses of the choices."""
    tables, words = compile_game(game), words_of(game)
    chances = best.objective.unit != "points"
    state, node, lost = tables.start, None, []
    for step, luck, choice, after in page.evaluate(STEPS):
        if faces := re.fullmatch(r"throw ([\d ]+)", step):
            held, dice = int(tables.held[state]), int(tables.dice[state])
            node = tables.find_node(held, dice, game.roll_of(tuple(map(int, faces[1].split()))))
            change, now = best.node_utility[node] - best.state_utility[state], best.node_value[node]
            shown = value(luck)
        elif step.startswith("the other one"):
            continue
        else:
            moves = {
                words.move_in_words(words.move(int(tables.edge_action[edge])), tables.node_roll(node)): edge
                for edge in tables.edges_of(node)
            }
            change, state = best.advantage[moves[step]], int(tables.edge_next[moves[step]])
            now, shown = best.state_value[state], value(choice)
            lost.append(-change)
        assert shown == pytest.approx(change, rel=0.03, abs=2e-4 if chances else 2e-3)
        assert value(after) == pytest.approx(now, abs=1e-4 if chances else 1e-3)
    return lost


@pytest.mark.parametrize("name", GAMES)
def test_alone_for_the_points(visitor, name):
    game = GAMES[name]
    page = visitor.visit("play?seed=11&coach=during", name)
    play(page, lambda moves: 0)
    visitor.look()
    page.get_by_text("Step by step").click()
    lost = check_account(page, game, solve(game))
    assert sum(lost) > 0
    graded = page.locator("section.account > p").last.inner_text()
    assert sum(map(int, re.findall(r"\d+", graded))) == len(lost)
    page.get_by_role("button", name="retry my mistakes").click()
    for right in range(sum(each > 1e-9 for each in lost)):
        expect(page.locator("h2")).to_have_text("What is your move?")
        moves_of(page).first.click()
        expect(page.locator(".tally")).to_have_text(re.compile(f"^0 of {right + 1} right"))
        page.get_by_role("button", name="next").click()
    expect(page.get_by_role("button", name="next")).to_have_count(0)
    assert not page.locator("h2").count()
    page.get_by_role("button", name="back to the game").click()
    expect(page.locator(".account")).to_be_visible()
    visitor.look()


def test_following_the_hints_loses_nothing(reader):
    page = reader.visit("play?seed=5&coach=after&for=shut")
    moves, times = moves_of(page), 0
    while moves.count():
        assert not page.get_by_text("What luck and your choices were worth").count()
        page.get_by_role("button", name="hint").click()
        best = page.locator("p b").filter(has_text="shut").inner_text()
        page.get_by_role("group", name="your move").get_by_role("button", name=best, exact=True).click()
        moved(page, times := times + 1)
    expect(page.locator(".account")).to_contain_text("your choices lost nothing")
    expect(page.locator(".account")).to_contain_text("perfect play")
    page.get_by_text("Step by step").click()
    assert set(check_account(page, GAMES["box"], solve(GAMES["box"], "shut"))) == {0}


def test_the_first_player_is_coached_to_win_against_the_other(reader):
    game = GAMES["box"]
    page = reader.visit("play?seed=4&against=biggest-first&turn=first&coach=after")
    play(page, lambda moves: 0)
    page.get_by_text("Step by step").click()
    theirs = evaluate(game, stb_gym.strategy(game, "biggest-first")).score_distribution
    chance = np.array([sum(p for other, p in theirs.items() if other > s) + theirs.get(s, 0) / 2 for s in range(46)])
    check_account(page, game, solve(game, lambda score: chance[score]))
    won = {"You win": 1, "A tie": 0.5, "You lose": 0}
    assert value(page.evaluate(STEPS)[-1][3]) == won[page.locator("h2").inner_text()]


@pytest.mark.parametrize("against", ["optimal", "ppo-nine-tiles", "random"])
def test_the_second_player_is_coached_to_beat_the_score(reader, against):
    game = GAMES["box"]
    page = reader.visit(f"play?seed=2&against={against}&turn=second&coach=after")
    lead = int(re.search(r"ended with (\d+) points", page.locator(".verdict").inner_text())[1])
    play(page, lambda moves: moves // 2)
    page.get_by_text("Step by step").click()
    reply = Round(game, players=2, ties="split").solve().replies[0]
    chance = reply.utility(np.array([reply.standings.find(Standing(lead, 1, 0))]))[0]
    check_account(page, game, solve(game, lambda score: chance[compile_game(game).place_of(score)]))


def test_a_seed_is_a_game_and_moves_can_be_taken_back(visitor):
    page = visitor.visit("play?seed=9&coach=never")
    board = page.locator(".felt")
    first = board.inner_html()
    moves_of(page).first.click()
    arrive(page, "&played=0")
    assert board.inner_html() != first
    page.get_by_role("button", name="take back").click()
    expect(page).not_to_have_url(PLAYED)
    assert board.inner_html() == first
    play(page, lambda moves: 0)
    assert not page.get_by_text("What luck and your choices were worth").count()
    page.get_by_role("button", name="same dice again").click()
    expect(page).not_to_have_url(PLAYED)
    assert board.inner_html() == first
    page.get_by_label("against").select_option("perfect play")
    page.get_by_label("you play").select_option("second")
    page.get_by_label("seed").fill("77")
    page.get_by_label("seed").press("Enter")
    arrive(page, "seed=77&against=optimal&turn=second&coach=never")
    visitor.look()
    play(page, lambda moves: 0)
    page.get_by_role("button", name="another game").click()
    arrive(page, "seed=78")


def test_the_dice_are_fair(reader):
    """Check the first throws of 720 seeds against the probabilities of the rolls."""
    page = reader.visit("play?seed=1")
    seen = page.evaluate(
        """async () => {
            const seen = [];
            for (let seed = 1; seed <= 720; seed++) {
                location.hash = `play?seed=${seed * 7 + 1}`;
                await new Promise((done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
                seen.push(Number(document.querySelector(".dice").ariaLabel.split(" ")[1]));
            }
            return seen;
        }"""
    )
    counts = np.bincount(seen, minlength=13)[2:]
    expected = 720 * np.array([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36
    assert ((counts - expected) ** 2 / expected).sum() < 23.2  # chi-square, 10 degrees of freedom: 1 % lie above


def test_a_game_can_be_played_by_keyboard_alone(reader):
    page = reader.visit("play?seed=8&coach=during")
    moves, times = moves_of(page), 0
    moves.first.focus()
    while moves.count():
        page.wait_for_function("document.activeElement.parentElement.ariaLabel === 'your move'")
        page.keyboard.press("Enter")
        moved(page, times := times + 1)
    expect(page.get_by_role("button", name="another game")).to_be_visible()


def test_moves_are_made_by_the_tiles_too(visitor):
    """Picked tiles leave the moves that shut them all; a move is made when no other is left."""
    page = visitor.visit("play?seed=1&coach=never")
    tiles, moves = page.get_by_role("group", name="open tiles"), moves_of(page)
    one, other = next(text for text in moves.all_inner_texts() if text.count(",") == 1).removeprefix("shut ").split(",")
    tiles.get_by_role("button", name=one, exact=True).click()
    expect(tiles.get_by_role("button", name=one, exact=True)).to_have_attribute("aria-pressed", "true")
    assert all(one in text.removeprefix("shut ").split(",") for text in moves.all_inner_texts())
    visitor.look()
    tiles.get_by_role("button", name=other, exact=True).click()
    moved(page, 1)
    expect(tiles.get_by_role("button")).to_have_count(7)
