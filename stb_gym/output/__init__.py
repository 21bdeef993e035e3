"""Files and text: what the library writes and prints. Nothing here knows a game.

- `files`: files that are written whole or not at all, and files that are checked when they are read.
- `text`: lines, tables, errors and progress.
"""

from stb_gym.output.files import (
    check_entries, check_file, from_json, from_toml, is_of, made_of, read_text, remove_leftovers, write_aside,
    write_text,
)  # fmt: skip
from stb_gym.output.text import (
    Column, Progress, Table, column, escaped, html_table, reader_may_leave, refuse, say,
)  # fmt: skip

__all__ = [
    "Column", "Progress", "Table", "check_entries", "check_file", "column", "escaped", "from_json", "from_toml",
    "html_table", "is_of", "made_of", "read_text", "reader_may_leave", "refuse", "remove_leftovers", "say",
    "write_aside", "write_text",
]  # fmt: skip
