"""Everything that is in an object store, as files with the names that they have in a collection."""

from __future__ import annotations

import json
from pathlib import Path

from periplus.store.objects.open_store import open_store


def download_everything(bucket: str, folder: Path) -> Path:
    """Download all objects; files of generations also get their names, so that their content can be decoded."""
    store = open_store(bucket)
    names = [facts.name for facts in store.list("")]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        store.get_file(name, folder / name)
    for kind in ("ranks", "index"):
        for meta in folder.glob(f"{kind}/gen-*/meta-*.json"):
            for name, described in json.loads(meta.read_bytes())["files"].items():
                digest = described["digest"] if isinstance(described, dict) else described[1]
                named = folder / "named" / kind / meta.parent.name / name
                named.parent.mkdir(parents=True, exist_ok=True)
                named.write_bytes((folder / kind / "files" / digest).read_bytes())
    return folder
