"""What a page holds is the game as it was compiled, in the game's own words, and everybody's moves."""

import re
from hashlib import sha256

import numpy as np
import pytest

import stb_gym
from stb_gym import Round, ShutTheBox, Standing, Threes, compile_game, save_policy, solve, strategy
from stb_gym.explorer import explorer_page, titles_of, write_explorer
from stb_gym.explorer.packing import pack
from stb_gym.games import rolls, words_of
from stb_gym.measure import kept_policies
from tests import ROOT
from tests.explorer.reading import DATA, held_by, make_run, unpacked

GAMES = [ShutTheBox(), ShutTheBox(tiles=5, one_die="any-time"), Threes(), Threes(dice=3, moon=True)]
BOX = ShutTheBox(tiles=5)
SCRIPT = (ROOT / "stb_gym" / "explorer" / "page.js").read_text()


@pytest.fixture(scope="module", params=GAMES, ids=str)
def known(request):
    """A game's arrays, and what its page holds."""
    return compile_game(request.param), *held_by(explorer_page(request.param))


def test_facts_and_arrays_are_packed_and_unpacked():
    arrays = {"bytes": np.array([0, 255]), "signed": np.array([-1, 300]), "floats": np.array([[0.5], [1e-9]])}
    facts, read = unpacked(pack({"said": ["ä", None, 1]}, arrays | {"none": np.zeros(0, int)}))
    assert facts == {"said": ["ä", None, 1]}
    assert [read[name].tolist() for name in ("bytes", "signed", "floats", "none")] == [
        [0, 255],
        [-1, 300],
        [0.5, 1e-9],
        [],
    ]
    assert [read[name].itemsize for name in ("bytes", "signed", "floats")] == [1, 2, 8]


def test_the_graph_is_that_of_the_game(known):
    tables, facts, arrays = known
    assert facts["start"] == tables.start
    assert facts["scores"] == tables.scores.tolist()
    assert (arrays["dice"] == tables.dice).all()
    assert (np.array(facts["scores"])[arrays["score"]] == tables.final_score).all()
    assert (arrays["choices"] == tables.choices).all()
    assert (arrays["next"] == tables.edge_next).all()
    assert (arrays["next"] < tables.node_state[tables.edge_node]).all()  # what the page's sweep relies on
    for dice in facts["throws"]:
        assert (arrays[f"counts-{dice}"] == rolls(tables.game, dice).counts).all()
        assert (arrays[f"throws-{dice}"] == rolls(tables.game, dice).of_throw).all()


def test_positions_and_moves_are_in_the_words_of_the_game(known):
    tables, facts, arrays = known
    words = words_of(tables.game)
    node = {part["name"]: part["of"] for part in facts["parts"]}
    for state in range(0, tables.states, 7):
        held, dice = int(tables.held[state]), int(tables.dice[state])
        assert facts["states"][state] == words.state(held, dice)
        if dice and held >= 0:
            said = {name: of[state] for name, of in node.items()}
            assert words.locate(said)[:2] == (held, dice)
    for edge in range(0, len(tables.edge_node), 101):
        at, goes_on = int(tables.edge_node[edge]), bool(tables.dice[tables.edge_next[edge]])
        move = words.move(int(tables.edge_action[edge]), goes_on)
        assert facts["moves"][arrays["move"][edge]] == words.move_in_words(move, tables.node_roll(at))
    assert len(arrays["end"]) == (tables.choices == 0).sum()
    assert facts["title"]
    assert [facts["points"][0], facts["goals"][-1]] == [words.score(tables.scores[0]), words.goal(tables.scores[-1])]


@pytest.mark.slow
def test_players_are_rules_of_thumb_and_kept_policies_of_the_game_and_whom_one_names(tmp_path):
    game = ShutTheBox()
    stb_gym.save_policy(tmp_path / "mine.npz", game, solve(game).policy)
    facts, arrays = held_by(explorer_page(game, ["random", str(tmp_path / "mine.npz"), "ppo-nine-tiles"]))
    names = [each["name"] for each in facts["players"]]
    assert names[:2] == ["biggest-first", "fewest-then-biggest"]
    assert {*kept_policies(game)} <= {*names}
    assert names[-2:] == ["random", "mine"]
    assert "ppo-threes" not in names
    tables = compile_game(game)
    first = tables.edge_start[tables.decisions]
    for number, name in enumerate(names):
        plays = arrays[f"player-{number}"]
        if name == "random":
            assert plays.tolist() == pytest.approx(tables.uniform.tolist())
        else:
            policy = {"mine": solve(game).policy}.get(name)
            policy = stb_gym.load_policy(name, game) if policy is None and name in kept_policies() else policy
            policy = strategy(game, name) if policy is None else policy
            assert (tables.edge_action[first + plays] == policy[tables.decisions]).all()


def test_leads_are_worth_what_the_equilibrium_says(known):
    tables, facts, arrays = known
    players, scores = facts["leads"]["players"], len(facts["scores"])
    equilibrium = Round(tables.game, players=players, ties="split").solve()
    worth = arrays["worth-split"].reshape(players, scores, players)
    assert worth[0, 3].tolist() == [1, 1 / 2, 1 / 3, 1 / 4]
    for after in range(1, players):
        assert worth[after, :, 0].tolist() == pytest.approx(equilibrium.replies[after].worth[:-1:players].tolist())
        assert (worth[after, 1:, players - after :] == 0).all()
    all_win = Round(tables.game, players=players, ties="all-win").solve()
    worth = arrays["worth-all-win"].reshape(players, scores, players)
    assert worth[:, :, 0].ravel().tolist() == pytest.approx(all_win.survival[:players].ravel().tolist())


