from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from periplus.errors import PeriplusError, StorageUnavailable, UsageError
from periplus.store.objects.open_store import open_store


@pytest.mark.parametrize(
    "url", ["", "bucket", "s3://", "http://example.org/", "file://", "file://host/folder", "s3://b/?q", "s3://key@b/"]
)
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"is not the address of an object store.*s3://BUCKET/PREFIX"):
        open_store(url)


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "periplus.store.objects.s3_store", raising=False)
    with pytest.raises(PeriplusError, match=r"pip install 'periplus\[s3\]'"):
        open_store("s3://bucket")


def test_a_folder_that_is_not_mounted_is_not_created(tmp_path: Path) -> None:
    store = open_store(f"file://{tmp_path}/missing")
    for act in (lambda: store.put("a", b""), lambda: store.get("a"), lambda: store.put_if("a", b"", None)):
        with pytest.raises(StorageUnavailable, match="there is no such folder"):
            act()
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("name", ["../outside", "a/../../b", "/etc/passwd", "a//b", "."])
def test_an_object_of_a_folder_stays_inside_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    store = open_store(f"file://{tmp_path}/objects")
    with pytest.raises(UsageError):
        store.put(name, b"")


def test_one_machine_does_not_load_the_library() -> None:
    program = (
        "import sys, periplus.crawl.workers.worker_process, periplus.index.build, periplus.cli.commands.serve; "
        "sys.exit('obstore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
