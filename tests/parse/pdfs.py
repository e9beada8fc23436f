"""Small hand-written PDFs; PDFium needs no cross-reference table."""

from __future__ import annotations

import zlib


def pdf(*sheets: str, info: str = "", catalog: str = "", extra: str = "", annotations: str = "") -> bytes:
    """A document with one page per text, line by line, in 10-point type.

    A line that starts with ``#`` is set in 24-point type.
    """
    kids = " ".join(f"{10 + 2 * number} 0 R" for number in range(len(sheets)))
    parts = [
        "%PDF-1.7",
        f"1 0 obj <</Type/Catalog/Pages 2 0 R{catalog}>> endobj",
        f"2 0 obj <</Type/Pages/Kids[{kids}]/Count {len(sheets)}>> endobj",
        "3 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj",
        f"4 0 obj <<{info}>> endobj",
        extra,
    ]
    for number, text in enumerate(sheets):
        sheet = 10 + 2 * number
        parts.append(
            f"{sheet} 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {sheet + 1} 0 R"
            f"/Resources<</Font<</F 3 0 R>> >>/Annots[{annotations if number == 0 else ''}]>> endobj"
        )
        parts.append(_stream(sheet + 1, _set(text).encode("latin-1")))
    parts.append("trailer <</Root 1 0 R/Info 4 0 R>>")
    return "\n".join(parts).encode("latin-1")


def _set(text: str) -> str:
    lines = []
    for number, line in enumerate(text.split("\n")):
        size = 24 if line.startswith("#") else 10
        shown = line.removeprefix("#").replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        lines.append(f"BT /F {size} Tf 20 {760 - 30 * number} Td ({shown}) Tj ET")
    return "\n".join(lines)


def _stream(number: int, content: bytes, entries: str = "") -> str:
    return f"{number} 0 obj <</Length {len(content)}{entries}>> stream\n{content.decode('latin-1')}\nendstream endobj"


def bomb(operations: bytes, times: int) -> bytes:
    """A page whose content decompresses to *operations*, repeated *times* times."""
    packer = zlib.compressobj(9)
    block = operations * 10_000
    content = b"".join(packer.compress(block) for _ in range(times // 10_000)) + packer.flush()
    head = (
        "%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n"
        "3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>> >> >> endobj\n5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\n"
    )
    stream = _stream(4, content, "/Filter/FlateDecode")
    return (head + stream + "\ntrailer <</Root 1 0 R>>").encode("latin-1")
