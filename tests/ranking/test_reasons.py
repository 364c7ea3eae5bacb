"""Every reason a suggestion may give is explained, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

from support.meadow import Fitted
from taxosphere import Concept
from taxosphere.ranking.crossfit import encode_queries
from taxosphere.ranking.features.compute import FAMILIES
from taxosphere.ranking.features.shortlist import shortlist
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE

PAGE = Path(__file__).parents[2] / "docs" / "method" / "signs.md"


def test_the_page_explains_all_signs(fitted: Fitted, strangers: list[Concept]) -> None:
    encoded = encode_queries(fitted.network, strangers, fitted.views(strangers))
    signs = shortlist(fitted.context, encoded, FAMILIES, DEFAULT_FIRST_STAGE).names
    explained = re.findall(r"^\| (.+?) \| .+ \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(name for name in explained if name != "sign") == sorted(signs)
