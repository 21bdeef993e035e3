"""Write the games of the site: a page to play each game, its preview picture, and its card in the gallery.

Every named variant has a page, and so has every game without variants, if the page has at most LARGEST_PAGE bytes.
"""

import tomllib
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from docs.offline import installable, write_worker
from stb_gym import ShutTheBox, solve
from stb_gym.explorer import explorer_page
from stb_gym.games import GAMES, Game, Variant, entry_of, fits
from stb_gym.words import words_of
from stb_gym.words.drawing import Canvas

DOCS = Path(__file__).parent
LARGEST_PAGE = 500_000  # bytes
WIDTH, HEIGHT = 1200, 630  # pixels of a preview picture, the size that other sites expect
GROUND, INK, SOFT = (247, 244, 238), (27, 27, 27), (93, 87, 78)  # colours of the page in its light scheme
THROW = (3, 6, 3, 2, 4)
HEADER = {  # pages that every page links to, and their titles
    "index": "Play",
    "play": "Games",
    "documentation": "Documentation",
    "curves": "Results",
}
URLS = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"].get("urls", {})  # empty before a release


class Playable(NamedTuple):
    """A game with a page to play it.

    Attributes:
        name: the name of the page.
        title: the name of the game.
        rules: its rules in one sentence.
        value: the mean score of perfect play, in words.
        game: the rules as an object.
        page: the page as HTML.
    """

    name: str
    title: str
    rules: str
    value: str
    game: Game
    page: str


@cache
def playable() -> list[Playable]:
    """Return all games that have a page, those with default rules first."""
    found = []
    for game_name, rules_class in GAMES.items():
        usual = Variant({}, words_of(rules_class()).how_to_play())
        for variant, (fields, rules) in (entry_of(rules_class).variants or {"": usual}).items():
            game = rules_class(**fields)
            if fits(game) and len((page := explorer_page(game)).encode()) <= LARGEST_PAGE:
                name = f"{game_name}-{variant}".removesuffix("-")
                title = (variant or game_name).replace("-", " ").capitalize()
                value = f"Perfect play: {solve(game).value:,.2f} points"
                found.append(Playable(name, title, rules.partition("\n")[0], value, game, page))
    return sorted(found, key=lambda each: each.game != type(each.game)())


def gallery(_: str = "") -> str:
    """Return the cards of all games as HTML."""
    cards = [
        f'<li><a href="play/{each.name}.html"><img src="play/{each.name}.png" alt="" loading="lazy">'
        f"<span>{escape(each.title)}</span></a><p>{escape(each.rules)}</p><p>{each.value}</p></li>"
        for each in playable()
    ]
    return "\n".join(['<ul class="gallery">', *cards, "</ul>"])


def write_pages(site: Path, address: str, below: str) -> None:
    """Write the page and the pictures of every game, and index.html, the page of nine tiles.

    Args:
        site: the folder of the site.
        address: the URL of the site, or "" if it has none.
        below: HTML that index.html shows below the game.
    """
    (site / "play").mkdir(exist_ok=True)
    for each in playable():
        board(each).save(site / "play" / f"{each.name}.png", optimize=True)
        draw(each).save(site / "play" / f"{each.name}-link.png", optimize=True)
        page = installable(linked(each.page, address, each.name, f"play/{each.name}"), "../")
        (site / "play" / f"{each.name}.html").write_text(page, encoding="utf-8")
    # Made by `python -m training.train LEARNER --task nine-tiles --variant 10m --seeds SEED`, as their names say.
    trainings = [str(folder) for folder in sorted((DOCS / "trainings").iterdir())]
    # Made by `python -m training.train LEARNER --task nine-tiles --variant 1m --seeds 0`.
    policies = [str(path) for path in sorted((DOCS / "policies").iterdir())]
    home = explorer_page(ShutTheBox(), ["random", *policies], trainings).replace("<footer>", f"{below}\n<footer>", 1)
    home = installable(linked(home, address, playable()[0].name, "index"), "")
    (site / "index.html").write_text(home, encoding="utf-8")
    write_worker(site, home)


def linked(page: str, address: str, picture: str, name: str) -> str:
    """Add a preview picture and the header of the site to the page of this name, which Sphinx does not write."""
    style = (DOCS / "static" / "header.css").read_text()
    page = page.replace("<footer>stb_gym</footer>", strip(name), 1)
    page = page.replace("</head>", f"<style>\n{style}</style>\n{picture_tags(address, picture)}\n</head>", 1)
    return page.replace("<body>", f"<body>\n{header(name)}", 1)


def strip(name: str) -> str:
    """Return links to the other games for the page of a game; "" for other pages."""
    if name != "index" and not name.startswith("play/"):
        return ""
    root = "../" * name.count("/")
    links = [
        f'<a href="{root}play/{each.name}.html">{escape(each.title)}</a>'
        for each in playable()
        if name != f"play/{each.name}"
    ]
    return "\n".join(
        ['<footer><nav class="strip" aria-label="other games">', "<span>Other games</span>", *links, "</nav></footer>"]
    )


def header(name: str) -> str:
    """Return the header of the page of this name, such as "play/threes": links to the main pages of the site."""
    root = "../" * name.count("/")
    links = []
    for page, title in HEADER.items():
        current = ' aria-current="page"' if page == name else ""
        links.append(f'<a href="{root}{page}.html"{current}>{title}</a>')
    if "Repository" in URLS:
        links.append(f'<a href="{escape(URLS["Repository"])}">Source</a>')
    return "\n".join(['<nav class="site" aria-label="site">', "<span>stb_gym</span>", *links, "</nav>"])


def picture_tags(address: str, name: str) -> str:
    """Return the tags of the preview picture, or "" if the site has no address: its URL must be absolute."""
    if not address:
        return ""
    tags = {"og:image": f"{address}play/{name}-link.png", "og:image:width": WIDTH, "og:image:height": HEIGHT}
    return tags_of({**tags, "og:site_name": "stb_gym", "twitter:card": "summary_large_image"})


def tags_of(properties: dict[str, object]) -> str:
    """Return properties as tags of the Open Graph protocol."""
    return "\n".join(f'<meta property="{name}" content="{escape(str(text))}">' for name, text in properties.items())


def board(each: Playable, caption: str = "") -> Image.Image:
    """Draw the board of a game after the first throw."""
    progress, dice = each.game.start()
    return Image.fromarray(words_of(each.game).picture(progress, dice, THROW[:dice], caption))


def draw(each: Playable) -> Image.Image:
    """Draw the preview picture of a game: its name, its rules and its board."""
    canvas = Canvas(WIDTH, HEIGHT, GROUND)
    names = dict.fromkeys([each.game.name.replace("-", " ").capitalize(), each.title])
    canvas.text(60, 70, ": ".join(names), 64, INK, "lm", WIDTH - 120)
    canvas.text(60, 130, each.rules, 30, SOFT, "lm", WIDTH - 120)
    picture, drawn = Image.fromarray(canvas.finished()), board(each, each.value)
    scale = min((WIDTH - 120) / drawn.width, (HEIGHT - 210) / drawn.height)
    drawn = drawn.resize((round(drawn.width * scale), round(drawn.height * scale)), Image.Resampling.LANCZOS)
    picture.paste(drawn, ((WIDTH - drawn.width) // 2, HEIGHT - 40 - drawn.height))
    return picture.quantize(128)
