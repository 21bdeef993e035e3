"""How the site is built: `make docs`, in the root of the repository, makes it of the pages of this folder."""

import re
import shutil
import tomllib
from importlib import metadata
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

project = "stb_gym"
author = "The stb_gym authors"
release = metadata.version("stb-gym")
urls = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]["urls"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs.results", "docs.written"]
nitpick_ignore_regex = [("py:.*", ".*")]  # errors and types that docstrings name: many are of other libraries
suppress_warnings = ["ref.python"]  # attributes of two classes that have the same name

myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "dollarmath"]
nb_execution_mode = "off"  # the notebooks hold their outputs
exclude_patterns = ["**/.ipynb_checkpoints"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what arguments are
default_role = "code"
napoleon_attr_annotations = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_math_renderer = "mathml"  # browsers show it without a script from elsewhere
html_title = "stb_gym"
html_baseurl = urls["Documentation"]
html_theme_options = {"source_repository": urls["Repository"], "source_branch": "main", "source_directory": "docs/"}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["explorer.html"]
html_copy_source = html_show_copyright = html_show_sphinx = False
pygments_style, pygments_dark_style = "tango", "github-dark"


def setup(app):
    """Escape docstrings, render formulas, and offer notebooks for download."""
    app.connect("autodoc-process-docstring", lambda *given: _escape(given[-1]), priority=900)  # after napoleon
    app.connect("build-finished", _copy_notebooks)
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


def _escape(lines):
    """Escape stars and bars, which stand for shapes and sizes in docstrings and are no markup."""
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[place] = re.sub(r"(?<!\\)([*|])", r"\\\1", line)
