"""The vector environments: many games that end at different times, every transition against the arrays."""

import copy
import itertools
import json

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from scipy import stats

from stb_gym import ShutTheBox, Threes, strategy
from stb_gym.solver import Player, compile_game

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
GAMES = 64
VARIANTS = [(BOX, {}), (BOX, {"tiles": 3}), (THREES, {}), (BOX, {"tiles": 12, "objective": "shut"})]


def make(name, mode, **options):
    return gym.make_vec(name, GAMES, autoreset_mode=mode, **options)


def random_player(env, seed=0):
    return Player(env.game, strategy(env.game, "random"), seed)


def next_state(tables, node, action):
    edges = slice(tables.edge_start[node], tables.edge_start[node + 1])
    return dict(zip(tables.edge_action[edges], tables.edge_next[edges], strict=True))[action]


def check_end(env, node, reward, score):
    state = env.transitions.tables.node_state[node]
    assert score == env.transitions.tables.final_score[state]
    assert reward == {"score": -score, "shut": float(score == 0)}[env.objective.name]


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_next_step_begins_anew_in_the_step_after_the_end(name, options):
    env = make(name, AutoresetMode.NEXT_STEP, **options)
    tables = env.transitions.tables
    player, decides = random_player(env), np.diff(tables.edge_start) > 0
    observation, info = env.reset(seed=1)
    nodes, over, ended_together = env.node(observation), np.zeros(GAMES, bool), set()
    for _ in range(60):
        actions = player(observation)
        observation, reward, terminated, truncated, info = env.step(actions)
        after = env.node(observation)
        for game in range(GAMES):
            expected = tables.start if over[game] else next_state(tables, nodes[game], actions[game])
            assert tables.node_state[after[game]] == expected
            assert terminated[game] == (not decides[after[game]])
            assert not terminated[game] or not over[game]
            if terminated[game]:
                check_end(env, after[game], reward[game], info["final_score"][game])
            else:
                assert reward[game] == 0
        assert not truncated.any()
        assert (info["action_mask"] == tables.legal(after)).all()
        assert ("_final_score" in info) == terminated.any()
        if terminated.any():
            assert (info["_final_score"] == terminated).all()
            assert not info["illegal_action"].any()
        nodes, over = after, terminated
        ended_together.add(int(terminated.sum()))
    assert len(ended_together) > 5  # games did end at different times


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_same_step_begins_anew_at_once_and_tells_the_end(name, options):
    env = make(name, AutoresetMode.SAME_STEP, **options)
    tables = env.transitions.tables
    player = random_player(env)
    observation, info = env.reset(seed=2)
    nodes = env.node(observation)
    for _ in range(60):
        actions = player(observation)
        observation, reward, terminated, _, info = env.step(actions)
        after = env.node(observation)
        assert info["action_mask"].any(axis=1).all()
        assert (info["action_mask"] == tables.legal(after)).all()
        assert (info["_final_obs"] == terminated).all()
        assert (info["_final_info"] == terminated).all()
        for game in range(GAMES):
            last = env.node(info["final_obs"][game]) if terminated[game] else after[game]
            assert tables.node_state[last] == next_state(tables, nodes[game], actions[game])
            if terminated[game]:
                assert tables.node_state[after[game]] == tables.start
                check_end(env, last, reward[game], info["final_info"]["final_score"][game])
            else:
                assert (info["final_obs"][game] == observation[game]).all()
                assert reward[game] == 0
        nodes = after


