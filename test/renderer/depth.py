"""A hook of pytest: what is marked ``deep`` or ``sampled`` runs in the deep suite only, or in part.

``@pytest.mark.sampled(8)`` runs one of eight cases in the quick suite and all in the deep one, and
``@pytest.mark.sampled(8, deep=2)`` one of two in the deep suite, others on each day, and all before a
release.
"""

import os
import time
from collections import Counter

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another suite runs."""
    level = os.environ.get("SCENEPRESS_TESTS", "quick")
    if level == "release":
        return
    today = int(time.time() / 86_400) if level == "deep" else 0
    left: list[pytest.Item] = []
    cases: Counter[str] = Counter()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        name = item.nodeid.partition("[")[0]
        one_of = 1
        if sampled is not None:
            one_of = sampled.args[0] if level == "quick" else sampled.kwargs.get("deep", 1)
        if (level == "deep" or not item.get_closest_marker("deep")) and (cases[name] + today) % one_of == 0:
            left.append(item)
        cases[name] += 1
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = left
