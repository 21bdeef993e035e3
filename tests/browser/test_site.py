"""Test the site that `make docs` builds: its pages are readable, have previews, and contain no broken link."""

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

pytest.importorskip("furo", reason="there is no theme of the site: make .venv/docs")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ADDRESS = PROJECT.get("urls", {}).get("Documentation")
MAIN = ("index", "documentation", "play", "rules", "agents", "notebooks/quickstart", "play/threes")
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


def test_every_game_has_a_small_page_and_a_card(reader, site):
    assert {name for name in reader.pages if name.startswith("play/")} == GAMES
    reader.page.goto(reader.pages["play"])
    cards = reader.page.locator(".gallery a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert sorted(cards) == sorted(f"{name}.html" for name in GAMES)
    for name in GAMES:
        assert (site / f"{name}.html").stat().st_size <= 500_000
        reader.visit("board", name)


def test_the_first_page_is_the_game_with_its_trainings_and_an_introduction(reader):
    page = reader.visit("training", "index")
    assert page.get_by_role("link", name="Training").get_attribute("aria-current") == "page"
    expect(page.locator(".home td:last-child").first).to_be_visible()


def test_links_lead_somewhere_on_the_site(site, pages):
    for name in pages:
        page = site / f"{name}.html"
        html = page.read_text().partition('<script type="application/octet-stream"')[0]
        targets = {unescape(target) for target in re.findall(r'(?:href|src)="([^"]+)"', html)}
        assert html.count(f'href="{ADDRESS}') == html.count('rel="canonical"'), name  # all others are relative
        for target in targets:
            file, _, place = target.partition("#")
            if re.match(r"\w+:", file):
                continue
            leads_to = page.parent / file.partition("?")[0] if file else page
            assert leads_to.is_file(), f"{name}: {target}"
            if place and leads_to.suffix == ".html" and "octet-stream" not in (text := leads_to.read_text()):
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
