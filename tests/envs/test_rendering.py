"""Test rendering: texts, pictures with the last move in words, the window, and missing libraries."""

import sys
from unittest.mock import Mock, call

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from PIL import ImageDraw

from stb_gym import ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv, make_turn, make_turns
from stb_gym.envs.rendering import TurnRenderer
from stb_gym.words import words_of
from stb_gym.words.drawing import SCALE

NINE = ShutTheBox()


@pytest.fixture
def written(monkeypatch):
    """Return a list to which pictures add their words, each with its size in pixels."""
    words, write = [], ImageDraw.ImageDraw.text

    def note(draw, place, text, fill, font, anchor):
        words.append((text, font.size / SCALE))
        write(draw, place, text, fill, font, anchor)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", note)
    return words


# Where each turn begins, and its actions: moves, or an illegal action.
TURNS = {
    "a box that is shut": (NINE, {"open": [1, 2], "roll": [1, 2]}, [(1, 2)]),
    "a box with two moves": (NINE, {"open": [1, 4, 5, 8], "roll": [6, 3]}, [(4, 5)]),
    "a box without a move": (NINE, {"open": [1, 2], "roll": [1, 1]}, [(2,)]),
    "an illegal action on a box": (NINE, {"roll": [1, 2]}, [(9,)]),
    "a choice of dice": (ShutTheBox(one_die="low-sum"), {"open": [1, 2, 3], "roll": [1, 1]}, [(2,)]),
    "a box read as digits": (ShutTheBox(tiles=2, score="digits"), {"roll": [1, 1]}, [(2,)]),
    "threes": (Threes(), {"points": 4, "roll": [3, 1, 6]}, [2, 1]),
    "an illegal action in threes": (Threes(), {"roll": [2, 2]}, [5]),
    "the worst legal end": (Threes(), {"roll": [6] * 5}, [5]),
}


@pytest.mark.slow
def test_texts_and_the_words_in_pictures(written, snapshot):
    def read(env):
        written.clear()
        env.render()
        return " | ".join(text for text, _ in written)

    seen = {}
    for what, (game, where, moves) in TURNS.items():
        texts, pictures = (make_turn(game, render_mode=mode) for mode in ("ansi", "rgb_array"))
        for env in (texts, pictures):
            env.reset(seed=1)
            env.reset(options=where)
        seen[what] = [[*texts.render().splitlines(), read(pictures)]]
        for move in moves:
            for env in (texts, pictures):
                env.step(game.actions.index(move))
            seen[what].append([*texts.render().splitlines(), read(pictures)])
    assert seen == snapshot


@pytest.mark.parametrize("identity", ["stb_gym/ShutTheBoxRound-v0", "stb_gym/ThreesRound-v0"])
def test_words_in_pictures_of_rounds_can_be_read(identity, written):
    env = gym.make(identity, players=5, render_mode="rgb_array")
    env.reset(seed=0, options={"lead": 12, "holders": 2, "after": 2})
    env.render()
    assert dict(written)["2 players lead with 12 points, 2 play after you"] >= 20
    over = False
    while not over:
        _, _, over, _, _ = env.step(int(env.get_wrapper_attr("action_masks")().argmax()))
        env.render()
    assert min(size for _, size in written) >= 15


