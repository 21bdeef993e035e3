"""Test the data of a page: the compiled game, its texts, and the moves of its players."""

import re
from hashlib import sha256

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, strategy
from stb_gym.explorer import explorer_page
from stb_gym.explorer.page import pack
from stb_gym.measure import bundled_policies, save_policy
from stb_gym.solver import compile_game
from stb_gym.words import words_of
from tests import ROOT
from tests.explorer.reading import contents_of, make_run, unpacked

BOX = ShutTheBox(tiles=5)
SCRIPT = (ROOT / "stb_gym" / "explorer" / "page.js").read_text()


def test_packed_facts_and_arrays_are_unpacked_in_the_smallest_types():
    arrays = {"bytes": [0, 255], "signed": [-1, 128], "floats": [0.5, 1e-9], "none": []}
    facts, read = unpacked(pack({"said": ["ä", None, 1]}, {name: np.array(row) for name, row in arrays.items()}))
    assert facts == {"said": ["ä", None, 1]}
    assert {name: array.tolist() for name, array in read.items()} == arrays
    assert [read[name].itemsize for name in ("bytes", "signed", "floats")] == [1, 2, 8]


@pytest.mark.parametrize(
    "game", [ShutTheBox(tiles=3, faces=3, one_die="any-time"), Threes(dice=2, faces=4, moon=True)], ids=str
)
def test_a_page_holds_the_game_in_its_own_words(game, snapshot):
    facts, arrays = contents_of(explorer_page(game))
    assert [facts, {name: str(np.round(array, 6).tolist()) for name, array in arrays.items()}] == snapshot


@pytest.mark.slow
def test_the_players_are_heuristics_bundled_policies_and_the_named_ones(solved, tmp_path):
    game = ShutTheBox()
    save_policy(tmp_path / "mine.npz", game, solved(game).policy)
    facts, arrays = contents_of(explorer_page(game, ["random", str(tmp_path / "mine.npz"), "ppo-nine-tiles"]))
    names = [player["name"] for player in facts["players"]]
    assert names[:2] + names[-2:] == ["biggest-first", "fewest-then-biggest", "random", "mine"]
    assert {*bundled_policies(game)} < {*names}
    tables = compile_game(game)
    assert arrays[f"player-{len(names) - 2}"].tolist() == pytest.approx(tables.uniform.tolist())
    for number, policy in {0: strategy(game, "biggest-first"), len(names) - 1: solved(game).policy}.items():
        pairs = tables.pair_start[tables.decisions] + arrays[f"player-{number}"]
        assert (tables.pair_action[pairs] == policy[tables.decisions]).all()


def test_a_training_shows_its_regret_and_all_its_policies(solved, tmp_path):
    tables = compile_game(BOX)
    policies = [strategy(BOX, name).copy() for name in ("worst", "lowest-first", "biggest-first")]
    wrong = tables.decisions[5]
    policies[1][wrong] = int(np.flatnonzero(~tables.legal[wrong])[0])
    run = make_run(tmp_path / "ppo-small-0", BOX, policies, "shut", "end")
    facts, arrays = contents_of(explorer_page(BOX, runs=[str(run)]))
    [training] = facts["runs"]
    assert (training["name"], training["objective"], training["steps"]) == ("ppo-small-0", "shut", [0, 1000, 2000])
    assert training["regret"] == [solved(BOX, "shut").evaluate(policy, "end").regret for policy in policies]
    places = arrays["run-0"].reshape(-1, 3)
    assert np.argwhere(places < 0).tolist() == [[5, 1]]
    for policy, column in zip(policies, places.T, strict=True):
        actions = tables.pair_action[tables.pair_start[tables.decisions] + column]
        assert ((actions == policy[tables.decisions]) | (column < 0)).all()


@pytest.mark.parametrize(
    ("policies", "runs", "fault"),
    [
        (["nobody"], [], "nobody"),
        (["ppo-threes"], [], "threes"),
        ([], ["no"], "folder"),
        (["a/policy.npz", "b/policy.npz"], [], "2 players are called policy"),
        (["a/optimal.npz"], [], "2 players are called optimal"),
    ],
)
def test_players_that_cannot_be_read_or_share_a_name_are_refused(policies, runs, fault):
    with pytest.raises(ValueError, match=fault):
        explorer_page(BOX, policies, runs)


@pytest.mark.slow
def test_a_page_is_one_small_file_that_asks_for_nothing():
    page = explorer_page(ShutTheBox())
    assert len(page.encode()) <= 250_000
    assert "default-src 'none'" in page
    head, _, body = page.partition("<script>")[0].partition("</head>")
    assert re.findall(r'(?:src|href)="(\w+:\S+)', head) == ["data:image/svg+xml,%3Csvg"]
    assert re.findall(r"<\w+[^>]* (?:src|href)=", body) == []
    assert "<!-- " not in page.replace(SCRIPT, "")


def test_a_page_says_what_it_is_for_search_engines_and_shared_links():
    page = explorer_page(Threes(dice=2, moon=True))
    [name] = re.findall('<meta property="og:title" content="(.*?)">', page)
    for kind in ('name="description"', 'property="og:description"'):
        assert f'<meta {kind} content="Keep the lowest dice of every throw, ' in page
    assert f"<title>{name}</title>" in page
    assert name == words_of(Threes(dice=2, moon=True)).introduction()
    assert "og:image" not in page  # it would be on a site


def test_a_named_variant_has_its_name_and_its_rule_first():
    facts, _ = contents_of(page := explorer_page(ShutTheBox.preset("lucky-seven")))
    assert facts["introduction"] == "Lucky seven"
    assert facts["how"][0] == "Only the 7 is open at the start."
    assert '<meta property="og:title" content="Lucky seven">' in page
    assert contents_of(explorer_page(ShutTheBox(open=(7, 8))))[0]["introduction"] == "Shut the box (open (7, 8))"


def test_the_script_was_built_from_its_sources_of_today():
    web, digest = ROOT / "web", sha256()
    sources = [path for path in (web / "src").rglob("*") if path.is_file()]
    for path in sorted([*sources, web / "package-lock.json", web / "build.mjs"], key=str):
        digest.update(path.read_bytes())
    assert SCRIPT.startswith(f"// sources {digest.hexdigest()}\n"), "run `make page`"
