"""A browser without a network, pages of three games, and a visitor who checks pages for faults."""

import shutil
from contextlib import contextmanager

import pytest

from stb_gym import ShutTheBox, Threes, load_policy, strategy
from stb_gym.explorer import explorer_page
from tests import ROOT
from tests.explorer.reading import make_run

playwright = pytest.importorskip("playwright.sync_api", reason="there is no Playwright: pip install '.[browser]'")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SMALL = ShutTheBox(tiles=5)
SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True},
}
MOVING = """[...document.querySelectorAll("*")].filter((each) => {
    const { transitionDuration, animationName } = getComputedStyle(each);
    return parseFloat(transitionDuration) > 0 || animationName !== "none";
}).map((each) => each.outerHTML)"""
PATIENCE = 60_000  # milliseconds; a wait ends as soon as its condition is true
playwright.expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    if not AXE.exists():
        pytest.skip("there is no axe-core: npm --prefix web ci")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def learned():
    """Return five policies for nine tiles, from the worst to a good one, as if a training had measured them."""
    names = ("worst", "lowest-first", "biggest-first", "fewest-then-biggest")
    return [*(strategy(ShutTheBox(), name) for name in names), load_policy("ppo-nine-tiles", ShutTheBox())]


@pytest.fixture(scope="session")
def pages(tmp_path_factory, learned):
    """Return the addresses of pages by name: nine tiles with two trainings, Threes, and a small box."""
    folder, game = tmp_path_factory.mktemp("pages"), ShutTheBox()
    runs = [
        make_run(folder / "ppo-small-0", game, learned),
        make_run(folder / "fitted-q-small-0", game, [*learned[:2], load_policy("fitted-q-nine-tiles", game)]),
    ]
    (folder / "box.html").write_text(explorer_page(game, ["random"], [str(run) for run in runs]))
    (folder / "threes.html").write_text(explorer_page(Threes()))
    (folder / "small.html").write_text(explorer_page(SMALL))
    return {path.stem: path.as_uri() for path in folder.glob("*.html")}


class Visitor:
    """A page, and the list of what went wrong on it."""

    def __init__(self, page, pages):
        self.page, self.pages = page, pages
        self.wrong = []
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.wrong.extend([request.url] * (not request.url.startswith("file:"))))

    def visit(self, address, game="box"):
        """Open the page of a game at an address; return it."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.pages[game]}#{address}")
        self.page.wait_for_selector("main :is(h2, table)")
        return self.page

    def look(self):
        """Check that nothing was logged, requested, animated or too wide, and that axe-core finds no violation."""
        assert self.wrong == []
        assert self.page.evaluate(MOVING) == []  # the visitor asked for no motion; axe-core needs the final colours
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= self.page.viewport_size["width"]
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("axe.run({ preload: false })")["violations"]
        assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in found] == []


@contextmanager
def visiting(browser, pages, screen):
    context = browser.new_context(offline=True, reduced_motion="reduce", **SCREENS[screen])
    context.set_default_timeout(PATIENCE)
    visitor = Visitor(context.new_page(), pages)
    yield visitor
    context.close()
    assert visitor.wrong == []


@pytest.fixture(params=list(SCREENS))
def visitor(browser, pages, request):
    """Yield a visitor on each screen."""
    with visiting(browser, pages, request.param) as visitor:
        yield visitor


@pytest.fixture
def reader(browser, pages):
    """Yield a visitor on one screen, for tests of what does not depend on it."""
    with visiting(browser, pages, "desktop") as visitor:
        yield visitor
