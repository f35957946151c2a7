"""Converts the paths of SVG files to points faster than svgelements and Manim, with the same results.

The outlines of characters occur again and again. Each is parsed once; later only its place is
computed, for all points together. Before other code accesses a path, it becomes an ordinary one.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import svgelements
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from svgelements import Close, CubicBezier, Line, Matrix, Move, Path, QuadraticBezier

from ..replacing import add, replace

_OUTLINES_MAX = 4096
# Manim draws no line at the end of a closed path that is shorter than this.
_NO_LINE = 0.0001
_SMALL = 1e5

# A command's kind and points.
_Command = tuple[Any, ...]
_TOKENS = re.compile(r"[MLHVCSQTZ]|-?(?:\d+\.?\d*|\.\d+)", re.ASCII)
_OPERANDS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "Z": 0}
_KINDS = {"M": "M", "L": "L", "H": "L", "V": "L", "C": "C", "S": "C", "Q": "Q", "T": "Q"}

_parse = Path.parse
_reify = Path.reify
_approximate_arcs = Path.approximate_arcs_with_quads
_handle_commands = VMobjectFromSVGPath.handle_commands


def place_directly() -> None:
    """Replace the parts of svgelements and Manim."""
    add(Path, _segments=property(_segments, _set_segments))
    replace(Path, parse=_parse_once, reify=_reify_later, approximate_arcs_with_quads=_approximate_arcs_if_any)
    replace(VMobjectFromSVGPath, handle_commands=_place_outline)


@dataclass(frozen=True)
class Outline:
    """A path of lines and curves, as indices of its points."""

    data: str
    points: npt.NDArray[np.float64]
    """All points in their order, shape (n, 2)."""
    own_rows: npt.NDArray[np.intp]
    """The rows of the mobject's points that are points of the path: `own_points`."""
    own_points: npt.NDArray[np.intp]
    mean_rows: npt.NDArray[np.intp]
    """The rows that are the mean of three points of the path: `mean_points`, shape (3, n)."""
    mean_points: npt.NDArray[np.intp]
    ends: npt.NDArray[np.intp]
    """For each closing command its last point and the first of its part, shape (2, n)."""
    is_line: npt.NDArray[np.bool_]
    """Whether these are connected by a line."""
    is_certain: bool
    """Whether they also are where the path is moved to."""


@lru_cache(_OUTLINES_MAX)
def outline_of(data: str) -> Outline | None:
    """Return the outline of path data; None if it isn't made of moves, lines and Bézier curves."""
    commands = _commands_of(data)
    if commands is None:
        return None
    points: list[tuple[float, float]] = []
    rows: list[tuple[int, ...]] = []
    ends: list[tuple[int, int]] = []
    is_line: list[bool] = []
    last = first = -1

    def add(point: tuple[float, float]) -> int:
        points.append(point)
        return len(points) - 1

    def line_to(end: int) -> None:
        rows.extend([(last,), (last, last, end), (last, end, end), (end,)])

    for kind, *given in commands:
        if kind == "M":
            last = first = add(given[0])
            continue
        if last < 0:
            return None  # it doesn't begin with a move
        if kind == "L":
            end = add(given[0])
            line_to(end)
        elif kind == "Q":
            control, end = add(given[0]), add(given[1])
            rows.extend([(last,), (last, control, control), (control, control, end), (end,)])
        elif kind == "C":
            controls = add(given[0]), add(given[1])
            end = add(given[2])
            rows.extend([(last,), (controls[0],), (controls[1],), (end,)])
        else:
            ends.append((last, first))
            end = last
            is_line.append(_distance(points[last], points[first]) > _NO_LINE)
            if is_line[-1]:
                line_to(first)
                end = first
        last = end
    distances = _distances(np.array(points).reshape(-1, 2), np.array(ends, dtype=np.intp).reshape(-1, 2).T)
    own, mean = ([number for number, row in enumerate(rows) if len(row) == count] for count in (1, 3))
    return Outline(
        data=data,
        points=np.array(points, dtype=np.float64).reshape(-1, 2),
        own_rows=np.array(own, dtype=np.intp),
        own_points=np.array([rows[number][0] for number in own], dtype=np.intp),
        mean_rows=np.array(mean, dtype=np.intp),
        mean_points=np.array([rows[number] for number in mean], dtype=np.intp).reshape(-1, 3).T,
        ends=np.array(ends, dtype=np.intp).reshape(-1, 2).T,
        is_line=np.array(is_line, dtype=np.bool_),
        is_certain=bool(np.all((distances == 0) | (distances > 2 * _NO_LINE)) and _are_small(points)),
    )


