"""Test the site that `make docs` builds: its pages are readable, have previews, and contain no broken link."""

import gzip
import io
import re
import subprocess
import sys
import tomllib
from html import unescape

import pytest
from PIL import Image
from playwright.sync_api import expect

from stb_gym.games import VARIANTS
from tests import ROOT
from tests.browser.acting import arrive, follow

pytest.importorskip("furo", reason="there is no theme of the site: make .venv/docs")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ADDRESS = PROJECT.get("urls", {}).get("Documentation")
README = (ROOT / "README.md").read_text()
MAIN = ("index", "documentation", "play", "rules", "agents", "errors", "404", "play/threes")
MAIN += ("notebooks/quickstart", "notebooks/open_and_shut_case")
GAMES = {f"play/shut-the-box-{name}" for name in VARIANTS if name != "the-300"} | {"play/threes"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site in another process and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "sphinx", "--quiet", "--nitpicky", "--fail-on-warning", "docs", str(folder)]
    built = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).with_suffix("").as_posix(): path.as_uri() for path in sorted(site.rglob("*.html"))}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MAIN)
def test_main_pages_are_readable(visitor, name, scheme):
    visitor.page.emulate_media(color_scheme=scheme)
    visitor.page.goto(visitor.pages[name])
    expect(visitor.page.locator("h1")).to_be_visible()
    visitor.look()


@pytest.mark.parametrize("name", [*MAIN, "curves", "search"])
def test_every_page_has_the_header_of_the_site(reader, name):
    reader.page.goto(reader.pages[name])
    header = reader.page.get_by_role("navigation", name="site")
    source = ["Source"] if "Repository" in PROJECT.get("urls", {}) else []
    expect(header.get_by_role("link")).to_have_text(["Play", "Games", "Documentation", "Results", *source])
    header.get_by_role("link", name="Documentation").click()
    expect(reader.page).to_have_url(reader.pages["documentation"])


def test_the_sidebar_leads_from_learning_to_reference(reader):
    reader.page.goto(reader.pages["documentation"])
    sidebar = reader.page.get_by_role("complementary", name="site")
    expect(sidebar.get_by_role("heading")).to_have_text(["Learn", "How to", "Understand", "Results", "Reference"])
    results = sidebar.get_by_role("heading", name="Results").locator("+ ul")
    results.get_by_role("link").first.click()
    expect(reader.page.get_by_role("heading", name="How close do agents get to perfect play?")).to_be_visible()


def test_a_button_copies_what_is_typed(reader):
    reader.page.goto(reader.pages["errors"])
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.page.get_by_role("button", name="Copy").first.click()
    copied = reader.page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == ['env = gym.make("stb_gym/ShutTheBox-v0")', "env.step(0)"]


def test_long_outputs_of_notebooks_are_folded(reader):
    reader.page.goto(reader.pages["notebooks/open_and_shut_case"])
    tables = reader.page.locator("table.dataframe:has(tr:nth-of-type(512))")
    expect(tables).to_have_count(3)
    expect(tables.first).to_be_hidden()
    reader.page.get_by_text("Show the output").nth(1).click()
    expect(tables.first).to_be_visible()


def test_every_game_has_a_small_page_and_a_card(reader, site):
    assert {name for name in reader.pages if name.startswith("play/")} == GAMES
    reader.page.goto(reader.pages["play"])
    cards = reader.page.locator(".gallery a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert sorted(cards) == sorted(f"{name}.html" for name in GAMES)
    for name in GAMES:
        assert (site / f"{name}.html").stat().st_size <= 500_000
        reader.visit("board", name)


@pytest.mark.parametrize("name", ["play/shut-the-box-lucky-seven", "index"])
def test_a_strip_leads_to_the_other_games(visitor, name):
    page = visitor.visit("board", name)
    strip = page.get_by_role("navigation", name="other games")
    expect(strip.get_by_role("link")).to_have_count(len(GAMES) - (name != "index"))
    visitor.look()
    strip.get_by_role("link", name="Two at most").click()
    expect(page.locator("h1")).to_have_text("Two at most")


def test_the_first_page_is_the_game_with_its_trainings_and_an_introduction(visitor, site):
    page = visitor.visit("", "index")
    expect(page.get_by_text("A solved dice game: every move has an exact value.")).to_be_in_viewport()
    home = page.get_by_role("region", name="stb_gym")
    expect(home).to_be_visible()
    follow(page, "Training")
    expect(home).to_be_hidden()
    assert len(gzip.compress((site / "index.html").read_bytes())) < 110_000


def test_the_chart_of_the_first_page_leads_to_mistakes_and_games(visitor):
    page = visitor.visit("", "index")
    labels = page.get_by_role("list", name="agents, the worst first").get_by_role("listitem").all_text_contents()
    losses = [float(re.search(r"loses ([\d.]+)", label)[1]) for label in labels]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) >= 8
    assert all(f"| {loss:.2g}" in README for loss in losses if loss != 9.3)  # random play is not in the README
    follow(page, "play against it: masked PPO")
    arrive(page, "#play?against=ppo-nine-tiles")
    expect(page.get_by_role("heading", name="Your turn")).to_be_in_viewport()
    follow(page, "worst mistakes of biggest-first")
    arrive(page, "#map?by=loss&player=biggest-first")
    expect(page.locator(".notice")).to_have_count(0)
    page.get_by_role("navigation", name="views").get_by_role("link", name="Play").click()
    follow(page, "worst mistakes of tabular Q-learning")
    expect(page.get_by_role("region", name="mistakes of q-learning")).to_be_visible()


def test_links_lead_somewhere_on_the_site(site, pages):
    for name in pages:
        page = site / f"{name}.html"
        html = re.sub("<base [^>]*>", "", page.read_text()).partition('<script type="application/octet-stream"')[0]
        targets = {unescape(target) for target in re.findall(r'(?:href|src)="([^"]+)"', html)}
        assert html.count(f'href="{ADDRESS}') == html.count('rel="canonical"'), name  # all others are relative
        for target in targets:
            file, _, place = target.partition("#")
            if re.match(r"\w+:", file):
                continue
            leads_to = page.parent / file.partition("?")[0] if file else page
            assert leads_to.is_file(), f"{name}: {target}"
            if place and leads_to.suffix == ".html" and '<div id="page">' not in (text := leads_to.read_text()):
                assert f'id="{place}"' in text, f"{name}: {target}"


def test_shared_links_show_a_title_a_description_and_a_picture(site, pages):
    pictures = set()
    for name in pages:
        head, _, _ = (site / f"{name}.html").read_text().partition("<body>")
        tags = dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="(.*?)">', head))
        assert re.search("<title>.+</title>", head), name
        assert tags["og:title"], name
        assert len(tags["description"]) > 20, name
        assert tags["description"] == tags["og:description"]
        assert head.count('<link rel="icon" href="data:image/svg+xml,') == 1
        pictures |= {tags["og:image"]} if ADDRESS else set()  # a picture needs an absolute URL
    assert len(pictures) == (len(GAMES) if ADDRESS else 0)
    for picture in pictures:
        assert picture.startswith(ADDRESS)
        drawn = (site / picture.removeprefix(ADDRESS)).read_bytes()
        assert Image.open(io.BytesIO(drawn)).size == (1200, 630)


def test_positions_that_pages_name_are_shown(reader):
    for link, move in {"#board?open=1,4,5,8": "shut 4,5", "#board?points=0": "keep 2"}.items():
        reader.page.goto(reader.pages["rules"])
        reader.page.locator(f'a[href*="{link}"]').click()
        expect(reader.page.locator("tr.best").get_by_role("button")).to_contain_text(move)
