"""Let visitors of the site install its games, and play without a network those that they have opened."""

import re
import shutil
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).parent
REGISTER = (HERE / "register.html").read_text()
POLICY = "img-src data:"  # the end of the content security policy of a page


def installable(page: str, root: str) -> str:
    """Let a page register the service worker of the site, which lies at `root`, such as "../"."""
    page = page.replace(POLICY, f"{POLICY} 'self'; manifest-src 'self'; worker-src 'self'", 1)
    return page.replace("</head>", f"{REGISTER.replace('ROOT', root)}</head>", 1)


def write_worker(site: Path, page: str) -> None:
    """Write the service worker, the manifest, and the icon of a page as a file."""
    for name in ("worker.js", "site.webmanifest"):
        shutil.copy(HERE / name, site)
    [icon] = re.findall('<link rel="icon" href="data:image/svg\\+xml,(.*?)">', page)
    (site / "icon.svg").write_text(unquote(icon), encoding="utf-8")
