"""Scenes that explain algorithms: sorting, searching, graphs and trees."""

import random

from manim import *


class BubbleSort(Scene):
    """Labelled bars that change their places."""

    def construct(self):
        values = [5, 2, 7, 1, 6, 3]
        bars = [
            VGroup(
                Rectangle(width=0.8, height=0.6 * value, fill_opacity=0.8, color=BLUE),
                Text(str(value), font_size=30),
            )
            for value in values
        ]
        for number, bar in enumerate(bars):
            bar[1].next_to(bar[0], UP, buff=0.1)
            bar.move_to((number - 2.5) * 1.2 * RIGHT + 2 * DOWN, aligned_edge=DOWN)
        self.play(LaggedStart(*(FadeIn(bar, shift=UP) for bar in bars), lag_ratio=0.1))
        for end in range(len(values) - 1, 0, -1):
            for at in range(end):
                left, right = bars[at], bars[at + 1]
                self.play(
                    left[0].animate.set_color(YELLOW), right[0].animate.set_color(YELLOW), run_time=0.15
                )
                if values[at] > values[at + 1]:
                    values[at : at + 2] = values[at + 1], values[at]
                    bars[at : at + 2] = right, left
                    self.play(left.animate.shift(1.2 * RIGHT), right.animate.shift(1.2 * LEFT), run_time=0.25)
                self.play(left[0].animate.set_color(BLUE), right[0].animate.set_color(BLUE), run_time=0.15)
            self.play(bars[end][0].animate.set_color(GREEN), run_time=0.15)
        self.play(bars[0][0].animate.set_color(GREEN), run_time=0.3)


class MergeSort(Scene):
    """Cells with numbers that are split and merged."""

    def construct(self):
        generator = random.Random(4)
        cells = []
        for value in generator.sample(range(10, 100), 8):
            square = Square(0.8, color=WHITE, fill_color=BLUE_E, fill_opacity=1)
            cells.append(VGroup(square, Integer(value, font_size=32)))
            cells[-1].value = value
        row = VGroup(*cells).arrange(RIGHT, buff=0.1).to_edge(UP)
        self.play(Create(row, lag_ratio=0.05))
        self._sort(cells, 0)
        self.play(LaggedStart(*(Indicate(cell) for cell in cells), lag_ratio=0.1))

    def _sort(self, cells, depth):
        if len(cells) == 1:
            return
        middle = len(cells) // 2
        left, right = cells[:middle], cells[middle:]
        gap = 0.35 / (depth + 1)
        self.play(
            *(cell.animate.shift(1.1 * DOWN + gap * LEFT) for cell in left),
            *(cell.animate.shift(1.1 * DOWN + gap * RIGHT) for cell in right),
            run_time=0.35,
        )
        self._sort(left, depth + 1)
        self._sort(right, depth + 1)
        merged = sorted(left + right, key=lambda cell: cell.value)
        centre = (left[0].get_center() + right[-1].get_center()) / 2
        places = [centre + 1.1 * UP + (n - (len(merged) - 1) / 2) * 0.9 * RIGHT for n in range(len(merged))]
        self.play(
            *(cell.animate.move_to(place) for cell, place in zip(merged, places, strict=True)), run_time=0.4
        )
        cells[:] = merged


class BreadthFirst(Scene):
    """A graph with labels, searched level by level."""

    def construct(self):
        edges = [
            (1, 2),
            (1, 3),
            (2, 4),
            (2, 5),
            (3, 6),
            (3, 7),
            (4, 8),
            (5, 8),
            (6, 9),
            (7, 9),
            (8, 10),
            (9, 10),
        ]
        graph = Graph(
            list(range(1, 11)),
            edges,
            labels=True,
            layout="kamada_kawai",
            layout_scale=3.2,
            vertex_config={"radius": 0.32, "fill_color": BLUE_D},
        )
        self.play(Create(graph), run_time=1.5)
        neighbours = {vertex: [] for vertex in graph.vertices}
        for start, end in edges:
            neighbours[start].append(end)
            neighbours[end].append(start)
        queue, seen = [1], {1}
        waiting = VGroup()
        while queue:
            vertex = queue.pop(0)
            self.play(graph.vertices[vertex][0].animate.set_fill(GREEN), run_time=0.25)
            found = [other for other in neighbours[vertex] if other not in seen]
            seen.update(found)
            queue.extend(found)
            waiting_now = (
                VGroup(*(Text(str(one), font_size=28) for one in queue)).arrange(RIGHT).to_corner(UL)
            )
            lines = [graph.edges.get((vertex, other), graph.edges.get((other, vertex))) for other in found]
            self.play(
                *(line.animate.set_color(YELLOW) for line in lines),
                *(graph.vertices[other][0].animate.set_fill(ORANGE) for other in found),
                Transform(waiting, waiting_now),
                run_time=0.4,
            )
        self.play(graph.animate.change_layout("circular", layout_scale=3))