def test_a_turn_is_drawn_with_its_own_last_move(monkeypatch):
    monkeypatch.setattr(TurnRenderer, "draw", lambda _, state, throw, last, caption: (state, throw, last))
    env, last = make_turn(NINE, render_mode="rgb_array"), None
    env.reset(seed=1)
    for step in range(30):
        *position, move = env.render()
        assert move == last
        action = int(env.action_masks().argmax())
        _, _, over, _, _ = env.step(action)
        last = *position, action
        if over or step % 5 == 4:  # also in the middle of a turn
            env.reset() if step % 2 else env.restore(env.snapshot())
            last = None
            if env.stepper.is_over(env.state):
                env.reset()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_each_of_many_games_is_drawn_with_its_own_last_move(mode, monkeypatch):
    monkeypatch.setattr(TurnRenderer, "draw", lambda _, state, throw, last, caption: (state, throw, last))
    envs = make_turns(NINE, num_envs=8, render_mode="rgb_array", autoreset_mode=mode, max_episode_steps=3)
    envs.reset(seed=1)
    over, last = np.zeros(8, bool), [None] * 8
    for _ in range(20):
        if mode == AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over})
            last = [None if begun else move for begun, move in zip(over, last, strict=True)]
        shown, actions = envs.render(), envs.legal_sample()
        assert [move for *_, move in shown] == last
        moves = [(state, throw, action) for (state, throw, _), action in zip(shown, actions.tolist(), strict=True)]
        _, _, terminated, truncated, _ = envs.step(actions)
        actions[:] = -1  # the caller's own array
        ended = terminated | truncated
        new = {AutoresetMode.NEXT_STEP: over, AutoresetMode.SAME_STEP: ended}.get(mode, np.zeros(8, bool))
        last = [None if begun else move for begun, move in zip(new, moves, strict=True)]
        over = ended
    envs.restore(envs.snapshot())
    assert [move for *_, move in envs.render()] == [None] * 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [
        ShutTheBox(tiles=1),
        ShutTheBox(tiles=24),
        ShutTheBox(dice=7, faces=20),
        ShutTheBox(score="digits", tiles=14),
        Threes(dice=1),
        Threes(dice=7, faces=20),
    ],
    ids=str,
)
def test_every_picture_has_one_even_size_and_no_word_is_cut(game, written):
    words, (progress, dice) = words_of(game), game.start()
    full = words.picture(progress, dice, (game.faces,) * dice, "illegal action: the turn ends")
    assert full.shape == words.picture(0, 0, ()).shape
    assert full.shape[0] % 2 == full.shape[1] % 2 == 0  # as video files want
    assert full.shape[1] <= 900
    assert written
    assert not any("…" in text for text, _ in written)


# The window


@pytest.fixture
def pygame(monkeypatch):
    """Return pygame without a screen, whose clock notes what it is asked for and does not wait."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    clock = Mock()
    monkeypatch.setattr(pygame.time, "Clock", lambda: clock)
    pygame.clock = clock
    yield pygame
    pygame.quit()


@pytest.mark.slow
@pytest.mark.parametrize("identity", ["stb_gym/ShutTheBox-v0", "stb_gym/ThreesMasked-v0"])
def test_the_window_shows_every_position_at_its_pace(identity, pygame):
    env, other = gym.make(identity, render_mode="human"), gym.make(identity, render_mode="rgb_array")

    def check():
        screen = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
        assert (screen == other.render()).all()

    env.reset(seed=3)
    other.reset(seed=3)
    steps, over = 0, False
    while not over:
        check()
        chosen = int(env.get_wrapper_attr("action_masks")().argmax())
        _, _, over, _, _ = env.step(chosen)
        other.step(chosen)
        steps += 1
    check()
    assert pygame.clock.tick.mock_calls == [call(env.metadata["render_fps"])] * steps
    assert env.render() is None
    env.close()
    assert not pygame.display.get_init()
    env.close()


@pytest.mark.parametrize("env", [TurnEnv(NINE), TurnVectorEnv(NINE, 2)])
def test_without_a_render_mode_a_warning_names_them(env):
    env.reset(seed=0)
    with pytest.warns(UserWarning, match='render_mode="ansi"'):
        assert env.render() is None


@pytest.mark.parametrize(("module", "mode"), [("PIL", "rgb_array"), ("pygame", "human")])
def test_a_library_that_is_missing_is_named_with_what_installs_it(monkeypatch, module, mode):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    env = make_turn(NINE, render_mode=mode)
    with pytest.raises(ImportError, match="pip install"):
        (env.reset(seed=0), env.render())
