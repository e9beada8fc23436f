"""Joins tantivy indexes with the same schema by their files, without reading a document.

A segment of tantivy is a set of files that never change, with a random id as name; `meta.json` lists the segments. So a
joined index has links to the files of all, and their segments in one list. Frequencies count over all segments, so
scores are those of one index. The format of `meta.json` is not documented: the version of tantivy is pinned, and
`tests/index/partitions/test_graft.py` notices a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from periplus.errors import DamagedFile
from periplus.store.generations import link

META = "meta.json"
MANAGED = ".managed.json"  # the files that tantivy may delete when no segment uses them any more
_OWN = frozenset({META, MANAGED})


def graft(folders: Sequence[Path], target: Path) -> None:
    """Add the documents of tantivy indexes to the one in *target*, or make it there; no process has any of them open.

    Without documents to add, *target* stays as it is.
    """
    known = [target, *folders] if (target / META).exists() else list(folders)
    metas = [_read(folder / META) for folder in known]
    for folder, meta in zip(known[1:], metas[1:], strict=True):
        if any(meta[name] != metas[0][name] for name in ("schema", "index_settings")):
            raise DamagedFile(f"{folder} cannot be joined", "its fields are not those of the first partition")
    target.mkdir(exist_ok=True)
    for folder in folders:
        for path in folder.iterdir():
            if path.name not in _OWN and path.suffix != ".lock":
                link(path, target / path.name)
    joined = metas[0] | {
        "segments": [segment for meta in metas for segment in meta["segments"]],
        "opstamp": max(meta["opstamp"] for meta in metas),
    }
    names = sorted(path.name for path in target.iterdir() if path.name not in _OWN and path.suffix != ".lock")
    (target / MANAGED).write_bytes(orjson.dumps([*names, META]))
    (target / META).write_bytes(orjson.dumps(joined))


def _read(path: Path) -> dict[str, Any]:
    try:
        meta = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    if not isinstance(meta, dict) or not {"segments", "schema", "opstamp", "index_settings"} <= meta.keys():
        raise DamagedFile(f"{path} is damaged", "it does not list segments")
    return meta
