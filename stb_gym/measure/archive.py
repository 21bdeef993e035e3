"""Arrays of an .npz file of which nothing is believed: none is executed, and none is larger than was asked for.

`numpy.load` makes room for whatever size a file states, and unpacks it whole; here both are looked at first.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 2**28  # bytes of a file, and of an array in it
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # as NumPy packs; others unpack at a stroke, however large


def read_array(path: Path, name: str, largest: int) -> NDArray[Any] | None:
    """Read one array of numbers or text.

    Args:
        path: the file.
        name: of the array in it.
        largest: the most bytes that it may have.

    Returns:
        The array; None if the file has none of this name.

    Raises:
        Exception: of almost any kind, if the file is damaged, the array is larger, or it holds Python objects.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no file, and may have no end")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path} is larger than {LARGEST:,} bytes")
    with zipfile.ZipFile(path) as archive:
        if f"{name}.npy" not in archive.namelist():
            return None
        entry = archive.getinfo(f"{name}.npy")
        if entry.compress_type not in PACKED:
            raise ValueError(f"{name} is not packed as NumPy packs arrays")
        with archive.open(entry) as file:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError(f"{name} is not of the first version of the format, as small arrays are")
            shape, by_columns, kind = np.lib.format.read_array_header_1_0(file)
            count = int(np.prod(shape, dtype=object))
            if kind.kind not in "iufU" or not 0 <= count * kind.itemsize <= largest:
                raise ValueError(f"{name} is {count:,} x {kind}, not at most {largest:,} bytes of numbers or text")
            data = bytearray(file.read(count * kind.itemsize))
            return np.frombuffer(data, kind, count).reshape(shape, order="F" if by_columns else "C")
