"""Test the service worker of the site: games that were opened work without a network, and can be installed."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from docs.offline import installable, write_worker
from stb_gym import ShutTheBox, Threes
from stb_gym.explorer import explorer_page


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def address(tmp_path):
    """Serve a site of three games, and yield its address."""
    (tmp_path / "play").mkdir()
    index = installable(explorer_page(ShutTheBox(tiles=4)), "")
    (tmp_path / "index.html").write_text(index)
    write_worker(tmp_path, index)
    for name, dice in (("opened", 2), ("never-opened", 3)):
        (tmp_path / "play" / f"{name}.html").write_text(installable(explorer_page(Threes(dice=dice)), "../"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser, address):
    """Yield the first page in a browser in which the worker runs."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.evaluate("navigator.serviceWorker.ready.then(() => {})")
    yield page
    context.close()


def test_games_that_were_opened_work_without_a_network(page, address):
    page.goto(f"{address}play/opened.html")
    page.context.set_offline(True)
    for place in ("", "index.html", "play/opened.html#play"):
        page.goto("about:blank")
        page.goto(f"{address}{place}")
        expect(page.get_by_role("button", name="Any dice")).to_be_visible()
    with pytest.raises(Exception, match="ERR_"):
        page.goto(f"{address}play/never-opened.html")


def test_the_site_can_be_installed(page):
    asked = page.context.new_cdp_session(page)
    assert asked.send("Page.getAppManifest")["errors"] == []
    errors = asked.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []
