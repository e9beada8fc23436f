"""What is compiled? Everything else is said in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

GLANCE = Path("src/periplus/parse/glance")
TEXT = Path("src/periplus/text")

setup(
    ext_modules=[
        Extension(
            "periplus.parse.glance.page",
            [str(GLANCE / "page.pyx")],
            depends=[str(part) for part in GLANCE.glob("*.pxi")],
            optional=True,  # without a compiler, trees do the same work in more time
        ),
        Extension(
            "periplus.text.words.table",
            [str(TEXT / "words" / "table.pyx")],
            optional=True,  # without a compiler, plain Python does the same work in more time
        ),
        Extension("periplus.text.code_scan", [str(TEXT / "code_scan.pyx")], optional=True),
    ]
)
