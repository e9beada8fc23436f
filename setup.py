"""What is compiled? Everything else is said in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

GLANCE = Path("src/periplus/parse/glance")
WORDS = Path("src/periplus/text/words")

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
            [str(WORDS / "table.pyx")],
            optional=True,  # without a compiler, plain Python does the same work in more time
        ),
    ]
)
