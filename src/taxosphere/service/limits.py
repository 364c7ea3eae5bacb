"""How much a client may ask for at once: every bound of the service in one place."""

from __future__ import annotations

BODY_BYTES = 1 << 20
UPLOAD_BYTES = 24 << 20
"""Body of an import; a file in base64 is a third larger than itself."""
FILE_BYTES = 16 << 20
UNPACKED_BYTES = 200 << 20
"""Decompressed size of a spreadsheet."""
UNPACKED_RATIO = 200
BODY_SECONDS = 30.0
"""Time that a body may take to arrive."""
BATCH = 256
"""Concepts in one request for suggestions."""
WAITING_CONCEPTS = 4096
"""Concepts that may wait for suggestions, of all requests together."""
SUGGEST_SECONDS = 30.0
"""Time after which a request for suggestions is given up."""
NAME = 500
TEXT = 20_000
SYNONYMS = 200
PARENTS = 50
CHILDREN = 500
NOTE = 4_000
PAGE = 500
LIST_ROWS = 200_000
"""Concepts in one import."""
LISTENERS = 400
"""Open streams of live events."""
QUERY = 2_000
"""Length of a search text."""
RECONCILE_QUERIES = 50
EXTEND_IDS = 500
DEPTH = 40
"""Nesting of a JSON body."""
