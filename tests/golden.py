"""The numbers of a smoke run, held by digests of their bytes (golden.json).

python -m tests.golden RESULTS    write golden.json anew, from the results of a smoke run that was
                                  made by the pipeline itself (it holds the kernels)

A change of numbers is a commit of its own that says why.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy

GOLDEN = Path(__file__).with_name("golden.json")
FOLDERS = ("recordings", "demonstrations", "runs", "true_fits")


def content_digest(path: Path) -> str:
    """Of the arrays or columns of a file; what it says of its making does not count."""
    total = hashlib.sha256()
    if path.suffix == ".safetensors":
        for name, array in sorted(safetensors.numpy.load_file(path).items()):
            total.update(f"{name} {array.dtype} {array.shape}".encode())
            total.update(array.tobytes())
    else:
        table = (
            pq.read_table(path, partitioning=None).combine_chunks().replace_schema_metadata(None)
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        total.update(sink.getvalue())
    return total.hexdigest()[:16]


def digests(results: Path) -> dict[str, str]:
    """Of every file of numbers under results/{scale}/, by its path there."""
    return {
        path.relative_to(results).as_posix(): content_digest(path)
        for folder in FOLDERS
        for path in sorted((results / folder).rglob("*"))
        if path.suffix in (".parquet", ".safetensors")
    }


if __name__ == "__main__":
    found = digests(Path(sys.argv[1]))
    GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    print(f"{len(found)} files")
