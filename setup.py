"""What is compiled? Everything else is said in pyproject.toml."""

from setuptools import Extension, setup

GLANCE = "src/periplus/parse/glance"

setup(
    ext_modules=[
        Extension(
            "periplus.parse.glance.page",
            [f"{GLANCE}/page.pyx"],
            depends=[f"{GLANCE}/{part}.pxi" for part in ("characters", "references", "tags")],
            optional=True,  # without a compiler, trees do the same work in more time
        )
    ]
)
