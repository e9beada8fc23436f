"""The compiled scanner has no memory error and no undefined behaviour on any page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from periplus.parse import glance

SOURCE = Path(glance.__file__).with_name("page.c")  # left by the build
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
READ_ALL = """
import importlib.util, sys
from parse.markup import page_at_random
from parse.mutation import mutations, pages
import random
found = importlib.util.spec_from_file_location("periplus.parse.glance.page", sys.argv[1])
page = importlib.util.module_from_spec(found)
found.loader.exec_module(page)
chooser, seen = random.Random(1), 0
def documents():
    for number in range(200_000):
        yield page_at_random(chooser).encode() * (1 if number % 50 else 400)
    yield from mutations(pages(), 1, 50_000)
for document in documents():
    for cut in (document, document[: chooser.randrange(len(document) + 1)]):
        what = page.glance(cut)
        if what is not None:
            seen += 1
            what.to_text(), what.root.attr("lang"), what.links(), what.headings()
            for element in what.elements():
                element.attr("href"), element.attr("content"), element.is_in_head
                _ = element.tag == "title" and element.text
print(seen)
"""


@pytest.mark.long
@pytest.mark.skipif(
    not (SOURCE.exists() and shutil.which("gcc")), reason="there is no gcc, or no source that Cython left"
)
def test_half_a_million_damaged_pages_under_sanitizers(tmp_path: Path) -> None:
    built = tmp_path / "page.so"
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
        [sys.executable, "-c", READ_ALL, built], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-5_000:]
    assert int(run.stdout) > 100_000, "most should be seen"
