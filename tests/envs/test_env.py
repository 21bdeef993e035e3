"""The scalar environments: Gymnasium's contract, and every step against the arrays."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy import stats
from stb_gym.games.shut_the_box.rules import NO_MOVE

import stb_gym
from stb_gym import MaskInObservation, ShutTheBox, Threes, solve, strategy
from stb_gym.envs import TurnEnv, TurnVectorEnv
from stb_gym.games.shut_the_box import environment as box_page
from stb_gym.games.threes import environment as threes_page
from stb_gym.solver import Player, compile_game

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
VARIANTS = [
    (BOX, {}),
    (BOX, {"tiles": 3, "objective": "shut"}),
    (BOX, {"tiles": 10, "dice": 3, "score": "count", "objective": "at-most:2"}),
    (THREES, {}),
    (THREES, {"dice": 3, "faces": 4, "objective": "at-most:5"}),
]


def play(env, player, seed):
    """A whole turn: its nodes, actions, and the last step."""
    observation, info = env.reset(seed=seed)
    nodes, actions = [int(env.unwrapped.node(observation))], []
    while True:
        assert (info["action_mask"] == env.unwrapped.action_masks()).all()
        actions.append(player(observation))
        observation, reward, terminated, truncated, info = env.step(actions[-1])
        nodes.append(int(env.unwrapped.node(observation)))
        assert type(reward) is float
        assert truncated is False
        if terminated:
            return nodes, actions, reward, info
        assert reward == 0
        assert info.keys() == {"action_mask"}


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_the_checker_of_gymnasium_finds_nothing(name, options, render_mode):
    env = gym.make(name, render_mode=render_mode, **options).unwrapped
    check_env(env)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_the_checker_finds_nothing_in_the_wrapper(name, options):
    env = MaskInObservation(gym.make(name, **options).unwrapped)
    check_env(env, skip_render_check=True)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_every_step_follows_an_edge_of_the_arrays(name, options):
    env = gym.make(name, **options)
    game = env.unwrapped.game
    tables = compile_game(game)
    player = Player(game, strategy(game, "random"), seed=3)
    for seed in range(200):
        nodes, actions, reward, info = play(env, player, seed)
        states = tables.node_state[nodes]
        assert states[0] == tables.start
        for node, action, after in zip(nodes, actions, states[1:], strict=False):
            edges = slice(tables.edge_start[node], tables.edge_start[node + 1])
            assert dict(zip(tables.edge_action[edges], tables.edge_next[edges], strict=True))[action] == after
        score = int(tables.final_score[states[-1]])
        goal = solve(game, env.unwrapped.objective).objective
        assert (info["final_score"], info["illegal_action"]) == (score, False)
        assert reward == goal.utility(np.array([score]))[0]
        assert not info["action_mask"].any()


def test_masks_are_those_of_the_arrays_and_never_empty_where_one_must_act():
    for name, options in VARIANTS:
        env = gym.make(name, **options)
        tables = compile_game(env.unwrapped.game)
        legal = tables.legal()
        for seed in range(100):
            observation, info = env.reset(seed=seed)
            assert info["action_mask"].dtype == np.int8
            assert info["action_mask"].any()
            assert (info["action_mask"] == legal[env.unwrapped.node(observation)]).all()
            assert env.action_space.sample(mask=info["action_mask"]) in np.flatnonzero(info["action_mask"])


def test_same_seed_same_turn_and_other_seed_another():
    env = gym.make(BOX)
    player = Player(ShutTheBox(), solve(ShutTheBox()).policy)
    first = [play(env, player, seed)[0] for seed in range(20)]
    again = [play(gym.make(BOX), player, seed)[0] for seed in range(20)]
    assert first == again
    assert len({tuple(nodes) for nodes in first}) > 15


def test_turns_without_a_seed_go_on_with_the_same_dice():
    runs = []
    for _ in range(2):
        env = gym.make(THREES)
        env.reset(seed=5)
        runs.append([env.reset()[0].tolist() for _ in range(2000)])
    assert runs[0] == runs[1]
    assert len({tuple(observation) for observation in runs[0]}) > 200


@pytest.mark.slow
@pytest.mark.parametrize(("name", "game"), [(BOX, ShutTheBox()), (THREES, Threes())])
def test_rolls_follow_their_probabilities(name, game):
    env = gym.make(name)
    tables = compile_game(game)
    env.reset(seed=11)
    nodes = [env.unwrapped.node(env.reset()[0]) for _ in range(30_000)]
    first = slice(*tables.node_start[tables.start : tables.start + 2])
    seen = np.bincount(nodes, minlength=tables.nodes)[first]
    assert stats.chisquare(seen, 30_000 * tables.node_probability[first]).pvalue > 1e-3


@pytest.mark.parametrize("action", [-1, 62, 1000, np.int64(62)])
def test_an_action_outside_the_space_raises(action):
    env = gym.make(BOX)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"action must be from 0 to 61, not {action}"):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int8, np.uint8, np.uint64, np.array])
def test_actions_may_be_of_any_integer_type(kind):
    env = gym.make(BOX)
    _, info = env.reset(seed=0)
    observation, *_ = env.step(kind(info["action_mask"].argmax()))
    other = gym.make(BOX)
    other.reset(seed=0)
    assert (observation == other.step(int(info["action_mask"].argmax()))[0]).all()


@pytest.mark.parametrize("action", [1.0, "1", None, [1, 2]])
def test_an_action_that_is_no_integer_raises(action):
    env = gym.make(BOX)
    env.reset(seed=0)
    with pytest.raises(TypeError):
        env.step(action)


@pytest.mark.parametrize(
    ("objective", "worst"), [("score", -45.0), ("shut", 0.0), ("at-most:44", 0.0), ("at-most:45", 1.0)]
)
def test_an_illegal_action_ends_the_turn_with_the_worst_reward(objective, worst):
    env = gym.make(BOX, objective=objective, render_mode="ansi")
    _, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmin()))
    assert (reward, terminated, truncated) == (worst, True, False)
    assert (info["illegal_action"], info["final_score"]) == (True, 45)
    assert not observation.any()
    assert not info["action_mask"].any()
    assert env.render().endswith("dice   none\npoints 45")
    with pytest.raises(RuntimeError, match="the turn is over"):
        env.step(0)


def test_an_illegal_action_raises_if_asked_to_and_changes_nothing():
    env = gym.make(BOX, illegal="raise")
    _, info = env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 0 is illegal at open 1,2,3,4,5,6,7,8,9, roll \d+"):
        env.step(0)
    assert (env.unwrapped.action_masks() == info["action_mask"]).all()
    twin = gym.make(BOX)
    twin.reset(seed=0)
    action = int(info["action_mask"].argmax())
    assert (env.step(action)[0] == twin.step(action)[0]).all()


def test_a_first_roll_that_fits_nothing_leaves_no_move():
    env = gym.make(BOX, tiles=3)
    assert env.unwrapped.game.actions[-1] == NO_MOVE
    dead = 0
    for seed in range(50):
        _, info = env.reset(seed=seed)
        if info["action_mask"][-1]:
            dead += 1
            assert info["action_mask"].sum() == 1
            _, reward, terminated, _, info = env.step(env.action_space.n - 1)
            assert (reward, terminated, info["final_score"]) == (-6, True, 6)
    assert 20 < dead < 40  # 21 of 36 throws


@pytest.mark.parametrize(
    ("name", "options", "described"),
    [
        (BOX, {"open": [1, 4, 5, 8], "roll": 9}, "open 1,4,5,8, roll 9"),
        (BOX, {"open": {8, 1}, "roll": np.int64(9)}, "open 1,8, roll 9"),
        (BOX, {"roll": 12}, "open 1,2,3,4,5,6,7,8,9, roll 12"),
        (THREES, {"points": 4, "roll": [6, 3, 1]}, "4 points, 3 dice left, roll 3,1,6"),
        (THREES, {"roll": [1, 1, 1, 1, 1]}, "0 points, 5 dice left, roll 1,1,1,1,1"),
    ],
)
def test_reset_begins_where_it_is_told(name, options, described):
    env = gym.make(name, render_mode="ansi")
    observation, info = env.reset(seed=1, options=options)
    tables = env.unwrapped.transitions.tables
    assert tables.describe_node(env.unwrapped.node(observation)) == described
    assert info["action_mask"].any()
    rolled = options["roll"]
    dice = env.render().split("dice   ")[1].splitlines()[0]
    faces = [int(word) for word in dice.split(" = ")[0].replace("+", " ").split()]
    assert sorted(faces) == sorted(rolled) if isinstance(rolled, list) else sum(faces) == rolled


def test_reset_without_a_roll_throws_until_there_is_a_legal_move():
    env = gym.make(BOX)
    env.reset(seed=1)
    tables = env.unwrapped.transitions.tables
    rolled = [tables.node_roll(env.unwrapped.node(env.reset(options={"open": [2, 3]})[0]))[0] for _ in range(2000)]
    seen = np.bincount(rolled, minlength=13)[[2, 3, 5]]
    assert seen.sum() == 2000
    assert stats.chisquare(seen, 2000 * np.array([1, 2, 4]) / 7).pvalue > 1e-3
    assert env.reset(options={"open": [5]})[1]["action_mask"].sum() == 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (BOX, {"open": [1, 2], "roll": 12}, "there is no legal move at open 1,2, roll 12"),
        (BOX, {"open": [1]}, "there is no legal move at open 1"),
        (BOX, {"open": []}, "open must name at least one tile"),
        (BOX, {"open": [3, 3]}, "and each once"),
        (BOX, {"open": [10]}, "each of open tiles must be an integer from 1 to 9, not 10"),
        (BOX, {"roll": 1}, "roll must be an integer from 2 to 12, not 1"),
        (BOX, {"rol": 7}, "unknown position 'rol': allowed are open, dice, roll"),
        (BOX, {"open": 5}, "open tiles must be a list of integers from 1 to 9, not 5"),
        (BOX, {"open": "12"}, "open tiles must be a list of integers"),
        (THREES, {"roll": 2.5}, "roll must be a list of integers"),
        (THREES, {"roll": [7, 1]}, "each of roll must be an integer from 1 to 6, not 7"),
        (THREES, {"roll": []}, "unknown number of dice 0: allowed are 1, 2, 3, 4, 5"),
        (THREES, {"roll": [1, 2], "dice": 3}, "roll shows 2 dice, but 3 are thrown"),
        (THREES, {"points": 7, "dice": 4}, "points with 4 dice must be an integer from 0 to 6, not 7"),
    ],
)
def test_positions_that_are_none_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        gym.make(name).reset(options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tiles": 30}, "tiles must be an integer from 1 to 28"),
        ({"objective": "win"}, "unknown objective 'win'"),
        ({"illegal": "ignore"}, "unknown treatment of illegal actions 'ignore': allowed are end, raise"),
        (
            {"observation_dtype": "bool"},
            r'^observation_dtype must be .* holds 0 to 1, such as "uint8" .*, not \'bool\'$',
        ),
        ({"observation_dtype": None}, "observation_dtype must be .* not None$"),
        ({"observation_dtype": "flaot"}, "observation_dtype must be .* not 'flaot'$"),
        ({"observation_dtype": "complex64"}, "observation_dtype must be .* not 'complex64'$"),
        ({"reward_scale": 0}, "^reward_scale must be a finite number above 0, not 0$"),
        ({"reward_scale": -1.5}, "^reward_scale must be a finite number above 0, not -1.5$"),
        ({"reward_scale": np.inf}, "not inf$"),
        ({"reward_scale": np.nan}, "not nan$"),
        ({"reward_scale": True}, "not True$"),
        ({"reward_scale": "1"}, "not '1'$"),
    ],
)
def test_arguments_that_are_none_are_refused(options, message):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(ValueError, match=message):
            make(BOX, **options)


@pytest.mark.parametrize("game", ["shut-the-box", ShutTheBox(tiles=5)])
def test_a_keyword_that_is_no_argument_is_refused_as_python_refuses_it(game):
    for made, own in ((TurnEnv, "objective, illegal"), (TurnVectorEnv, "num_envs, objective, illegal")):
        with pytest.raises(TypeError) as caught:
            made(game, frameskip=1)
        assert str(caught.value).startswith(
            f"{made.__name__}() got an unexpected keyword argument 'frameskip': allowed are the rules tiles, dice, "
            "faces, score, open, one_die, one_die_forced, match, first_move, ending_roll and the arguments " + own
        )
    for make in (gym.make, gym.make_vec):
        with pytest.raises(TypeError, match="got an unexpected keyword argument 'tile'"):
            make(BOX, tile=5)


def test_what_a_step_returns_stays_as_it_is():
    env = gym.make(BOX)
    observation, info = env.reset(seed=0)
    kept = observation.copy(), info["action_mask"].copy()
    observation[:] = 9
    info["action_mask"][:] = 9
    assert (env.reset(seed=0)[0] == kept[0]).all()
    assert (env.unwrapped.action_masks() == kept[1]).all()


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_goes_on_with_the_same_turn(how):
    env = gym.make(BOX).unwrapped
    _, info = env.reset(seed=4)
    action = int(info["action_mask"].argmax())
    other = how(env)
    assert other.transitions is env.transitions
    assert (env.step(action)[0] == other.step(action)[0]).all()


def test_ids_can_be_made_by_module_and_id():
    env = gym.make("stb_gym:stb_gym/ShutTheBox-v0", tiles=12, objective="shut")
    assert (env.unwrapped.game, env.unwrapped.objective.name) == (ShutTheBox(tiles=12), "shut")


def test_the_wrapper_puts_the_mask_beside_the_observation():
    env = MaskInObservation(gym.make(BOX))
    seen, info = env.reset(seed=2)
    assert (seen["action_mask"] == info["action_mask"]).all()
    assert (env.action_masks() == info["action_mask"].astype(bool)).all()
    plain, _ = gym.make(BOX).reset(seed=2)
    assert (seen["observation"] == plain).all()
    assert env.spec.additional_wrappers[0].name == "MaskInObservation"
    assert gym.make(env.spec).observation_space == env.observation_space


def test_every_game_has_a_page_of_its_rules_in_gymnasiums_order():
    order = ["Description", "Action Space", "Observation Space", "Starting State", "Rewards", "Episode End"]
    order += ["Information", "Arguments", "References", "Version History"]
    for page in (box_page.__doc__, threes_page.__doc__):
        places = [page.find(f"## {section}") for section in order]
        assert places == sorted(places)
        assert min(places) > 0


def test_importing_the_package_registers_the_environments():
    registered = {spec.id for spec in gym.registry.values() if spec.namespace == "stb_gym"}
    plain = [*stb_gym.ENVIRONMENTS, *map(stb_gym.envs.round_id, stb_gym.games.GAMES.values())]
    assert registered == {*plain, *map(stb_gym.envs.masked_id, plain)}
    assert {"shut-the-box": ShutTheBox, "threes": Threes} == stb_gym.games.GAMES


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"tiles": 18},
            r"ShutTheBox\(tiles=18\) is too large for tables, .* entries; ShutTheBox\(tiles=17\) fits$",
        ),
        ({"tiles": 24, "dice": 4, "open": [24]}, None),
        ({"tiles": 20, "open": range(2, 21)}, r"ShutTheBox\(tiles=20, open=.* too large .* 134,217,728 entries$"),
    ],
)
def test_boxes_too_large_for_tables_are_refused_with_what_fits(rules, message):
    for make in (gym.make, gym.make_vec):
        if message is None:
            assert make(BOX, stepper="tables", **rules).reset(seed=0)
        else:
            with pytest.raises(ValueError, match=message):
                make(BOX, stepper="tables", **rules)
