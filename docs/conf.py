"""How the site is built: `make docs`, in the root of the repository, makes it of the pages of this folder."""

import re
import shutil
import tomllib
from html import escape, unescape
from importlib import metadata
from pathlib import Path
from textwrap import shorten

from docutils.nodes import SkipNode, paragraph
from docutils.utils.math.latex2mathml import tex2mathml
from markdown_it import MarkdownIt

from docs.gallery import linked, picture_tags, playable, tags_of, write_pages
from docs.results import write_curves
from docs.written import written

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STYLE = (ROOT / "web" / "src" / "style" / "base.css").read_text()
[ICON] = re.findall('<link rel="icon".*>', (ROOT / "stb_gym" / "explorer" / "page.html").read_text())
COLOURS = {  # of the theme, by the names that they have in the style of the page to play
    "ground": ["background-primary"],
    "card": ["background-secondary", "inline-code-background"],
    "ink": ["foreground-primary"],
    "soft": ["foreground-secondary", "foreground-muted"],
    "line": ["background-border"],
    "accent": ["brand-primary", "brand-content", "brand-visited"],
    "wash": ["background-hover", "highlight-on-target"],
    "lost": ["problematic"],
}

project = "stb_gym"
author = "The stb_gym authors"
release = metadata.version("stb-gym")
urls = PROJECT.get("urls", {})  # once the project has them

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs.written"]
nitpick_ignore_regex = [("py:.*", ".*")]  # errors and types that docstrings name: many are of other libraries
suppress_warnings = ["ref.python"]  # attributes of two classes that have the same name

myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "dollarmath", "attrs_inline"]
nb_execution_mode = "off"  # the notebooks hold their outputs
root_doc = "documentation"  # index.html is the game
exclude_patterns = ["**/.ipynb_checkpoints", "home.md"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what arguments are
default_role = "code"
napoleon_attr_annotations = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_math_renderer = "mathml"  # browsers show it without a script from elsewhere
html_title = "stb_gym"
html_baseurl = urls.get("Documentation", "")
html_theme_options = {
    "top_of_page_buttons": [],  # which are outside of all landmarks
    "footer_icons": [
        {"name": "source code", "url": urls[name], "html": "Source code", "class": ""}
        for name in {"Repository"} & urls.keys()
    ],
    **{
        f"{scheme}_css_variables": {
            f"color-{theirs}": shades[scheme == "dark"]
            for ours, *shades in re.findall(r"--([\w-]+): light-dark\((\S+), (\S+)\);", STYLE)
            for theirs in COLOURS.get(ours, [])
        }
        for scheme in ("light", "dark")
    },
}
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files, html_js_files = ["site.css"], ["site.js"]
html_copy_source = html_show_copyright = html_show_sphinx = False
pygments_style, pygments_dark_style = "a11y-light", "a11y-dark"


def setup(app):
    """Escape docstrings, render formulas, offer notebooks for download, and write the pages to play."""
    app.connect("autodoc-process-docstring", lambda *given: _escape(given[-1]), priority=900)  # after napoleon
    app.connect("env-get-outdated", lambda *_: [root_doc, "play"])  # they take the README and all games
    app.connect("html-page-context", _finish_page)
    app.connect("build-finished", _copy_notebooks)
    app.connect("build-finished", _write_pages_to_play)
    app.connect("build-finished", _write_curves)
    app.add_html_math_renderer("mathml", (_write_formula, None), (_write_displayed_formula, None))


def _write_formula(writer, node):
    writer.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _write_displayed_formula(writer, node):
    writer.body.append(tex2mathml(node.astext(), as_block=True))
    raise SkipNode


def _copy_notebooks(app, error):
    """Copy the notebooks to the site, where each page links to its own for download."""
    if error is None:
        for notebook in Path(app.srcdir, "notebooks").glob("*.ipynb"):
            shutil.copy(notebook, Path(app.outdir, "notebooks"))


def _write_pages_to_play(app, error):
    """Write index.html, the game with an introduction below, and the pages of the gallery."""
    if error is None:
        below = MarkdownIt("commonmark").enable("table").render(written(Path(app.srcdir, "home.md").read_text()))
        below = re.sub(r'href="([\w/]+)\.(?:md|ipynb)"', r'href="\1.html"', below)
        write_pages(Path(app.outdir), html_baseurl, f'<section class="home" aria-label="stb_gym">{below}</section>')


def _write_curves(app, error):
    """Write the page of curves, with its icon, what links show of it, and links to the site."""
    if error is None:
        path = Path(app.outdir, "curves.html")
        write_curves(path)
        page = linked(path.read_text(), html_baseurl, playable()[0].name, "")
        path.write_text(page.replace("<title>", f"{ICON}\n<title>", 1))


def _finish_page(app, name, template, context, doctree):
    """Add the icon and what links show of a page."""
    paragraphs = doctree.findall(paragraph) if doctree else []
    summary = next((each.astext() for each in paragraphs if each.parent.tagname == "section"), PROJECT["description"])
    summary = shorten(summary, 200, placeholder="...")
    title = re.sub("<.*?>", "", context.get("title", project))
    tags = {"og:type": "article", "og:title": unescape(title), "og:description": summary}
    description = f'<meta name="description" content="{escape(summary)}">'
    picture = picture_tags(html_baseurl, playable()[0].name)
    context["metatags"] = "\n".join([context.get("metatags", ""), ICON, description, tags_of(tags), picture])


def _escape(lines):
    """Escape stars and bars, which stand for shapes and sizes in docstrings and are no markup."""
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[place] = re.sub(r"(?<!\\)([*|])", r"\\\1", line)