def test_same_step_tells_of_no_end_where_there_is_none():
    env = make(THREES, AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    _, _, terminated, _, info = env.step(np.zeros(GAMES, int))  # all keep one die of five
    assert not terminated.any()
    assert info.keys() == {"action_mask", "_action_mask"}


@pytest.mark.parametrize("name", [BOX, THREES])
def test_same_step_infos_are_those_of_gymnasiums_own_vector_environment(name):
    def layout(infos):
        if isinstance(infos, dict):
            return {key: layout(value) for key, value in infos.items()}
        return infos.shape, infos.dtype

    gymnasiums = gym.make_vec(name, 2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": "SameStep"})
    layouts = []
    for env in (gymnasiums, gym.make_vec(name, 2, autoreset_mode="SameStep")):
        _, info = env.reset(seed=0)
        *_, info = env.step(np.array([info["action_mask"][0].argmax(), env.single_action_space.n - 1]))
        ended = info.pop("final_obs")[info["_final_obs"]]
        layouts.append((layout(info), layout(ended[-1])))
    assert layouts[0] == layouts[1]


def test_gymnasium_tells_each_game_how_it_ended():
    env = gym.wrappers.vector.DictInfoToList(
        gym.wrappers.vector.RecordEpisodeStatistics(make(BOX, AutoresetMode.SAME_STEP))
    )
    env.reset(seed=1)
    ended = 0
    for _ in range(6):
        _, reward, terminated, _, infos = env.step(env.unwrapped.legal_sample())
        for info, points, over in zip(infos, reward, terminated, strict=True):
            assert ("final_obs" in info) == ("final_info" in info) == over
            if over:
                last = env.unwrapped.node(info["final_obs"])
                assert not env.unwrapped.transitions.action_mask[last].any()
                assert info["final_info"]["final_score"] == env.unwrapped.transitions.final_score[last] == -points
                ended += 1
    assert ended > GAMES


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_disabled_waits_for_a_reset_of_the_games_that_are_over(name, options):
    env = make(name, AutoresetMode.DISABLED, **options)
    tables = env.transitions.tables
    player = random_player(env)
    observation, _ = env.reset(seed=3)
    resets = 0
    for _ in range(60):
        before, actions = env.node(observation), player(observation)
        observation, _, terminated, _, _ = env.step(actions)
        after = env.node(observation)
        assert [next_state(tables, *move) for move in zip(before, actions, strict=True)] == list(
            tables.node_state[after]
        )
        if terminated.any():
            with pytest.raises(RuntimeError, match="a game is over"):
                env.step(actions)
            observation, info = env.reset(options={"reset_mask": terminated})
            now = env.node(observation)
            assert (now[~terminated] == after[~terminated]).all()
            assert (tables.node_state[now[terminated]] == tables.start).all()
            assert (info["action_mask"] == tables.legal(now)).all()
            resets += 1
    assert resets > 5


@pytest.mark.parametrize("mode", AutoresetMode)
def test_same_seed_same_games_and_games_differ(mode):
    runs = []
    for _ in range(2):
        env = make(BOX, mode)
        player = random_player(env, seed=7)
        observation, _ = env.reset(seed=8)
        run = [observation]
        for _ in range(3):
            observation, *_ = env.step(player(observation))
            run.append(observation)
            if mode == AutoresetMode.DISABLED and env.transitions.over[env.node(observation)].any():
                break
        runs.append(np.array(run))
    assert (runs[0] == runs[1]).all()
    assert len(np.unique(runs[0][1], axis=0)) > 20
    env = make(BOX, mode)
    assert (env.reset(seed=9)[0] != runs[0][0]).any()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_throws_of_a_seed_stay_as_they_are(mode):
    env = make(THREES, mode)
    env.reset(seed=8)
    dice, throws = np_random(8)[0], 6**5
    assert (env.snapshot()["throw"] == dice.integers(throws, size=GAMES)).all()
    for _ in range(10):
        *_, over, _, _ = env.step(env.legal_sample())
        expected = dice.integers(throws, size=GAMES)
        if mode == AutoresetMode.SAME_STEP:
            expected[over] = dice.integers(throws, size=over.sum())
        assert (env.snapshot()["throw"] == expected).all()


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_sampled_actions_are_legal_and_0_where_a_game_is_over(name, options, mode):
    env = make(name, mode, **options)
    _, info = env.reset(seed=1)
    finished = 0
    for _ in range(40):
        actions, over = env.legal_sample(), ~info["action_mask"].any(axis=1)
        assert env.action_space.contains(actions)
        assert info["action_mask"][~over, actions[~over]].all()
        assert not actions[over].any()
        finished += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            _, info = env.reset(options={"reset_mask": over})
        else:
            *_, info = env.step(actions)
    assert (finished == 0) == (mode == AutoresetMode.SAME_STEP)


@pytest.mark.slow
def test_every_legal_action_of_a_node_is_sampled_alike():
    tables, each = compile_game(ShutTheBox(tiles=6)), 3000
    nodes = np.repeat(tables.decisions, each)
    env = gym.make_vec(BOX, len(nodes), tiles=6)
    env.reset(seed=3)
    env.restore(env.snapshot() | {"node": nodes})
    counts = np.bincount(nodes * tables.actions + env.legal_sample(), minlength=tables.nodes * tables.actions)
    seen, expected = counts[tables.edge_node * tables.actions + tables.edge_action], each * tables.uniform
    assert seen.sum() == len(nodes)
    surprise, free = ((seen - expected) ** 2 / expected).sum(), len(seen) - len(tables.decisions)
    assert free > 100
    assert 1e-3 < stats.chi2.sf(surprise, free) < 1 - 1e-3


def test_sampled_actions_are_independent_of_the_throws():
    env = gym.make_vec(THREES, 20_000)
    env.reset(seed=3)
    throws, actions = env.snapshot()["throw"], env.legal_sample()
    for some in (throws, throws[::2], throws[1::2]):  # two throws take the bits of one action
        together, _, _ = np.histogram2d(some, actions[: len(some)], (6, 5))
        assert stats.contingency.chi2_contingency(together).pvalue > 1e-3


def test_sampling_actions_changes_no_throw():
    env, twin = make(BOX, AutoresetMode.SAME_STEP), make(BOX, AutoresetMode.SAME_STEP)
    _, info = env.reset(seed=3)
    twin.reset(seed=3)
    for _ in range(10):
        env.legal_sample()
        actions = info["action_mask"].argmax(axis=1)
        observation, *_, info = env.step(actions)
        assert (observation == twin.step(actions)[0]).all()
    assert env.snapshot()["random"] == twin.snapshot()["random"]


def test_the_seed_of_a_reset_seeds_the_sampled_actions_too():
    env = gym.make_vec(THREES, 1000)
    samples = []
    for seed in (3, 3, 4, None):
        env.reset(seed=seed)
        samples.append(env.legal_sample())
    assert (samples[0] == samples[1]).all()
    for other in (samples[2], samples[3], env.legal_sample()):
        assert (samples[0] != other).mean() > 0.7
    assert (samples[2] != samples[3]).mean() > 0.7


@pytest.mark.parametrize(("name", "game"), [(BOX, ShutTheBox()), (THREES, Threes())])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_rolls_follow_their_probabilities_at_every_beginning(name, game, mode):
    tables = compile_game(game)
    first = slice(*tables.node_start[tables.start : tables.start + 2])
    env = gym.make_vec(name, 2048, autoreset_mode=mode)
    player = random_player(env)
    observation, _ = env.reset(seed=12)
    seen = np.zeros(tables.nodes)
    begun = np.zeros(2048, bool)
    for _ in range(40):
        observation, _, terminated, _, _ = env.step(player(observation))
        fresh = begun if mode == AutoresetMode.NEXT_STEP else terminated
        seen += np.bincount(env.node(observation)[fresh], minlength=tables.nodes)
        begun = terminated
    expected = seen.sum() * tables.node_probability[first]
    assert seen[first].sum() == seen.sum() > 10_000
    assert stats.chisquare(seen[first], expected).pvalue > 1e-3


def test_later_rolls_follow_their_probabilities_too():
    env = gym.make_vec(THREES, 20_000)
    observation, _ = env.reset(seed=4)
    observation, *_ = env.step(np.full(20_000, 2))  # keeping three of five dice leaves two
    tables = env.transitions.tables
    rolls = env.node(observation) - tables.node_start[tables.node_state[env.node(observation)]]
    two_dice = tables.node_probability[slice(*tables.node_start[tables.find_state(0, 2) :][:2])]
    assert stats.chisquare(np.bincount(rolls, minlength=21), 20_000 * two_dice).pvalue > 1e-3


def test_illegal_actions_end_their_games_alone():
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        env = make(BOX, mode)
        player = random_player(env)
        observation, info = env.reset(seed=5)
        actions = player(observation)
        wrong = np.arange(GAMES) % 3 == 0
        actions[wrong] = info["action_mask"][wrong].argmin(axis=1)
        _, reward, terminated, _, info = env.step(actions)
        told = info["final_info"] if mode == AutoresetMode.SAME_STEP else info
        assert (told["illegal_action"] == wrong).all()
        assert terminated[wrong].all()
        assert not terminated[~wrong].all()
        assert (reward[wrong] == -45).all()
        assert (told["final_score"][wrong] == 45).all()
        assert (reward[~wrong] > -45).all()


def test_a_forfeited_game_begins_anew():
    env = make(BOX, AutoresetMode.NEXT_STEP)
    _, info = env.reset(seed=6)
    observation, *_ = env.step(info["action_mask"].argmin(axis=1))
    assert not observation.any()
    observation, reward, terminated, _, info = env.step(np.zeros(GAMES, int))
    assert (env.transitions.tables.node_state[env.node(observation)] == env.transitions.tables.start).all()
    assert not terminated.any()
    assert not reward.any()
    assert "illegal_action" not in info


def test_an_illegal_action_raises_if_asked_to_naming_the_game():
    env = make(BOX, AutoresetMode.NEXT_STEP, illegal="raise")
    observation, info = env.reset(seed=5)
    actions = random_player(env)(observation)
    actions[10] = info["action_mask"][10].argmin()
    with pytest.raises(ValueError, match=f"action {actions[10]} of game 10 is illegal at open 1,2,3,4,5,6,7,8,9, roll"):
        env.step(actions)
    assert (env.action_masks() == info["action_mask"]).all()


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.full(GAMES, 62), "actions must be from 0 to 61, not 62"),
        (np.full(GAMES, -1), "not -1"),
        (np.zeros(GAMES - 1, int), r"actions must be 64 integers, not shape \(63,\)"),
        (np.zeros(GAMES), "of type float64"),
        (0, r"not shape \(\)"),
    ],
)
def test_actions_outside_the_space_raise(actions, message):
    env = make(BOX, AutoresetMode.NEXT_STEP)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(actions)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions_may_be_of_any_integer_type(kind):
    steps = []
    for dtype in (np.int64, kind):
        env = make(BOX, AutoresetMode.NEXT_STEP)
        _, info = env.reset(seed=0)
        steps.append(env.step(info["action_mask"].argmax(axis=1).astype(dtype))[0])
    assert (steps[0] == steps[1]).all()


