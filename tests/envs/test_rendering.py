"""What one sees of a turn: pictures that tell how it goes, a window, films, and what is said if a library is missing.

The words of a picture are read where they are drawn: every text that reaches a canvas is noted.
"""

import copy
import pickle
import sys
from itertools import pairwise
from unittest.mock import Mock, call

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordVideo
from PIL import ImageDraw
from stb_gym.games.canvas import SMALLEST, Canvas, below
from stb_gym.games.shut_the_box.drawing import TILE_WIDTH

from stb_gym import ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv
from stb_gym.envs.rendering import Last, Window
from stb_gym.games import words_of
from stb_gym.games.drawing import GOLD

NINE = ShutTheBox()


@pytest.fixture
def written(monkeypatch):
    """The words of the last picture; call it after something was drawn."""
    words, write = [], Canvas.text

    def note(canvas, x, y, text, *how, **more):
        words.append(text)
        return write(canvas, x, y, text, *how, **more)

    monkeypatch.setattr(Canvas, "text", note)

    def read():
        found = words.copy()
        words.clear()
        return found

    return read


def seen(env, written):
    """The words of an environment's picture."""
    written()
    env.render()
    return written()


def action(game, move):
    return game.moves.index(move)


def test_a_picture_of_a_box_tells_the_last_move_the_sum_and_the_points(written):
    env = TurnEnv(NINE, render_mode="rgb_array")
    env.reset(options={"open": [1, 4, 5, 8], "roll": [6, 3]})
    words = seen(env, written)
    assert words[:2] == ["18 points", "first throw"]
    assert words[2:-1] == list("123456789")  # the tiles that are shut can be read as well
    assert words[-1] == "= 9"
    env.reset(seed=2)
    env.reset(options={"open": [1, 4, 5, 8], "roll": [6, 3]})
    env.step(action(NINE, (4, 5)))
    points, told, *_ = seen(env, written)
    assert (told.partition(".")[0], points) == ("shut 4,5", "9 points")
    assert golden_columns(env.render()).tolist() == golden_columns(words_of(NINE).picture(129, 0, (), "", 153)).tolist()
    env.reset(seed=2)
    assert seen(env, written)[1] == "first throw"
    assert len(golden_columns(env.render())) == 0


@pytest.mark.slow
def test_the_last_picture_says_why_the_turn_is_over(written):
    env, ends = TurnEnv(NINE, render_mode="rgb_array"), set()
    for seed in range(60):
        env.reset(seed=seed, options={"open": [1, 2], "roll": [1, 1]})
        env.step(action(NINE, (2,)))
        told = seen(env, written)[1]
        if told.startswith("shut 2. No"):
            ends.add(told.rstrip("0123456789."))
        env.reset(seed=seed, options={"open": [1, 2], "roll": [1, 2]})
        env.step(action(NINE, (1, 2)))
        assert seen(env, written)[:2] == ["0 points", "shut 1,2: the turn ends"]
    assert ends == {"shut 2. No open tiles add up to "}
    env.reset(seed=0)
    env.step(int(env.action_masks().argmin()))
    assert seen(env, written)[1] == "illegal action: the turn ends"


def test_a_picture_of_threes_tells_what_was_kept_and_what_the_dice_are_worth(written):
    env = TurnEnv(Threes(), render_mode="rgb_array")
    env.reset(seed=1, options={"points": 4, "roll": [3, 1, 6]})
    assert seen(env, written) == ["", "first throw", "4", "points", "= 7"]
    env.step(1)
    assert seen(env, written) == ["", "keep 2 (3 1)", "5", "points"]
    env.step(0)
    _, told, points, *_ = seen(env, written)
    assert (told.endswith(": the turn ends"), points) == (True, str(env.transitions.final_score[env._node]))


