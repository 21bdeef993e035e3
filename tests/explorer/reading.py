"""Read the data of a page without the code that packs it, and make trainings for pages."""

import base64
import json
import re
import zlib

import numpy as np

from stb_gym.measure import save_policies, save_policy

DATA = re.compile(r'<script type="application/octet-stream" id="data">([^<]+)</script>')


def unpacked(text):
    """Return the facts and the arrays of a packed text."""
    raw = zlib.decompress(base64.b64decode(text))
    body = 4 + int.from_bytes(raw[:4], "little")
    facts = json.loads(raw[4:body])
    arrays = {
        name: np.frombuffer(raw, np.dtype(kind).newbyteorder("<"), count, body + first)
        for name, (kind, first, count) in facts.pop("arrays").items()
    }
    return facts, arrays


def contents_of(page):
    """Return the JSON and the arrays of a page."""
    [data] = DATA.findall(page)
    return unpacked(data)


def make_run(folder, game, policies, objective="score", illegal="raise"):
    """Write and return the folder of a training that measured these policies after 0, 1,000, 2,000 ... steps."""
    folder.mkdir()
    save_policies(folder / "policies.npz", game, {1000 * at: policy for at, policy in enumerate(policies)})
    save_policy(folder / "policy.npz", game, policies[-1], illegal, objective=objective)
    return folder
