"""Facts and arrays as one text that a page unpacks without a library.

The text is base64 of what zlib makes of: the length of a header (4 bytes, lowest first), the header, and the arrays one
after the other. The header is JSON: the facts, and under "arrays" the type, the first byte and the length of each.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNED = 8  # every array begins at a multiple of this, as its reader wants it


def pack(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Pack facts that JSON can say and arrays, each in the smallest type that holds its numbers.

    Args:
        facts: what is known by name.
        arrays: of any shape; read by rows.
    """
    placed, body = {}, bytearray()
    for name, array in arrays.items():
        small = smallest(array)
        placed[name] = [small.dtype.name, len(body), small.size]
        body += small.tobytes()
        body += bytes(-len(body) % ALIGNED)
    header = json.dumps({**facts, "arrays": placed}, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % ALIGNED)
    return base64.b64encode(zlib.compress(len(header).to_bytes(4, "little") + header + body, 9)).decode()


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest type of integers that holds them, lowest byte first; floats as they are.

    >>> smallest(np.array([3, 700])).dtype.name, smallest(np.array([-1, 2])).dtype.name
    ('uint16', 'int8')
    """
    array = np.asarray(array)
    if array.dtype.kind == "f":
        return array.astype(f"<f{array.dtype.itemsize}")
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    kind = np.min_scalar_type(min(low, -1 - high) if low < 0 else high)
    return array.astype(kind.newbyteorder("<"))