def test_tiles_just_shut_have_a_golden_rim():
    picture = words_of(NINE).picture
    plain, marked = (picture(0b111, 2, (1, 1), "", before) for before in (0b111, 0b111 | 0b1000))
    changed = np.flatnonzero((plain != marked).any(axis=(0, 2)))
    assert changed.tolist() == list(range(changed[0], changed[0] + TILE_WIDTH))  # one tile, the 4
    assert 150 < changed[0] < 250
    assert len(golden_columns(plain)) == 0
    assert set(golden_columns(marked)) > set(changed[8:-8])


def golden_columns(picture):
    return np.flatnonzero((picture == GOLD).all(axis=2).any(axis=0))


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("limit", [None, 3])
def test_of_many_games_each_is_drawn_with_its_own_last_move(mode, limit, monkeypatch):
    monkeypatch.setattr("stb_gym.envs.base.draw", lambda game, shown, last, *_: (shown, last))
    envs = TurnVectorEnv(NINE, 8, render_mode="rgb_array", autoreset_mode=mode, max_episode_steps=limit)
    envs.reset(seed=1)
    assert [last for _, last in envs.render()] == [None] * 8
    over, kinds = np.zeros(8, bool), []
    for _ in range(30):
        if mode == AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over})
            assert all(last is None for (_, last), fresh in zip(envs.render(), over, strict=True) if fresh)
        before, actions = envs.render(), envs.legal_sample()
        made = actions.tolist()
        _, _, terminated, truncated, _ = envs.step(actions)
        actions[:] = -1  # the caller's own array
        ended = terminated | truncated
        fresh = {AutoresetMode.NEXT_STEP: over, AutoresetMode.SAME_STEP: ended}.get(mode, np.zeros(8, bool))
        expected = [None if new else Last(shown, at) for new, (shown, _), at in zip(fresh, before, made, strict=True)]
        assert [last for _, last in envs.render()] == expected
        kinds += [each is None for each in expected]
        over = ended
    assert set(kinds) == ({False} if mode == AutoresetMode.DISABLED else {False, True})


# Sizes


@pytest.mark.parametrize(
    "game",
    [
        *(ShutTheBox(tiles=tiles) for tiles in (1, 2, 9, 12, 13, 23, 24)),
        *(ShutTheBox(dice=dice, faces=faces) for dice, faces in ((1, 2), (7, 20))),
        ShutTheBox(score="digits", tiles=14),
        Threes(dice=1),
        Threes(dice=7, faces=20),
    ],
    ids=str,
)
def test_every_picture_has_one_even_size_and_nothing_is_cut(game, monkeypatch):
    """Video files want even sizes; whatever is told of the longest position fits."""
    words, (held, dice), cut = words_of(game), game.start(), []
    draw = ImageDraw.ImageDraw.text
    monkeypatch.setattr(ImageDraw.ImageDraw, "text", lambda *a: cut.append("…" in a[2]) or draw(*a))
    faces = (game.faces,) * dice
    told = "illegal action: the turn ends"
    full, empty = words.picture(held, dice, faces, told), words.picture(0, 0, ())
    assert full.shape == empty.shape
    assert full.shape[0] % 2 == full.shape[1] % 2 == 0
    assert full.shape[1] <= 900
    assert cut
    assert not any(cut)


def test_words_that_are_too_long_become_smaller_and_are_cut_in_the_end():
    def ink(words, room):
        canvas = Canvas(400, 40, (0, 0, 0))
        canvas.text(4, 20, words, 24, (255, 255, 255), "lm", room)
        lit = np.flatnonzero(canvas.finished().any(axis=(0, 2)))
        rows = np.flatnonzero(canvas.finished().any(axis=(1, 2)))
        return int(lit.max()), len(rows)

    assert ink("Shut", 300) == ink("Shut", None)
    wide, high = ink("Shut the box, please", None)
    fitted, lower = ink("Shut the box, please", 150)
    assert fitted <= 4 + 150 < wide
    assert lower < high
    cut, rows = ink("Shut the box, please, " * 9, 150)
    assert 100 < cut <= 4 + 150
    assert rows <= SMALLEST * 1.3


