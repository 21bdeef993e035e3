"""Sphinx configuration of the site; `make docs` builds it from the pages of this folder."""

import re
import shutil
import tomllib
from html import escape, unescape
from importlib import metadata
from pathlib import Path
from textwrap import shorten
from urllib.parse import urlsplit

from docutils.nodes import SkipNode, Text, paragraph
from docutils.utils.math.latex2mathml import tex2mathml
from markdown_it import MarkdownIt
from sphinx import addnodes

from docs.front_chart import front_chart
from docs.gallery import URLS, header, linked, picture_tags, playable, tags_of, write_pages
from docs.results import write_curves
from docs.written import written

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STYLE = (ROOT / "web" / "src" / "style" / "base.css").read_text()
[ICON] = re.findall('<link rel="icon".*>', (ROOT / "stb_gym" / "explorer" / "page.html").read_text())
COLOURS = {  # colours of the style sheet of the games, and the theme's names for them
    "ground": ["background-primary"],
    "card": ["background-secondary", "inline-code-background"],
    "ink": ["foreground-primary"],
    "soft": ["foreground-secondary", "foreground-muted"],
    "line": ["background-border"],
    "accent": ["brand-primary", "brand-content", "brand-visited"],
    "wash": ["background-hover", "highlight-on-target"],
    "lost": ["problematic"],
}

LONG_TYPES = {  # patterns of types as Sphinx writes them, and short names
    r"ndarray\[tuple\[Any, \.\.\.\], dtype\[\w+(\[Any\])?\]\]": "ndarray",
    r"_Buffer \| [^,]*?_NestedSequence\[complex \| bytes \| str\]": "ArrayLike",
    r"Callable\[\[[^\[\]]*\], [^\[\]]*\]": "Callable",
}

project = "stb_gym"
author = "The stb_gym authors"
release = metadata.version("stb-gym")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "docs.written"]
nitpick_ignore_regex = [("py:.*", ".*")]  # docstrings name errors and types of other libraries
suppress_warnings = ["ref.python"]  # two classes may have attributes of the same name

myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "dollarmath", "attrs_inline"]
copybutton_prompt_text = ">>> "  # copy the lines that are typed, without prompts
nb_execution_mode = "off"  # the notebooks are committed with their outputs
nb_code_prompt_show, nb_code_prompt_hide = "Show the {type}", "Hide the {type}"
root_doc = "documentation"  # index.html is the game
exclude_patterns = ["**/.ipynb_checkpoints", "home.md"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
default_role = "code"
napoleon_attr_annotations = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_math_renderer = "mathml"  # browsers show it without a script from elsewhere
html_title = "stb_gym"
html_baseurl = URLS.get("Documentation", "")
html_additional_pages = {"404": "404.html"}
html_context = {"site_path": urlsplit(html_baseurl).path}
html_theme_options = {
    "top_of_page_buttons": [],  # which are outside of all landmarks
    "footer_icons": [],
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
html_css_files, html_js_files = ["site.css", "header.css"], ["site.js"]
html_copy_source = html_show_copyright = html_show_sphinx = False
pygments_style, pygments_dark_style = "a11y-light", "a11y-dark"


def setup(app):
    """Register the hooks that escape docstrings, render formulas, copy notebooks and write the pages of games."""
    app.connect("autodoc-process-docstring", lambda *given: _escape(given[-1]), priority=900)  # after napoleon
    app.connect("env-get-outdated", lambda *_: ["play"])  # it includes all games
    app.connect("doctree-read", lambda _, doctree: _shorten_types(doctree))
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
    """Copy the notebooks to the site, so that their pages can link to them for download."""
    if error is None:
        for notebook in Path(app.srcdir, "notebooks").glob("*.ipynb"):
            shutil.copy(notebook, Path(app.outdir, "notebooks"))


def _write_pages_to_play(app, error):
    """Write index.html, a game with an introduction below it, and the pages of the gallery."""
    if error is None:
        below = MarkdownIt("commonmark").enable("table").render(written(Path(app.srcdir, "home.md").read_text()))
        below = below.replace("<!-- chart -->", front_chart())
        below = re.sub(r'href="([\w/]+)\.(?:md|ipynb)"', r'href="\1.html"', below)
        write_pages(Path(app.outdir), html_baseurl, f'<section class="home" aria-label="stb_gym">{below}</section>')


def _write_curves(app, error):
    """Write the page of curves in place of curves.md, with an icon, preview tags, and links to the site."""
    if error is None:
        path = Path(app.outdir, "curves.html")
        write_curves(path)
        page = linked(path.read_text(), html_baseurl, playable()[0].name, "curves")
        path.write_text(page.replace("<title>", f"{ICON}\n<title>", 1))


def _finish_page(app, name, template, context, doctree):
    """Add the header, the icon and the preview tags of a page."""
    context["site_header"] = header(name)
    paragraphs = doctree.findall(paragraph) if doctree else []
    summary = next((each.astext() for each in paragraphs if each.parent.tagname == "section"), PROJECT["description"])
    summary = shorten(summary, 200, placeholder="...")
    title = re.sub("<.*?>", "", context.get("title", project))
    tags = {"og:type": "article", "og:title": unescape(title), "og:description": summary}
    description = f'<meta name="description" content="{escape(summary)}">'
    picture = picture_tags(html_baseurl, playable()[0].name)
    context["metatags"] = "\n".join([context.get("metatags", ""), ICON, description, tags_of(tags), picture])


def _escape(lines):
    """Escape stars and bars in docstrings, where they stand for shapes and sizes."""
    for index, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[index] = re.sub(r"(?<!\\)([*|])", r"\\\1", line)


def _shorten_types(doctree):
    """Shorten the types in signatures that NumPy and `Callable` make too long to read."""
    for signature in doctree.findall(addnodes.desc_signature):
        for node in signature.findall():
            if isinstance(node, addnodes.desc_annotation | addnodes.desc_returns):
                _shorten_type(node)
            elif isinstance(node, addnodes.desc_parameter):
                for child in node.children:
                    _shorten_type(child)


def _shorten_type(node):
    text = short = "".join(child.astext() for child in node.children)
    for pattern, name in LONG_TYPES.items():
        short = re.sub(pattern, name, short)
    if short != text:
        node.children = []
        node += Text(short)