def _are_small(numbers: Any) -> bool:
    """Whether the distances of such points hardly change when they are moved."""
    return bool(np.all(np.abs(numbers) < _SMALL))


def _commands_of(data: str) -> list[_Command] | None:
    """Return the moves, lines and Bézier curves of path data, in absolute points; None if it has others."""
    quickly = _read_commands(data)
    if quickly is not None:
        return quickly
    path = Path()
    _parse(path, data)
    commands: list[_Command] = []
    for segment in path:
        kind = type(segment)
        if kind is Move:
            commands.append(("M", _pair(segment.end)))
        elif kind is Line:
            commands.append(("L", _pair(segment.end)))
        elif kind is QuadraticBezier:
            commands.append(("Q", _pair(segment.control), _pair(segment.end)))
        elif kind is CubicBezier:
            commands.append(("C", _pair(segment.control1), _pair(segment.control2), _pair(segment.end)))
        elif kind is Close:
            commands.append(("Z",))
        else:
            return None
    return commands


def _pair(point: Any) -> tuple[float, float]:
    return point.x, point.y


def _read_commands(data: str) -> list[_Command] | None:
    """Read path data as dvisvgm writes it; None if svgelements must."""
    commands: list[_Command] = []
    numbers: list[float] = []
    name = "Z"
    control: tuple[float, float] | None = None  # the last one of the previous curve
    x = y = 0.0
    tokens = _TOKENS.findall(data)
    if sum(map(len, tokens)) != len(data) - data.count(" "):
        return None
    for token in tokens:
        if token not in _OPERANDS:
            numbers.append(float(token))
            if len(numbers) < _OPERANDS[name]:
                continue
            if not _OPERANDS[name]:
                return None
            if name == "H":
                numbers = [numbers[0], y]
            elif name == "V":
                numbers = [x, numbers[0]]
            elif name in "ST":
                reflected = (x, y) if control is None else (x + (x - control[0]), y + (y - control[1]))
                numbers[:0] = reflected
            points = list(zip(numbers[::2], numbers[1::2], strict=True))
            numbers = []
            commands.append((_KINDS[name], *points))
            control = points[-2] if len(points) > 1 else None
            x, y = points[-1]
            if name == "M":
                name = "L"  # further points are lines
            continue
        # After the end of a part, another one must begin with a move.
        if numbers or (name == "Z" and token != "M"):
            return None
        name = token
        if name == "Z":
            commands.append(("Z",))
    return None if numbers else commands


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    return float(_distances(np.array([one, other]), np.array([[0], [1]]))[0])


