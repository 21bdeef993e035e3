"""Whoever looks at a picture can tell its lines apart; colours are compared by code of these tests' own."""

import itertools

import numpy as np
import pytest

from stb_gym.output import DASHES, INK, SERIES, colour_of, style_of, styles_of
from stb_gym.output.palette import OTHERS

AGENTS = ["ppo", "dqn", "qrdqn", "q-learning", "afterstates", "limit", "optimal", "random"]
DARK = "#1b1b1b"
# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009),
# severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour):
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(colour, vision="normal"):
    """CIELAB of a colour as somebody sees it, under D65."""
    seen = np.clip(np.array(VISIONS[vision]) @ linear(colour), 0, 1)
    t = XYZ @ seen / XYZ.sum(axis=1)
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one, other):
    """CIEDE2000 between two colours of CIELAB (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - np.sqrt(mean_c7 / (mean_c7 + 25**7)))
    c1, c2 = np.hypot((1 + g) * a1, b1), np.hypot((1 + g) * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, (1 + g) * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    big_h = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh / 2))
    h = h1 + h2 if c1 * c2 == 0 else (h1 + dh / 2) % 360
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = sum(
        f * np.cos(np.radians(k * h - o)) for f, k, o in [(-0.17, 1, 30), (0.24, 2, 0), (0.32, 3, -6), (-0.2, 4, 63)]
    )
    s_l = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * c, 1 + 0.015 * c * (1 + t)
    turn = -2 * np.sqrt(c**7 / (c**7 + 25**7)) * np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    dl, dc, dh = (l2 - l1) / s_l, (c2 - c1) / s_c, big_h / s_h
    return np.sqrt(dl**2 + dc**2 + dh**2 + turn * dc * dh)


def contrast(colour, ground):
    low, high = sorted(XYZ[1] @ linear(each) for each in (colour, ground))
    return (high + 0.05) / (low + 0.05)


def least(colours):
    """The least difference of any two colours, for the worst of all eyes."""
    return min(
        difference(lab(one, vision), lab(other, vision))
        for vision in VISIONS
        for one, other in itertools.combinations(colours, 2)
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_measure_is_that_of_its_publication(one, other, expected):
    assert difference(one, other) == pytest.approx(expected, abs=5e-5)
    assert difference(other, one) == pytest.approx(expected, abs=5e-5)


def test_the_simulation_keeps_greys_and_confuses_what_the_blind_confuse():
    for vision in VISIONS:
        assert lab("#808080", vision)[1:] == pytest.approx([0, 0], abs=0.05)
    assert least(["#3a5a9b", "#6b4c9a"]) < 6  # blue and purple of a palette that was once used
    assert difference(lab("#ff0000"), lab("#00aa00")) > 3 * difference(
        lab("#ff0000", "deuteranopia"), lab("#00aa00", "deuteranopia")
    )


def test_agents_differ_for_everybody():
    assert least([colour_of(name) for name in AGENTS]) >= 14


def test_all_colours_differ_for_everybody():
    assert len(SERIES) == 10
    assert least({*SERIES, *map(colour_of, AGENTS)}) >= 12


@pytest.mark.parametrize("colour", sorted({*SERIES, colour_of("random")}))
def test_colours_show_on_paper_and_in_the_dark(colour):
    assert contrast(colour, "#ffffff") >= 2.2
    assert contrast(colour, DARK) >= 2.2


@pytest.mark.parametrize(
    ("agent", "names"),
    [
        (
            "ppo",
            [
                "PPO",
                "masked PPO",
                "ppo quick",
                "PPO, no masks",
                "ppo-nine-tiles-0",
                "runs/ppo-threes-long-1",
                "stock MaskablePPO",
            ],
        ),
        ("dqn", ["DQN", "masked DQN", "dqn no-masks", "dqn-twelve-tiles-2"]),
        ("qrdqn", ["QR-DQN", "masked QR-DQN", "qrdqn-nine-tiles-0"]),
        ("q-learning", ["Q-learning, tabular", "q-learning-threes-0"]),
        (
            "afterstates",
            ["afterstates, tabular", "afterstates-threes-1", "network of afterstates", "afterstate-network-0"],
        ),
        ("limit", ["limit, shared dice", "limit-threes-0"]),
        ("optimal", ["optimum", "optimal-score", "optimal-shut"]),
        ("random", ["Random"]),
    ],
)
def test_an_agent_has_one_colour_under_all_its_names(agent, names):
    assert {colour_of(name) for name in names} == {colour_of(agent)}


def test_black_is_perfect_alone_and_grey_is_random():
    assert colour_of("optimum") == INK == "#000000"
    assert INK not in {*SERIES, *(colour_of(name) for name in AGENTS if name != "optimal")}
    assert len({colour_of("random")[place : place + 2] for place in (1, 3, 5)}) == 1


@pytest.mark.parametrize("name", ["biggest-first", "threes-only", "my opponent", "a hippo", "", "randomised", "\udcff"])
def test_other_names_have_no_agents_colour(name):
    assert colour_of(name) in SERIES
    assert colour_of(name) not in map(colour_of, AGENTS)


@pytest.mark.parametrize(
    "name", ["ppo", "A2C", "masked PPO", "PPO, tabular", "ppo, seed 3", "optimum", "q-learning", "limit"]
)
def test_an_agent_as_it_is_has_a_solid_line(name):
    assert style_of(name).dashes == ()


@pytest.mark.parametrize(
    "name", ["ppo quick", "ppo no-masks", "limit, shared dice", "masked DQN, long", "QR-DQN, wide"]
)
def test_variants_are_dashed_the_same_way_always(name):
    assert style_of(name).dashes in DASHES[1:]
    assert style_of(name) == style_of(name.upper())


def test_the_lines_of_a_picture_differ():
    runs = ["ppo", "ppo quick", "ppo long", "ppo no-masks", "dqn", "dqn quick", "random", "optimum"]
    rules = [f"rule {number}" for number in range(len(OTHERS) * len(DASHES))]
    styles = styles_of([*runs, *rules])
    assert list(styles) == [*runs, *rules]
    assert len(set(styles.values())) == len(styles)
    assert all(styles[name].colour == colour_of(name) for name in runs)
    assert styles["ppo"] == style_of("ppo")
    assert len({styles[name].colour for name in rules[: len(OTHERS)]}) == len(OTHERS)


def test_runs_of_one_agent_are_told_apart_by_dashes_and_a_name_met_twice_is_one_line():
    styles = styles_of(["ppo-0", "ppo-1", "ppo-2", "ppo-0"])
    assert len(set(styles.values())) == len(styles) == 3
    assert styles == styles_of(["ppo-0", "ppo-1", "ppo-2"])
    variants = ["DQN", *(f"DQN, {variant}" for variant in ("double", "no masks", "quantiles", "unpooled", "quick"))]
    assert len(set(styles_of(variants).values())) == len(variants)


def test_more_names_than_lines_are_still_drawn():
    styles = styles_of(f"ppo {number}" for number in range(9))
    assert {style.colour for style in styles.values()} == {colour_of("ppo")}


def test_dashes_can_be_drawn():
    for dashes in DASHES:
        assert len(dashes) % 2 == 0
        assert all(length > 0 for length in dashes)
    assert style_of("ppo").linestyle == (0, ())