class ShortestPath(Scene):
    """A weighted graph, with distances that become smaller."""

    def construct(self):
        places = {
            "a": [-5, 0, 0],
            "b": [-2, 2, 0],
            "c": [-2, -2, 0],
            "d": [1.5, 2, 0],
            "e": [1.5, -2, 0],
            "f": [5, 0, 0],
        }
        weights = {
            ("a", "b"): 4,
            ("a", "c"): 2,
            ("b", "c"): 1,
            ("b", "d"): 5,
            ("c", "d"): 8,
            ("c", "e"): 10,
            ("d", "e"): 2,
            ("d", "f"): 6,
            ("e", "f"): 3,
        }
        graph = DiGraph(
            list(places), list(weights), layout=places, labels=True, edge_config={"color": GREY_B}
        )
        labels = {
            edge: MathTex(str(weight), font_size=34, color=YELLOW).move_to(
                (graph.vertices[edge[0]].get_center() + graph.vertices[edge[1]].get_center()) / 2 + 0.3 * UP
            )
            for edge, weight in weights.items()
        }
        self.play(Create(graph), *(FadeIn(label) for label in labels.values()))
        distance = {place: float("inf") for place in places} | {"a": 0}
        shown = {
            place: MathTex(r"\infty" if place != "a" else "0", font_size=36, color=RED).next_to(
                graph.vertices[place], DOWN
            )
            for place in places
        }
        self.play(*(Write(label) for label in shown.values()))
        left = set(places)
        while left:
            nearest = min(left, key=lambda place: (distance[place], place))
            left.remove(nearest)
            self.play(Circumscribe(graph.vertices[nearest], Circle), run_time=0.5)
            changes = []
            for (start, end), weight in weights.items():
                if start == nearest and distance[start] + weight < distance[end]:
                    distance[end] = distance[start] + weight
                    better = MathTex(str(distance[end]), font_size=36, color=GREEN).move_to(shown[end])
                    changes += [Transform(shown[end], better), labels[start, end].animate.set_color(WHITE)]
            if changes:
                self.play(*changes, run_time=0.5)


class SearchTree(Scene):
    """Numbers that sink into a binary tree."""

    def construct(self):
        root = None
        for value in (50, 25, 75, 12, 37, 62, 88, 31, 43):
            node = {"value": value, "left": None, "right": None}
            ball = VGroup(
                Circle(0.34, color=TEAL, fill_opacity=0.9, fill_color=TEAL_E), Text(str(value), font_size=24)
            )
            node["ball"] = ball
            ball.move_to(3.2 * UP + 5 * LEFT)
            self.play(FadeIn(ball), run_time=0.2)
            place, step, parent = 2.8 * UP, 3.2, root
            while parent:
                self.play(ball.animate.move_to(parent["ball"].get_center() + 0.75 * UP), run_time=0.2)
                side = "left" if value < parent["value"] else "right"
                place = parent["ball"].get_center() + 1.5 * DOWN + step * (LEFT if side == "left" else RIGHT)
                step /= 2
                if parent[side] is None:
                    parent[side] = node
                    line = Line(parent["ball"].get_center(), place, buff=0.34, color=GREY)
                    self.play(ball.animate.move_to(place), Create(line), run_time=0.35)
                    break
                parent = parent[side]
            else:
                root = node
                self.play(ball.animate.move_to(place), run_time=0.35)
        self.wait(0.5)


class Hanoi(Scene):
    """Discs that move one at a time, and a counter."""

    def construct(self):
        pegs = VGroup(
            *(Rectangle(height=3, width=0.15, fill_opacity=1, color=GREY) for _ in range(3))
        ).arrange(RIGHT, buff=3.5)
        ground = Line(6 * LEFT, 6 * RIGHT).next_to(pegs, DOWN, buff=0)
        discs = [
            RoundedRectangle(
                width=0.8 + 0.6 * size, height=0.4, corner_radius=0.15, fill_opacity=1, color=color
            )
            for size, color in enumerate((RED, ORANGE, YELLOW, GREEN))
        ]
        towers = [discs[::-1], [], []]
        for height, disc in enumerate(towers[0]):
            disc.move_to(pegs[0].get_bottom() + (0.22 + 0.42 * height) * UP)
        moves = Integer(0).to_corner(UR)
        self.add(pegs, ground, *discs, moves)

        def move(count, start, end, other):
            if count == 0:
                return
            move(count - 1, start, other, end)
            disc = towers[start].pop()
            target = pegs[end].get_bottom() + (0.22 + 0.42 * len(towers[end])) * UP
            towers[end].append(disc)
            moves.increment_value()
            path = ArcBetweenPoints(disc.get_center(), target, angle=-PI / 2 if end > start else PI / 2)
            self.play(MoveAlongPath(disc, path), run_time=0.35)
            move(count - 1, other, end, start)

        move(4, 0, 2, 1)