def _distances(points: npt.NDArray[np.float64], ends: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    between: npt.NDArray[np.float64] = points[ends[0]] - points[ends[1]]
    return np.sqrt(between[:, 0] ** 2 + between[:, 1] ** 2)


def _segments(self: Path) -> list[Any]:
    """Return the segments, which are made at the first use."""
    outline: Outline | None = self.__dict__.pop("_outline", None)
    segments: list[Any] = self.__dict__["_segments"]
    if outline is not None:
        _parse(self, outline.data)
        matrix = self.__dict__.pop("_matrix", None)
        if matrix is not None:
            for segment in segments:
                segment *= matrix
    return segments


def _set_segments(self: Path, segments: list[Any]) -> None:
    self.__dict__.pop("_outline", None)
    self.__dict__.pop("_matrix", None)
    self.__dict__["_segments"] = segments


def _parse_once(self: Path, data: Any) -> None:
    outline = outline_of(data) if isinstance(data, str) and not self._segments else None
    if outline is None:
        _parse(self, data)
    else:
        self.__dict__["_outline"] = outline


def _reify_later(self: Path) -> Path:
    if "_outline" not in self.__dict__ or "_matrix" in self.__dict__:
        return _reify(self)
    svgelements.GraphicObject.reify(self)
    svgelements.Transformable.reify(self)
    if isinstance(self.transform, Matrix):
        self.__dict__["_matrix"] = Matrix(self.transform)
    self.transform.reset()
    return self


def _approximate_arcs_if_any(self: Path, error: float = 0.1) -> None:
    if "_outline" not in self.__dict__:
        _approximate_arcs(self, error)


def _place_outline(self: VMobjectFromSVGPath) -> VMobjectFromSVGPath:
    """Compute the points of the mobject."""
    outline: Outline | None = self.path_obj.__dict__.get("_outline")
    if outline is None or self.n_points_per_curve != 4:
        return _handle_commands(self)
    points = points_of(outline, self.path_obj.__dict__.get("_matrix"))
    if points is None:
        return _handle_commands(self)
    self.points = points
    return self


def points_of(outline: Outline, matrix: Matrix | None) -> npt.NDArray[np.float64] | None:
    """Return the points of a mobject with an outline; None if Manim must compute them."""
    points = outline.points
    if matrix is not None and _is_move(matrix):
        points = points + np.array((matrix.e, matrix.f))
    elif matrix is not None:
        x, y = points.T
        # In the order of svgelements, so that the results are rounded identically.
        points = np.stack(
            [x * matrix.a + y * matrix.c + matrix.e, x * matrix.b + y * matrix.d + matrix.f], axis=1
        )
    is_certain = outline.is_certain and (matrix is None or _is_move(matrix))
    if not is_certain and np.any((_distances(points, outline.ends) > _NO_LINE) != outline.is_line):
        return None
    placed = np.zeros((len(outline.own_rows) + len(outline.mean_rows), 3))
    placed[outline.own_rows, :2] = points[outline.own_points]
    one, two, three = outline.mean_points
    placed[outline.mean_rows, :2] = (points[one] + points[two] + points[three]) / 3
    return placed


def _is_move(matrix: Matrix) -> bool:
    """Whether this moves points in both directions, not far, so that zeros that it adds change nothing."""
    linear = matrix.a, matrix.b, matrix.c, matrix.d
    return linear == (1.0, 0.0, 0.0, 1.0) and 0 < abs(matrix.e) < _SMALL and 0 < abs(matrix.f) < _SMALL


def points_of_moved(outlines: list[Outline], matrices: list[Matrix]) -> list[npt.NDArray[np.float64]] | None:
    """Return what `points_of` does for each of several outlines, all computed at once; None if it has to."""
    if not all(outline.is_certain for outline in outlines) or not all(map(_is_move, matrices)):
        return None
    places = np.array([(matrix.e, matrix.f) for matrix in matrices])
    counts = [len(outline.points) for outline in outlines]
    points = np.concatenate([outline.points for outline in outlines]) + np.repeat(places, counts, axis=0)
    sizes = [len(outline.own_rows) + len(outline.mean_rows) for outline in outlines]
    ends = np.cumsum(sizes)
    placed = np.zeros((ends[-1], 3))
    first_points: Any = np.cumsum(counts) - counts
    first_rows: Any = ends - sizes

    def joined(indices: list[npt.NDArray[np.intp]], firsts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        return np.concatenate(indices, axis=-1) + np.repeat(firsts, [each.shape[-1] for each in indices])

    own_rows = joined([outline.own_rows for outline in outlines], first_rows)
    placed[own_rows, :2] = points[joined([outline.own_points for outline in outlines], first_points)]
    mean_rows = joined([outline.mean_rows for outline in outlines], first_rows)
    one, two, three = joined([outline.mean_points for outline in outlines], first_points)
    placed[mean_rows, :2] = (points[one] + points[two] + points[three]) / 3
    return np.split(placed, ends[:-1])
