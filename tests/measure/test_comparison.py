"""Two distributions of final scores beside each other."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, compare, evaluate, strategy

NINE = ShutTheBox()


def scores_of(game, name):
    return evaluate(game, strategy(game, name)).score_distribution


def test_perfect_play_and_biggest_first():
    found = compare(scores_of(NINE, "optimal-score"), scores_of(NINE, "biggest-first"))
    assert (found.distance, found.at) == (pytest.approx(0.014757, abs=5e-7), 10)
    assert found.means == pytest.approx((11.157508444, 11.373255046))
    assert abs(found.shares[0] - found.shares[1]) == pytest.approx(found.distance)


def test_it_is_counted_by_hand():
    one, other = {0: 0.5, 2: 0.5}, {1: 0.25, 2: 0.25, 3: 0.5}
    assert compare(one, other)[:4] == (0.5, 0, (0.5, 0.0), (1, 2.25))  # as far apart at 2, where it is 1 and 0.5
    # Of the shares 4 x 0.25 / 0.25; of the means variances of 1 and of 5.75 - 2.25 ** 2 over 1.25 ** 2.
    assert compare(one, other)[4:] == (4, int(np.ceil(4 * (1 + 0.6875) / 1.5625)))
    assert compare(one, other).distance == compare(other, one).distance


def test_what_is_the_same_is_never_seen():
    same = scores_of(Threes(dice=2), "random")
    assert compare(same, same)[0] == 0
    assert compare(same, same)[4:] == (None, None)
    sure = compare({0: 1.0}, {5: 1.0})
    assert (sure.games_for_distance, sure.games_for_means) == (1, 1)


@pytest.mark.slow
def test_so_many_games_show_the_sign_in_39_of_40_samples():
    plays = [scores_of(NINE, name) for name in ("optimal-score", "biggest-first")]
    found, random = compare(*plays), np.random.default_rng(0)
    scores, shown = np.array(sorted({*plays[0], *plays[1]})), []
    for games, counted in ((found.games_for_means, scores), (found.games_for_distance, scores > found.at)):
        chances = [np.array([play.get(score, 0.0) for score in scores.tolist()]) for play in plays]
        best, thumb = (random.multinomial(games, chance / chance.sum(), 20_000) @ counted for chance in chances)
        shown.append((best < thumb).mean())
    assert shown == pytest.approx([39 / 40] * 2, abs=4 * np.sqrt(39 / 40 / 40 / 20_000) + 0.002)
