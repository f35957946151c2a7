"""What is known of names where a test is about them."""

import ast

from .reading import Reading
from .values import UNKNOWN, Value


def guarded(reading: Reading, test: ast.expr) -> "_Guard":
    """Know less about the names that a test is about, while the code is read that it guards."""
    return _Guard(reading, test)


class _Guard:
    def __init__(self, reading: Reading, test: ast.expr) -> None:
        self._reading = reading
        self._test = test
        self._scope = reading.scope
        self._before: dict[str, Value] = {}

    def __enter__(self) -> None:
        names = self._scope.names
        for node in ast.walk(self._test):
            if isinstance(node, ast.Name) and node.id in names and _may_be_other(names[node.id], self._test):
                self._before[node.id] = names[node.id]
                names[node.id] = UNKNOWN

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if self._scope.names.get(name) is UNKNOWN:
                self._scope.names[name] = value


def _may_be_other(value: Value, test: ast.expr) -> bool:
    if value.is_it and value.thing is None:
        return True
    return any(
        isinstance(node, ast.Name)
        and node.id in ("isinstance", "hasattr", "type", "callable", "issubclass", "len")
        for node in ast.walk(test)
    )