def test_games_that_have_not_begun_cannot_be_played():
    env = make(BOX, AutoresetMode.NEXT_STEP)
    for call in (lambda: env.step(np.zeros(GAMES, int)), env.legal_sample):
        with pytest.raises(RuntimeError, match=r"no game has begun: call reset\(\)"):
            call()


def test_reset_begins_where_it_is_told():
    env = make(BOX, AutoresetMode.NEXT_STEP)
    observation, info = env.reset(seed=0, options={"open": [1, 4, 5, 8], "roll": 9})
    assert {env.transitions.tables.describe_node(node) for node in env.node(observation)} == {"open 1,4,5,8, roll 9"}
    assert (info["action_mask"].sum(axis=1) == 2).all()
    for mask in (np.ones(3, bool), np.ones(GAMES), [True] * GAMES):
        with pytest.raises(ValueError, match="reset_mask must be an array of 64 booleans"):
            env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("mode", AutoresetMode)
def test_what_is_handed_out_is_the_callers_own(mode):
    def arrays(given):
        if isinstance(given, np.ndarray):
            return [given]
        parts = given.values() if isinstance(given, dict) else given
        return [array for part in parts for array in arrays(part)]

    env, twin = make(BOX, mode), make(BOX, mode)
    given, expected, kept = env.reset(seed=0), twin.reset(seed=0), []
    for _ in range(8):
        given = *given, env.nodes, env.action_masks(), env.legal_sample()
        expected = *expected, twin.nodes, twin.action_masks(), twin.legal_sample()
        np.testing.assert_equal(given, expected)
        assert not any(itertools.starmap(np.may_share_memory, itertools.combinations(arrays(expected), 2)))
        kept.append((expected, copy.deepcopy(expected)))
        for array in arrays(given):
            if array.flags.writeable:
                array.fill(1)
        over = ~expected[-2].any(axis=1)
        if mode == AutoresetMode.DISABLED and over.any():
            for games in (env, twin):
                games.reset(options={"reset_mask": over})
        actions = twin.action_masks().argmax(axis=1)
        given, expected = env.step(actions), twin.step(actions)
    for handed_out, then in kept:
        np.testing.assert_equal(handed_out, then)


