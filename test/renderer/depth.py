"""A hook of pytest: what is marked ``deep`` or ``sampled`` runs in the deep suite only, or in part."""

import os
from collections import Counter

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the deep suite runs."""
    if os.environ.get("SCENEPRESS_TESTS") == "deep":
        return
    left: list[pytest.Item] = []
    cases: Counter[str] = Counter()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        name = item.nodeid.partition("[")[0]
        if not item.get_closest_marker("deep") and (sampled is None or cases[name] % sampled.args[0] == 0):
            left.append(item)
        cases[name] += 1
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = left
