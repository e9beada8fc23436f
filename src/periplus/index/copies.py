"""Which pages of a generation nearly repeat another one?"""

from __future__ import annotations

from pathlib import Path

from pyarrow import compute as pc
from pyarrow import dataset

from periplus.model import Copy

NEAR_COPIES = "near.parquet"  # a file beside the index: url, original, bits


def near_copy(generation: Path, url: str) -> Copy | None:
    """The page that a URL is folded into, if it is; generations of earlier releases fold none."""
    path = generation / NEAR_COPIES
    if not path.exists():
        return None
    found = dataset.dataset(path).to_table(filter=pc.field("url") == url).to_pylist()
    return Copy(found[0]["url"], found[0]["original"], found[0]["bits"]) if found else None
