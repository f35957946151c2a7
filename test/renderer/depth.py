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
    left: list[pytest.Item] = []
    cases: Counter[str] = Counter()
    for item in items:
        name = item.nodeid.partition("[")[0]
        case = cases[name]
        cases[name] += 1
        is_quick = _is_quick(item, case)
        runs = {"quick": is_quick, "rest": _is_deep(item, case) and not is_quick}
        if runs.get(level, _is_deep(item, case)):
            left.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = left


def _is_quick(item: pytest.Item, case: int) -> bool:
    sampled = item.get_closest_marker("sampled")
    return not item.get_closest_marker("deep") and (sampled is None or case % sampled.args[0] == 0)


def _is_deep(item: pytest.Item, case: int) -> bool:
    sampled = item.get_closest_marker("sampled")
    one_of = 1 if sampled is None else sampled.kwargs.get("deep", 1)
    return bool((case + int(time.time() / 86_400)) % one_of == 0)
