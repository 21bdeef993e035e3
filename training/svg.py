"""Pictures of matplotlib as SVG that is as light or as dark as the page around it."""

import io
import re

from matplotlib import rc_context
from matplotlib.figure import Figure

from training.palette import INK

# A page that shows the picture by <img> tells it the reader's colour scheme; nothing of this reaches the page itself.
STYLE = """\
<style>
svg { color: #1b1b1b } text { fill: currentColor; font-family: system-ui, 'DejaVu Sans', sans-serif }
@media (prefers-color-scheme: dark) { svg { color: #f1ede4 } }
</style>"""


def to_svg(figure: Figure) -> str:
    """A figure of matplotlib as SVG without a ground of its own; the same figure always gives the same text.

    What is drawn in `INK`, black, is light in the dark, as all words are whose colour is not set; other colours stay.

    Args:
        figure: the figure.
    """
    written = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "stb_gym"}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    picture = re.sub(r"; font-family: [^;\"]+", "", written.getvalue()).replace(INK, "currentColor")
    opening, rest = picture[picture.index("<svg") :].split(">", 1)
    return f"{opening}>\n{STYLE}{rest}"
