"""What has to be true before any test is loaded?"""

from __future__ import annotations

import signal
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the library warns about shims of its own at import
    import fastwarc as fastwarc

# A shell starts background jobs with SIGINT ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