def test_a_page_for_a_standing_agrees_with_the_round():
    """The best chance after a lead of 6 points, found from the worth of leads alone."""
    facts, arrays = held_by(explorer_page(Threes()))
    scores, players = facts["scores"], facts["leads"]["players"]
    worth = arrays["worth-all-win"].reshape(players, len(scores), players)
    place = np.searchsorted(scores, range(scores[-1] + 1))
    best = solve(Threes(), lambda score: np.where(score <= 6, worth[1, place[score], (score == 6).astype(int)], 0.0))
    policy = Round(Threes(), players=3, ties="all-win").solve().policy(Standing(lead=6, holders=1, after=1))
    assert best.evaluate(policy).regret == pytest.approx(0, abs=1e-12)


def test_a_training_brings_its_curve_and_all_its_policies(tmp_path):
    policies = [strategy(BOX, name) for name in ("worst", "lowest-first", "biggest-first")]
    run = make_run(tmp_path / "ppo-small-0", BOX, policies, "shut")
    facts, arrays = held_by(explorer_page(BOX, runs=[str(run)]))
    [told] = facts["runs"]
    assert (told["name"], told["objective"], told["steps"]) == ("ppo-small-0", "shut", [0, 1000, 2000])
    best = solve(BOX, "shut")
    assert told["regret"] == pytest.approx([best.evaluate(policy).regret for policy in policies])
    tables = compile_game(BOX)
    plays = arrays["run-0"].reshape(-1, 3)
    for at, policy in enumerate(policies):
        edges = tables.edge_start[tables.decisions] + plays[:, at]
        assert (tables.edge_action[edges] == policy[tables.decisions]).all()


def test_illegal_actions_of_a_training_are_shown_as_such(tmp_path):
    tables, policy = compile_game(BOX), strategy(BOX, "biggest-first").copy()
    wrong = tables.decisions[5]
    policy[wrong] = int(np.flatnonzero(~tables.legal(np.array([wrong]))[0])[0])
    run = tmp_path / "dqn"
    run.mkdir()
    stb_gym.measure.save_policies(run / "policies.npz", BOX, {7: policy})
    stb_gym.save_policy(run / "policy.npz", BOX, policy, "end")
    facts, arrays = held_by(explorer_page(BOX, runs=[str(run)]))
    assert (arrays["run-0"] < 0).nonzero()[0].tolist() == [5]
    assert facts["runs"][0]["regret"] == [solve(BOX).evaluate(policy, "end").regret]


@pytest.mark.parametrize(
    ("policies", "runs", "message"),
    [
        (["nobody"], [], "there is no policy file nobody"),
        (["ppo-threes"], [], "is a policy of threes"),
        ([], ["nowhere"], "nowhere is no run, or not a whole one: there is no policies.npz"),
    ],
)
def test_what_cannot_be_shown_is_said(policies, runs, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_explorer(tmp_path / "page.html", BOX, policies, runs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_page_is_one_small_file_that_asks_for_nothing():
    page = explorer_page(ShutTheBox())
    assert len(page.encode()) <= 250_000
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="(?!data:,)', page.partition("<script>")[0])
    assert "<!-- " not in page.replace(SCRIPT, "")


def test_the_script_was_built_from_the_sources_as_they_are():
    """Also where there is no node: the script says of which sources it was made."""
    web, digest = ROOT / "web", sha256()
    sources = [path for path in (web / "src").rglob("*") if path.is_file()]
    for path in sorted([*sources, web / "package-lock.json", web / "build.mjs"], key=str):
        digest.update(path.read_bytes())
    assert SCRIPT.startswith(f"// sources {digest.hexdigest()}\n"), "run `make page`"


@pytest.mark.slow
def test_the_page_in_the_documentation_is_of_today():
    kept, runs = (ROOT / "docs" / "explorer.html").read_text(), sorted((ROOT / "docs" / "trainings").iterdir())
    made = explorer_page(ShutTheBox(), runs=list(map(str, runs)))
    assert DATA.sub("", kept) == DATA.sub("", made), "run `make page`"
    (facts, arrays), (facts_made, arrays_made) = held_by(kept), held_by(made)
    regrets, regrets_made = ([each.pop("regret") for each in of["runs"]] for of in (facts, facts_made))
    assert facts == facts_made
    assert np.concatenate(regrets).tolist() == pytest.approx(np.concatenate(regrets_made).tolist())
    assert arrays.keys() == arrays_made.keys()
    for name, array in arrays.items():
        assert array.tolist() == pytest.approx(arrays_made[name].tolist()), name


def test_players_of_the_same_name_are_told_apart(tmp_path):
    files = [tmp_path / folder / name for folder in "ab" for name in ("policy.npz", "optimal.npz")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        save_policy(file, Threes(dice=2), strategy(Threes(dice=2), "take-all"))
    page = explorer_page(Threes(dice=2), [*map(str, files), "optimal"])
    names = [player["name"] for player in held_by(page)[0]["players"]]
    assert names[-4:] == ["a/policy", "a/optimal", "b/policy", "b/optimal"]
    assert titles_of(["random", str(files[0])]) == {"random": "random", str(files[0]): "policy"}
    with pytest.raises(ValueError, match="2 players are called a/policy: give their files or folders other names"):
        titles_of(["x/a/policy.npz", "y/a/policy.npz"])
