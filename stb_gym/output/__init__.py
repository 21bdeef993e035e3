"""What people see of the library, and the files it writes. Nothing here knows a game.

In the order to read:

- `console`: text that a terminal can be trusted with; `files`: files that appear whole or not at all.
- `reading`: files of which nothing is believed.
- `table`: one table for text, Markdown and HTML.
- `progress`: how far long work has come.
- `palette`: one colour for an agent in every picture.
"""

from stb_gym.output.console import escaped, reader_may_leave, refuse, say
from stb_gym.output.files import remove_leftovers, write_aside, write_text
from stb_gym.output.palette import DASHES, INK, SERIES, Style, colour_of, style_of, styles_of
from stb_gym.output.progress import Progress, expect, tick
from stb_gym.output.reading import check_entries, check_file, from_json, from_toml, is_of, made_of, read_text
from stb_gym.output.table import Column, Table, column, html_table

__all__ = [
    "DASHES", "INK", "SERIES", "Column", "Progress", "Style", "Table", "check_entries", "check_file", "colour_of",
    "column", "escaped", "expect", "from_json", "from_toml", "html_table", "is_of", "made_of", "read_text",
    "reader_may_leave", "refuse", "remove_leftovers", "say", "style_of", "styles_of", "tick", "write_aside",
    "write_text",
]  # fmt: skip
