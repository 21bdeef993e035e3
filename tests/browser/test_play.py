"""Test games on the page: dice from a seed, the coach against `stb_gym`, keys, statistics and replays."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import stb_gym
from stb_gym import evaluate, solve
from stb_gym.rounds import ScoresSoFar
from stb_gym.solver import compile_game
from tests.browser.acting import (
    GAMES,
    arrive,
    axis,
    button,
    cells_of,
    click,
    follow,
    move,
    moved,
    moves_of,
    number_after,
    play,
    policy_of,
    roll,
    roll_button,
    see_heading,
    solve_round,
)

PLAYED = re.compile("played=")
ON_THE_BOARD = "[...document.querySelectorAll('.felt [aria-label]')].map(each => each.ariaLabel)"
STEPS = "details tbody tr"


def value(text):
    """Parse a number; return a percentage as a share."""
    if text in ("", "best"):
        return 0.0
    number = float(text.rstrip("%").replace("\N{MINUS SIGN}", "-"))
    return number / 100 if text.endswith("%") else number


def account_of(page):
    """Return the sums of luck and of choices in the account; plus is good for the player."""
    text = page.locator(".account p").first.inner_text()
    gave, luck = re.search(r"The dice (gave you|took) ([\d.]+)", text).groups()
    cost = re.search(r"your choices cost (\d[\d.]*\d|\d|nothing)", text)[1]
    return float(luck) * (1 if gave == "gave you" else -1), -float(cost.replace("nothing", "0"))


def statistics_of(page):
    """Return the panel of statistics."""
    return page.get_by_role("region", name="Your statistics")


def check_account(page, game, best):
    """Check all luck and losses against differences of exact values; return the losses of the choices."""
    tables = compile_game(game)
    chances = best.objective.unit != "points"
    afterstate, state, lost = tables.start, None, []
    page.get_by_text("Step by step").click()
    for step, luck, choice, after in cells_of(page, STEPS):
        if faces := re.fullmatch(r"throw ([\d ]+)", step):
            progress, dice = int(tables.progress[afterstate]), int(tables.dice[afterstate])
            state = tables.find_state(progress, dice, game.roll_of(tuple(map(int, faces[1].split()))))
            change, now = best.state_utilities[state] - best.afterstate_utilities[afterstate], best.state_values[state]
            shown = value(luck)
        elif step.startswith("the opponent"):
            continue
        else:
            roll = tables.state_roll(state)
            [pair] = [pair for pair in tables.pairs_of(state) if tables.describe_move(pair, roll) == step]
            change, afterstate = best.advantage[pair], tables.pair_afterstate[pair]
            now, shown = best.afterstate_values[afterstate], value(choice)
            lost.append(-change)
        assert shown == pytest.approx(change, rel=0.03, abs=2e-4 if chances else 2e-3)
        assert value(after) == pytest.approx(now, abs=1e-4 if chances else 1e-3)
    return lost


@pytest.mark.parametrize("name", GAMES)
def test_alone_for_the_points(visitor, name):
    game = GAMES[name]
    page = visitor.visit("play?seed=11&coach=during", name)
    play(page)
    visitor.look()
    lost = check_account(page, game, solve(game))
    assert sum(lost) > 0
    graded = page.locator("section.account > p").last.inner_text()
    assert sum(map(int, re.findall(r"\d+", graded))) == len(lost)
    click(page, "retry my mistakes")
    for right in range(sum(each > 1e-9 for each in lost)):
        see_heading(page, "What is your move?")
        move(page)
        expect(page.locator(".tally")).to_have_text(re.compile(f"^0 of {right + 1} right"))
        click(page, "next")
    expect(button(page, "next")).to_have_count(0)
    assert not page.locator("h2").count()
    click(page, "back to the game")
    expect(page.locator(".account")).to_be_visible()
    visitor.look()


def test_following_the_hints_loses_nothing(reader):
    page = reader.visit("play?seed=5&coach=after&for=shut")

    def hinted(moves):
        assert not page.get_by_text("What luck and your choices were worth").count()
        click(page, "hint")
        best = page.locator("p b").filter(has_text="shut").inner_text()
        return moves_of(page).all_inner_texts().index(best)

    play(page, hinted)
    expect(page.locator(".account")).to_contain_text("your choices cost nothing")
    assert set(check_account(page, GAMES["box"], solve(GAMES["box"], "shut"))) == {0}


def test_the_first_player_is_coached_to_win_against_the_other(reader):
    game = GAMES["box"]
    page = reader.visit("play?seed=4&against=biggest-first&turn=first&coach=after")
    play(page)
    theirs = evaluate(game, stb_gym.strategy(game, "biggest-first")).score_distribution
    chance = np.array([sum(p for other, p in theirs.items() if other > s) + theirs.get(s, 0) / 2 for s in range(46)])
    check_account(page, game, solve(game, lambda score: chance[score]))
    won = {"You win": 1, "A tie": 0.5, "You lose": 0}
    assert value(cells_of(page, STEPS)[-1][3]) == won[page.locator("h2").inner_text()]


@pytest.mark.parametrize("against", ["optimal", "ppo-nine-tiles", "random"])
def test_the_second_player_is_coached_to_beat_the_score(reader, against):
    game = GAMES["box"]
    page = reader.visit(f"play?seed=2&against={against}&turn=second&coach=after")
    lead = int(number_after("ended with", page.locator(".verdict")))
    play(page, lambda moves: moves // 2)
    check_account(page, game, solve_round(game, ScoresSoFar(lead, 1, 0), players=2))


def test_a_seed_is_a_game_and_moves_can_be_taken_back(visitor):
    page = visitor.visit("play?seed=9&coach=never")
    roll(page)
    first = page.evaluate(ON_THE_BOARD)
    move(page)
    arrive(page, "&played=0")
    assert page.evaluate(ON_THE_BOARD) != first
    click(page, "take back")
    expect(page).not_to_have_url(PLAYED)
    assert page.evaluate(ON_THE_BOARD) == first
    play(page)
    assert not page.get_by_text("What luck and your choices were worth").count()
    click(page, "same dice again")
    expect(page).not_to_have_url(PLAYED)
    roll(page)
    assert page.evaluate(ON_THE_BOARD) == first
    page.get_by_text("Opponent, coach, goal and seed").click()
    page.get_by_label("against").select_option("perfect play")
    page.get_by_label("you play").select_option("second")
    page.get_by_label("seed").fill("77")
    page.get_by_label("seed").press("Enter")
    arrive(page, "seed=77&against=optimal&turn=second&coach=never")
    visitor.look()
    play(page)
    click(page, "new game")
    expect(page).not_to_have_url(re.compile("seed=77&"))


def test_the_dice_are_fair(reader):
    """Check the first throws of 720 seeds against the probabilities of the rolls."""
    page = reader.visit("play?seed=1")
    seen = page.evaluate(
        """async () => {
            const seen = [];
            for (let seed = 1; seed <= 720; seed++) {
                location.hash = `play?seed=${seed * 7 + 1}`;
                await new Promise((done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
                [...document.querySelectorAll("button")].find((each) => each.textContent === "Roll").click();
                await new Promise((done) => setTimeout(done));
                seen.push(Number(document.querySelector(".dice").ariaLabel.split(" ")[1]));
            }
            return seen;
        }"""
    )
    counts = np.bincount(seen, minlength=13)[2:]
    expected = 720 * np.array([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36
    assert ((counts - expected) ** 2 / expected).sum() < 23.2  # chi-square, 10 degrees of freedom: 1 % lie above


@pytest.mark.parametrize("name", GAMES)
def test_a_game_can_be_played_by_keyboard_alone(reader, name):
    """Check that the focus moves from the roll to the moves and back, and to the result in the end."""
    page = reader.visit("play?seed=8&coach=during", name)
    roll_button(page).focus()
    moves, times = moves_of(page), 0
    while roll_button(page).count():
        expect(roll_button(page)).to_be_focused()
        page.keyboard.press("Enter")
        expect(roll_button(page)).to_have_count(0)
        if moves.count():
            expect(moves.first).to_be_focused()
            page.keyboard.press("Enter")
            moved(page, times := times + 1)
    expect(button(page, "new game")).to_be_visible()
    expect(page.locator("h2").first).to_be_focused()


@pytest.mark.parametrize("name", GAMES)
def test_a_newcomer_rolls_and_moves(visitor, name):
    page = visitor.visit("", name)
    expect(page.get_by_role("link", name="Play")).to_have_attribute("aria-current", "page")
    expect(page.locator(".start")).to_contain_text(f"Roll {GAMES[name].dice} dice")
    expect(page.get_by_role("img", name="dice not thrown")).to_be_visible()
    visitor.look()
    if page.viewport_size["width"] < 500:
        roll_button(page).tap()
    else:
        roll_button(page).click()
    thrown = page.locator(".felt [aria-label^='roll ']").get_attribute("aria-label").partition(":")[0]
    expect(page.locator("[aria-live=polite] h2")).to_have_text(f"You {thrown.replace('roll', 'rolled')}")
    arrive(page, "seed=")
    visitor.look()
    move(page)
    moved(page, 1)
    expect(page.locator("[aria-live=polite] h2")).to_have_text("Roll again")
    expect(page.locator(".start")).to_have_count(0)


def test_dice_of_the_day(visitor):
    page = visitor.page
    page.clock.set_fixed_time("2026-11-25T12:00:00")
    visitor.visit("")
    click(page, "Dice of the day")
    arrive(page, "seed=20261125")
    expect(button(page, "Dice of the day")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".verdict")).to_contain_text("Dice of the day 2026-11-25")
    visitor.look()
    visitor.visit("play?seed=123456")
    expect(page.locator(".verdict")).not_to_contain_text("Dice of the day")


def test_tiles_that_fit_no_move_say_why(visitor):
    page = visitor.visit("play?seed=1&own=13&coach=never")
    tiles = page.get_by_role("group", name="open tiles")
    for tile in range(1, 10):
        fits = "false" if tile in (1, 3, 4) else "true"
        expect(button(tiles, f"tile {tile}, open")).to_have_attribute("aria-disabled", fits)
    why = page.locator(".felt").get_by_role("status")
    button(tiles, "tile 9, open").click(force=True)
    expect(why).to_have_text("No move with roll 4 takes tile 9.")
    click(tiles, "tile 1, open")
    button(tiles, "tile 4, open").click(force=True)
    expect(why).to_have_text("No move with roll 4 takes tile 4 together with 1.")
    visitor.look()
    click(tiles, "tile 3, open")
    moved(page, 1)
    button(tiles, "tile 3, shut").click(force=True)
    expect(why).to_have_text("Tile 3 is shut.")


def test_tiles_cannot_be_picked_before_a_throw(reader):
    page = reader.visit("play?seed=1")
    button(page, "tile 4, open").click(force=True)
    expect(page.locator(".felt").get_by_role("status")).to_have_text("Roll the dice first.")


def test_keys(reader):
    page = reader.visit("play?seed=1&own=13&coach=never")
    press, tile = page.keyboard.press, lambda number: button(page, f"tile {number}, open")
    press("Control+3")
    expect(tile(3)).to_have_attribute("aria-pressed", "false")
    press("3")
    expect(tile(3)).to_have_attribute("aria-pressed", "true")
    expect(moves_of(page)).to_have_text(["shut 1,3"])
    press("Enter")
    moved(page, 1)
    press("u")
    expect(page).not_to_have_url(PLAYED)
    press("h")
    expect(page.locator("p", has_text="Hint:")).to_be_visible()
    press("4")
    moved(page, 1)
    page.get_by_text("Opponent, coach, goal and seed").click()
    page.get_by_label("seed").focus()
    press("u")
    moved(page, 1)
    page.locator("summary").first.focus()
    page.evaluate("document.activeElement.blur()")
    press("?")
    dialog = page.get_by_role("dialog", name="keys")
    expect(dialog).to_contain_text("take back")
    reader.look()
    dialog.get_by_label("keys work").uncheck()
    click(dialog, "close")
    expect(dialog).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    press("u")
    moved(page, 1)


def test_digits_go_to_moves_where_there_are_no_tiles(reader):
    page = reader.visit("play?seed=3", "threes")
    page.keyboard.press("r")
    page.keyboard.press("3")
    expect(moves_of(page).nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    arrive(page, "played=2")


def test_own_dice_are_entered_by_click_and_by_key_and_celebrated(visitor):
    """Shut the box with eight throws, which the address contains."""
    page = visitor.visit("play?seed=7&coach=never")
    click(page, "Your own dice")
    expect(roll_button(page)).to_have_count(0)
    click(page, "a die shows 4")
    visitor.look()
    click(page, "a die shows 6")
    see_heading(page, "You rolled 10")
    click(page, "take back")
    for tile, faces in enumerate(["45", "44", "34", "24", "14", "13", "12"]):
        for key in [*faces, str(9 - tile)]:
            page.keyboard.press(key)
        moved(page, tile + 1)
    assert page.locator(".confetti").count() == 0
    for key in "2112":
        page.keyboard.press(key)
    see_heading(page, "You shut the box!")
    expect(page.locator(".confetti")).to_be_visible()
    arrive(page, "own=45.44.34.24.14.13.12.21")
    visitor.look()


def test_the_turn_of_an_opponent_is_a_list_at_once_without_motion(visitor):
    page = visitor.visit("play?seed=5&against=optimal&turn=second")
    steps = page.locator(".steps li")
    assert steps.count() >= 2
    visitor.look()
    shut = ",".join(re.findall(r"shut ([\d,]+)", page.locator(".steps").inner_text()))
    assert 45 - sum(map(int, shut.split(","))) == number_after("ended with", page.locator(".verdict"))
    roll(page)
    see_heading(page, re.compile("^You rolled"))


def test_statistics_persist_and_can_be_reset(visitor):
    page = visitor.visit("play?seed=11&coach=after")
    panel = statistics_of(page)
    expect(panel).to_have_count(0)
    play(page)
    score = number_after("with", page.locator("h2").first)
    luck, choices = account_of(page)
    rows = ".statistics dl div"
    found = dict(cells_of(page, rows))
    assert (found["turns"], found["mean score"]) == ("1", f"{score:.2f}")
    assert value(found["luck in a turn"]) == pytest.approx(luck, abs=0.01)
    assert value(found["choices in a turn"]) == pytest.approx(choices, abs=0.01)
    visitor.look()
    click(page, "same dice again")
    play(page, lambda moves: moves - 1)
    assert dict(cells_of(page, rows)) == found  # the same dice do not count twice
    page.reload()
    expect(panel).to_be_visible()
    assert dict(cells_of(page, rows)) == found
    visitor.visit("drill?seed=3")
    move(page)
    expect(panel).to_contain_text("of the last 1")
    page.once("dialog", lambda dialog: dialog.dismiss())
    click(panel, "reset")
    expect(panel).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    click(panel, "reset")
    expect(panel).to_have_count(0)


def test_a_game_goes_on_after_a_visit_to_another_view(reader):
    page = reader.visit("play?seed=11&for=shut")
    roll(page)
    move(page)
    moved(page, 1)
    before = page.evaluate(ON_THE_BOARD)
    follow(page, "Analysis")
    see_heading(page, "Before the throw")
    follow(page, "Play")
    see_heading(page, "Roll again")
    assert page.evaluate(ON_THE_BOARD) == before
    click(page, "new game")
    see_heading(page, "Your turn")
    arrive(page, "for=shut")


def test_a_turn_with_help_does_not_count(reader):
    page = reader.visit("play?seed=11&coach=after")
    roll(page)
    click(page, "hint")
    play(page)
    expect(page.get_by_text("It does not count")).to_be_visible()
    expect(statistics_of(page)).to_have_count(0)


@pytest.mark.parametrize("text", ["{", "null", '{"version": 2}', '{"version": 1, "turns": "<b>"}'])
def test_statistics_that_cannot_be_read_are_kept(reader, text):
    page = reader.visit("play?seed=11")
    page.evaluate(
        "text => localStorage.setItem('stb-gym:shut-the-box: tiles 9, dice 2, faces 6, score sum', text)", text
    )
    reader.visit("play?seed=11&coach=never")
    play(page)
    expect(statistics_of(page)).to_be_visible()
    assert text in page.evaluate("Object.values({ ...localStorage })")


def test_statistics_where_the_browser_stores_nothing(reader):
    reader.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } })"
    )
    page = reader.visit("play?seed=11&coach=never")
    play(page)
    expect(statistics_of(page)).to_contain_text("turns")


SHARED = """how => {
    Object.defineProperty(navigator, "clipboard", {
        value: how === "none" ? undefined : {
            writeText: text => how === "refused" ? Promise.reject() : Promise.resolve(window.shared = text),
        },
    });
    Object.defineProperty(navigator, "share", {
        value: how === "share" ? ({ text, url }) => (window.shared = `${text}\\n${url}`, Promise.resolve()) : undefined,
    });
}"""


@pytest.mark.parametrize("how", ["share", "clipboard", "refused", "none"])
def test_a_shared_game_is_a_challenge_with_the_same_dice(visitor, how):
    page = visitor.visit("play?seed=11&coach=during")
    roll(page)
    dice = page.evaluate(ON_THE_BOARD)
    play(page)
    page.evaluate(SHARED, how)
    click(page, "share")
    if how in ("share", "clipboard"):
        page.wait_for_function("window.shared")
        text = page.evaluate("window.shared")
    else:
        text = page.get_by_label("text to share").input_value()
        visitor.look()
    title, score, account, blocks, url = text.split("\n")
    assert title == "Shut the box"
    assert score == re.search(r"\d+ points?", page.locator("h2").first.inner_text())[0]
    lost = re.fullmatch(r"The dice (?:gave|took) .*, my choices cost ([\d.]+)\. You\?", account)[1]
    page.goto("about:blank")
    page.goto(url)
    see_heading(page, f"Lost {lost} points with these dice. You?")
    expect(page.get_by_role("img", name="dice not thrown")).to_be_visible()
    expect(button(page, "Any dice")).to_have_count(0)
    visitor.look()
    roll(page)
    assert page.evaluate(ON_THE_BOARD) == dice
    play(page, lambda moves: moves - 1)
    cost = -account_of(page)[1]
    mine = f"{cost:.2f} points" if cost else "nothing"
    expect(page.get_by_text(f"You lost {mine}, the challenger lost {lost} points.")).to_be_visible()
    visitor.look()
    click(page, "watch the challenger")
    see_heading(page, f"Replay: {score}")
    click(page, "play")
    expect(page.locator(".account")).to_contain_text(f"your choices cost {lost}")
    assert page.locator(".steps small").count() == len(blocks)
    click(page, "back to your game")
    click(page, "new game")
    expect(page).not_to_have_url(re.compile("challenge="))


def test_a_challenge_draws_new_dice_after_the_entered_ones(reader):
    page = reader.visit("play?seed=7&own=45.44&challenge=0.0&coach=never")
    see_heading(page, re.compile("^Lost .* You\\?$"))
    roll(page)
    expect(page.locator(".dice")).to_have_attribute("aria-label", "roll 9")
    play(page)
    expect(button(page, "watch the challenger")).to_be_visible()


def test_a_replay_has_the_comments_of_the_coach(visitor):
    page = visitor.visit("play?seed=11&coach=during")
    play(page)
    score = re.search(r"\d+ points?", page.locator("h2").first.inner_text())[0]
    visitor.visit(f"{page.url.partition('#')[2]}&replay=1")
    see_heading(page, f"Replay: {score}")
    steps, step = page.locator(".steps li"), button(page, "step")
    expect(steps).to_have_count(1)
    visitor.look()
    step.click()
    expect(steps).to_contain_text(re.compile("shut .* luck .*(best|loses)"))
    click(page, "back")
    expect(steps).not_to_contain_text("luck")
    click(page, "play")
    expect(page.locator(".account")).to_be_visible()
    visitor.look()
    click(page, "play these dice yourself")
    expect(roll_button(page)).to_be_visible()


def test_a_replay_of_the_dice_of_today_waits_until_they_are_played(reader):
    page, link = reader.page, "play?seed=20261125&played=0.0&coach=never&replay=1"
    page.clock.set_fixed_time("2026-11-25T12:00:00")
    reader.visit(link)
    see_heading(page, re.compile("^Lost .* You\\?$"))
    play(page)
    expect(statistics_of(page)).to_contain_text("dice of the day in a row1")
    reader.visit(link)
    see_heading(page, re.compile("^Replay: "))


def test_the_dice_of_the_day_have_a_row_of_days_and_a_history(reader):
    page, row = reader.page, "dice of the day in a row"
    for day, count in {25: "1", 26: "2", 28: "1"}.items():
        page.clock.set_fixed_time(f"2026-11-{day}T12:00:00")
        reader.visit(f"play?seed=202611{day}&coach=after")
        play(page)
        assert dict(cells_of(page, ".statistics dl div"))[row] == count
    score, cost = number_after("with", page.locator("h2").first), -account_of(page)[1]
    page.get_by_text("Dice of the day: 3 days").click()
    days = cells_of(page, ".statistics tbody tr")
    assert [day for day, _, _ in days] == ["2026-11-28", "2026-11-26", "2026-11-25"]
    assert [float(cell) for cell in days[0][1:]] == [score, cost]
    click(page, "same dice again")
    play(page, lambda moves: moves - 1)
    assert cells_of(page, ".statistics tbody tr") == days  # only the first game of a day counts
    reader.look()
    reader.visit("play?seed=5")
    expect(page.locator(".start")).to_contain_text(f"You played the dice of today: {score:.0f} points. 1 day in a row.")


def test_a_result_is_compared_with_perfect_play(reader):
    page, game = reader.visit("play?seed=11&coach=never"), GAMES["box"]
    play(page)
    score = number_after("with", page.locator("h2").first)
    result = page.get_by_text("With your dice perfect play got")
    ideal = number_after("perfect play got", result)
    better = number_after("better than", result)
    chances = evaluate(game, solve(game).policy).score_distribution
    assert better / 100 == pytest.approx(sum(p for other, p in chances.items() if other > score), rel=0.05)
    reader.visit("play?seed=11&coach=never&played=")

    def hinted(moves):
        click(page, "hint")
        best = page.locator("p b").filter(has_text="shut").inner_text()
        return moves_of(page).all_inner_texts().index(best)

    play(page, hinted)
    assert ideal == value(re.search(r"(\d+) points?|$", page.locator("h2").first.inner_text())[1] or "0")


def test_opponents_of_different_strength(visitor):
    page, game = visitor.visit("play"), GAMES["box"]
    group = page.get_by_role("group", name="opponent")
    shown = [text.split("\n") for text in group.get_by_role("button").all_inner_texts()]
    losses = [float(words.split()[1]) for _, words in shown[1:-1]]
    assert shown[0] == ["nobody"]
    assert shown[-1] == ["perfect play", "loses nothing"]
    assert losses == sorted(losses, reverse=True)
    for (name, _), lost in zip(shown[1:-1], losses, strict=True):
        assert lost == pytest.approx(evaluate(game, policy_of(game, name.strip())).regret, rel=0.05)
    group.get_by_role("button", name=shown[1][0]).click()
    arrive(page, f"against={shown[1][0].strip()}")
    visitor.look()


def test_plus_is_good_and_ticks_are_true(reader):
    page = reader.visit("play?seed=11&coach=after")
    play(page)
    luck, choices = account_of(page)
    start = number_after("began at", page.locator(".account p").first)
    end = number_after("with", page.locator("h2").first)
    assert choices < 0
    assert luck + choices == pytest.approx(start - end, abs=0.02)  # fewer points are better
    ticks, place_of = axis(page, ".account .tick", "y1")
    bars = page.evaluate("""[...document.querySelectorAll(".account rect")].map(bar =>
        [Number(bar.getAttribute("y")) + 1, Number(bar.getAttribute("height")) - 2])""")
    point = place_of(1) - place_of(0)
    assert point * (luck + choices) < 0 < point  # up is good
    last, tall = bars[-1]
    assert place_of(end) == pytest.approx(last + tall, abs=0.01)
    assert min(abs(place_of(start) - y) for y in (bars[0][0], sum(bars[0]))) < 0.02
    assert 3 <= len(ticks) <= 8


def test_threes_is_played_by_its_dice(visitor):
    page = visitor.visit("play?seed=3", "threes")
    roll(page)
    dice = page.get_by_role("group", name="which dice?").get_by_role("button")
    expect(dice).to_have_count(5)
    faces = [int(each.get_attribute("aria-label")[-1]) for each in dice.all()]
    in_order = sorted(faces, key=lambda face: 0 if face == 3 else face)

    def see_picked(number):
        pressed = [each.get_attribute("aria-pressed") == "true" for each in dice.all()]
        picked = sorted((face for face, is_picked in zip(faces, pressed, strict=True) if is_picked), key=in_order.index)
        assert picked == in_order[:number]
        expect(moves_of(page)).to_have_count(1 if number else 5)

    dice.nth(faces.index(in_order[2])).click()  # a move that takes it also takes the two lower ones
    see_picked(3)
    dice.nth(faces.index(in_order[1])).click()
    see_picked(1)
    dice.nth(faces.index(in_order[0])).click()
    see_picked(0)
    dice.nth(faces.index(in_order[1])).click()
    see_picked(2)
    visitor.look()
    moves_of(page).click()
    expect(page.get_by_role("img", name=f"kept: {in_order[0]} {in_order[1]}")).to_be_visible()
    points = sum(face for face in in_order[:2] if face != 3)
    expect(page.get_by_role("group", name="points")).to_contain_text(f"{points} point")
    expect(roll_button(page)).to_be_visible()


def test_dice_are_heard_when_the_visitor_wants_it(reader):
    page = reader.page
    page.add_init_script(
        "const start = AudioBufferSourceNode.prototype.start; window.knocks = 0;"
        "AudioBufferSourceNode.prototype.start = function (...when) { knocks++; return start.apply(this, when); };"
    )
    reader.visit("play?seed=3")
    roll(page)
    assert page.evaluate("knocks") == 0
    page.get_by_label("sound of dice").check()
    move(page)
    roll(page)
    assert page.evaluate("knocks") == 5
    reader.look()
    reader.visit("play?seed=4")
    expect(page.get_by_label("sound of dice")).to_be_checked()
    page.get_by_label("sound of dice").uncheck()
    roll(page)
    assert page.evaluate("knocks") == 0