@pytest.mark.slow
def test_spaces_metadata_and_rendering():
    for mode in AutoresetMode:
        env = make(BOX, mode, render_mode="ansi")
        assert env.metadata["autoreset_mode"] is mode
        observation, _ = env.reset(seed=0)
        assert env.observation_space.contains(observation)
        assert env.action_space.shape == (GAMES,)
        frames = env.render()
        assert len(frames) == GAMES
        assert all("dice" in frame for frame in frames)
    assert make(BOX, AutoresetMode.NEXT_STEP).render() is None
    pictures = make(THREES, "NextStep", render_mode="rgb_array")
    pictures.reset(seed=0)
    assert {picture.shape for picture in pictures.render()} == {(298, 524, 3)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be an integer from 1"),
        ({"autoreset_mode": "never"}, "unknown autoreset mode 'never': allowed are NextStep, SameStep, Disabled"),
        ({"render_mode": "human"}, "unknown render mode 'human'"),
    ],
)
def test_arguments_that_are_none_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        gym.make_vec(BOX, **options)


def test_gymnasiums_own_vector_wrappers_work():
    env = gym.wrappers.vector.RecordEpisodeStatistics(make(BOX, AutoresetMode.NEXT_STEP))
    player = random_player(env.unwrapped)
    observation, _ = env.reset(seed=1)
    returns = []
    for _ in range(30):
        observation, _, terminated, _, info = env.step(player(observation))
        if terminated.any():
            returns += info["episode"]["r"][info["_episode"]].tolist()
            assert (info["episode"]["r"][terminated] == -info["final_score"][terminated]).all()
    assert len(returns) > 100


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("name", [BOX, THREES])
def test_games_go_on_from_a_snapshot_as_they_would_have(name, mode):
    env, other = make(name, mode), make(name, mode)
    env.reset(seed=1)

    def go_on(games):
        player, seen = random_player(games, seed=2), []
        for _ in range(30):
            actions = player(games.transitions.observation[games.nodes])
            seen.append([part.tolist() for part in games.step(actions)[:3]])
        return seen

    go_on(env)
    snapshot = env.snapshot()
    as_json = json.loads(json.dumps(snapshot, default=np.ndarray.tolist))
    expected = go_on(env)
    assert (env.snapshot()["node"] != snapshot["node"]).any()
    for kept in (snapshot, as_json):
        other.restore(kept)
        assert go_on(other) == expected
    env.restore(snapshot)
    assert go_on(env) == expected


def test_snapshots_of_others_are_refused():
    env = make(BOX, AutoresetMode.NEXT_STEP)
    env.reset(seed=1)
    mode = AutoresetMode.NEXT_STEP
    for other in (gym.make_vec(BOX, 3), make(THREES, mode), make(BOX, mode, tiles=3)):
        with pytest.raises(
            ValueError, match=f"the snapshot is not of {other.num_envs} turns of {type(other.game).__name__}"
        ):
            other.restore(env.snapshot())
    before = make(BOX, AutoresetMode.NEXT_STEP)
    env.restore(before.snapshot())
    with pytest.raises(RuntimeError, match="no game has begun"):
        env.step(np.zeros(GAMES, np.int64))
