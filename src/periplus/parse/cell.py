"""What runs inside the fence?

One document comes in through standard input, what it says goes out through standard output, and so on until the input
ends. Each message is its length in four bytes, and then the bytes. Run as ``python -m periplus.parse.cell MEMORY``.
"""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import asdict
from typing import BinaryIO

import orjson

from periplus.model import Reason
from periplus.parse.fence import shut
from periplus.parse.paper import LENGTH
from periplus.parse.pdf import UnreadableError, read_pdf

# Read before the fence is shut, because codecs and modules are loaded when they are first needed.
_REHEARSAL = rb"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/Lang(en)/Outlines 6 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 99 99]
/A<</S/URI/URI(http://a/)>> >>]/Resources<</Font<</F 5 0 R>> >> >> endobj
4 0 obj <</Length 36>> stream
BT /F 9 Tf 9 9 Td (All aboard) Tj ET
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
6 0 obj <</First 7 0 R/Last 7 0 R/Count 1>> endobj
7 0 obj <</Title(Deck)/Parent 6 0 R>> endobj
8 0 obj <</Title(Rehearsal)/CreationDate(D:20200101)>> endobj
trailer <</Root 1 0 R/Info 8 0 R>>"""


def serve(documents: BinaryIO, answers: BinaryIO, memory: int) -> None:
    """Fence this process in, say how well, and read documents until there are no more."""
    logging.disable()  # libraries warn about every oddity of a document, to an output that nobody reads
    _read(_REHEARSAL)
    _send(answers, {"fenced": shut(memory)})
    while size := documents.read(LENGTH.size):
        body = documents.read(*LENGTH.unpack(size))
        _send(answers, _read(body))


def _read(body: bytes) -> dict[str, object]:
    try:
        answer: dict[str, object] = {"paper": asdict(read_pdf(body))}
    except UnreadableError as error:
        answer = {"reason": error.reason, "detail": error.detail}
    except MemoryError:
        answer = {"reason": Reason.PARSE_MEMORY, "detail": "it needs more memory than it may have"}
    except Exception as error:
        answer = {"reason": Reason.PARSE_CRASH, "detail": f"its reader failed: {type(error).__name__}"}
    return answer | {"seconds": time.process_time()}  # of processor time, of this process so far


def _send(answers: BinaryIO, answer: dict[str, object]) -> None:
    message = orjson.dumps(answer)
    answers.write(LENGTH.pack(len(message)) + message)
    answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, int(sys.argv[1]))
