"""The compiled word table has no memory error and no undefined behaviour on any text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from periplus.text import words

SOURCE = Path(words.__file__).with_name("table.c")  # left by the build
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
SPLIT_ALL = """
import importlib.util, random, sys
found = importlib.util.spec_from_file_location("periplus.text.words.table", sys.argv[1])
table = importlib.util.module_from_spec(found)
found.loader.exec_module(table)
from periplus.text.words.plain import WordTable
chooser = random.Random(1)
def text():
    highest = chooser.choice([0x7F, 0x24F, 0xFFFF, 0x10FFFF])
    spaces = " " * chooser.choice([1, 100])
    length = chooser.choice([0, 5, 60, 400])
    return "".join(chooser.choice([chr(chooser.randrange(highest + 1)), spaces, "x" * 60]) for _ in range(length))
for _ in range(30):
    limit, opening, most = chooser.choice([3, 10**6]), chooser.randrange(9), chooser.choice([1, 10, 10**6])
    tables = table.WordTable(limit), WordTable(limit)
    for _ in range(100):
        fields = [[text() for _ in range(chooser.randrange(3))] for _ in range(5)] + [[text()]]
        one, other = (kind.add(fields, 3, opening, most) for kind in tables)
        assert one == other
    for name in ("words", "counts", "documents", "languages", "language"):
        assert getattr(tables[0], name)() == getattr(tables[1], name)()
"""


@pytest.mark.long
@pytest.mark.skipif(
    not (SOURCE.exists() and shutil.which("gcc")), reason="there is no gcc, or no source that Cython left"
)
def test_texts_of_all_characters_under_sanitizers(tmp_path: Path) -> None:
    built = tmp_path / "table.so"
    include = sysconfig.get_paths()["include"]
    arguments = ["gcc", "-O1", "-g", "-w", "-shared", "-fPIC", *CHECKS, f"-I{include}", str(SOURCE), "-o", str(built)]
    subprocess.run(arguments, check=True)
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": library.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter frees nothing at its end
        "PYTHONMALLOC": "malloc",  # so that every object has an end of its own
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run(
        [sys.executable, "-c", SPLIT_ALL, built], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-5_000:]