def test_lines_below_a_picture_leave_it_as_it_is():
    picture = words_of(NINE).picture(511, 2, (3, 4))
    one, other = (below(picture, ["0.00 lost", text], 24, (0, 0, 0), (255, 255, 255)) for text in ("", "and more"))
    assert one.shape == other.shape == (picture.shape[0] + 60, *picture.shape[1:])
    assert (one[: len(picture)] == picture).all()
    assert (one != other).any()


# The window


@pytest.fixture
def pygame(monkeypatch):
    """Pygame without a screen, and without waiting: what its clock is asked for is noted."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    clock = Mock()
    monkeypatch.setattr(pygame.time, "Clock", lambda: clock)
    pygame.clock = clock
    yield pygame
    pygame.quit()


def on_the_screen(pygame):
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


@pytest.mark.parametrize("identity", ["stb_gym/ShutTheBox-v0", "stb_gym/ThreesMasked-v0"])
def test_the_window_shows_every_position_at_its_pace(identity, pygame):
    env, other = gym.make(identity, render_mode="human"), gym.make(identity, render_mode="rgb_array")
    env.reset(seed=3)
    other.reset(seed=3)
    assert (on_the_screen(pygame) == other.render()).all()
    steps, over = 0, False
    while not over:
        chosen = int(env.get_wrapper_attr("action_masks")().argmax())
        _, _, over, _, _ = env.step(chosen)
        other.step(chosen)
        steps += 1
        assert (on_the_screen(pygame) == other.render()).all()
        assert env.render() is None
    assert pygame.clock.tick.mock_calls == [call(env.metadata["render_fps"])] * 2 * steps
    assert pygame.display.get_caption()[0] in ("shut-the-box", "threes")
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_a_copy_of_an_environment_with_a_window_is_another_one(pygame):
    env = TurnEnv(NINE, render_mode="human")
    env.reset(seed=1)
    for again in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        again.reset(seed=1)
        assert isinstance(again._window, Window)
        assert again._window is not env._window
        again.close()


# Films


@pytest.mark.slow
def test_a_recorded_video_shows_every_position_a_second_each(monkeypatch, tmp_path):
    """In place of moviepy, whose files need a video player to be looked at, stands something that notes the frames."""
    monkeypatch.setitem(TurnEnv.metadata, "render_fps", 1)
    films = []

    class Clip:
        def __init__(self, frames, fps):
            films.append((np.array(frames), fps))

        def write_videofile(self, path, **_):
            assert path.endswith(".mp4")

    stand_in = type(sys)("moviepy.video.io.ImageSequenceClip")
    stand_in.ImageSequenceClip = Clip
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    env = RecordVideo(
        gym.make("stb_gym/ShutTheBox-v0", render_mode="rgb_array"), str(tmp_path / "films"), disable_logger=True
    )
    env.reset(seed=1)
    pictures, over = [env.unwrapped.render()], False
    while not over:
        _, _, over, _, _ = env.step(int(env.unwrapped.action_masks().argmax()))
        pictures.append(env.unwrapped.render())
    env.close()
    [(frames, pace)] = films
    assert pace == 1
    assert (frames == pictures).all()
    assert all((one != other).any() for one, other in pairwise(frames))


# What is missing


@pytest.mark.parametrize(
    ("module", "mode", "words"),
    [
        ("PIL", "rgb_array", r"^pictures need Pillow, which is not installed: pip install 'stb-gym\[render\]'$"),
        ("pygame", "human", r"^windows need pygame-ce, which is not installed: pip install 'stb-gym\[render\]'$"),
    ],
)
def test_a_library_that_is_missing_is_named_with_what_installs_it(monkeypatch, module, mode, words):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    env = TurnEnv(NINE, render_mode=mode)
    if mode == "rgb_array":
        env.reset(seed=0)
    with pytest.raises(ImportError, match=words):
        env.reset(seed=0) if mode == "human" else env.render()
