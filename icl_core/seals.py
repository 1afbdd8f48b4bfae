"""A file that is ours carries a digest of its own bytes: no damage goes unnoticed.

The writer puts `BLANK` where the format has room for a text: a Parquet file's metadata, the header
of safetensors, a key of JSON. `sealed` replaces it by the SHA-256 of all bytes, itself left blank.
"""

from __future__ import annotations

import hashlib
import re

_MARK = b"icl-sha256:"
BLANK = f"{_MARK.decode()}{'0' * 64}"
_SEAL = re.compile(re.escape(_MARK) + rb"[0-9a-f]{64}")


def sealed(content: bytes) -> bytes:
    """The content with its seal in place of the blank one.

    >>> is_whole(sealed(f"one {BLANK}".encode())), is_whole(b"no seal")
    (True, None)
    """
    blank = BLANK.encode()
    if content.count(blank) != 1:
        raise ValueError(f"expected one blank seal, found {content.count(blank)}")
    return content.replace(blank, _MARK + hashlib.sha256(content).hexdigest().encode())


def is_whole(content: bytes) -> bool | None:
    """Whether the content is what was sealed; None where it carries no seal."""
    found = _SEAL.search(content)
    if found is None:
        return None
    total, view = hashlib.sha256(), memoryview(content)
    for part in (view[: found.start()], BLANK.encode(), view[found.end() :]):
        total.update(part)
    return found[0] == _MARK + total.hexdigest().encode()
