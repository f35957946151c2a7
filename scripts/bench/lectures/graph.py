"""Shortest paths in a graph: labels that change, edges that light up, a table that fills."""

import heapq
import itertools

from manim import *

ACCENT = YELLOW
# colour, instead: ACCENT = MAROON_B

PLACES = {
    "A": (-5.5, 0),
    "B": (-3.6, 1.8),
    "C": (-3.4, -1.7),
    "D": (-1.3, 0.2),
    "E": (0.4, 2),
    "F": (0.6, -1.8),
    "G": (2.4, 0.1),
}
WEIGHTS = {
    ("A", "B"): 4,
    ("A", "C"): 2,
    ("B", "D"): 5,
    ("B", "E"): 10,
    ("C", "D"): 3,
    ("C", "F"): 9,
    ("D", "E"): 4,
    ("D", "F"): 3,
    ("E", "G"): 2,
    ("F", "G"): 6,
}


class Dijkstra(Scene):
    def construct(self):
        title = Text("The shortest way", font_size=40).to_edge(UP)
        self.play(Write(title))
        # early, also: self.play(ApplyWave(title))
        self.graph = Graph(
            list(PLACES),
            list(WEIGHTS),
            layout={name: [x, y, 0] for name, (x, y) in PLACES.items()},
            labels=True,
            vertex_config={"radius": 0.3, "fill_color": BLUE_D},
            edge_config={"stroke_width": 3, "stroke_color": GRAY},
        ).shift(0.4 * DOWN)
        self.play(Create(self.graph), run_time=2)
        lengths = VGroup()
        for (start, end), weight in WEIGHTS.items():
            middle = self.graph.edges[start, end].get_center()
            lengths.add(Integer(weight, font_size=26).move_to(middle + 0.25 * UP))
        self.play(LaggedStart(*(FadeIn(length) for length in lengths), lag_ratio=0.1))
        task = Text("How far is it from A to G?", font_size=28).to_edge(DOWN)
        self.play(FadeIn(task, shift=UP))
        self.wait()
        self.play(FadeOut(task))
        self.table()
        previous = self.search()
        path = ["G"]
        while path[-1] != "A":
            path.append(previous[path[-1]])
        path.reverse()
        for start, end in itertools.pairwise(path):
            self.play(
                self.edge(start, end).animate.set_stroke(ACCENT, width=9),
                self.graph.vertices[end].animate.set_fill(ACCENT),
                run_time=0.6,
            )
        answer = Text(" to ".join(path), font_size=36, color=ACCENT).to_edge(DOWN)
        self.play(Write(answer))
        self.play(Circumscribe(answer, color=ACCENT))
        self.wait()
        # last, instead: self.wait(1.5)

    def table(self):
        """Show the distances beside the graph."""
        rows = VGroup()
        self.distances = {}
        for name in PLACES:
            number = MathTex(r"0" if name == "A" else r"\infty", font_size=32)
            self.distances[name] = number
            rows.add(VGroup(Text(name, font_size=26), number).arrange(RIGHT, buff=0.6))
        rows.arrange(DOWN, aligned_edge=LEFT, buff=0.3).to_edge(RIGHT, buff=1)
        frame = SurroundingRectangle(rows, color=WHITE, buff=0.3)
        self.play(Create(frame), FadeIn(rows))

    def edge(self, start, end):
        edges = self.graph.edges
        return edges[start, end] if (start, end) in edges else edges[end, start]

    def search(self):
        best, previous, done = {"A": 0}, {}, set()
        queue = [(0, "A")]
        while queue:
            distance, name = heapq.heappop(queue)
            if name in done:
                continue
            done.add(name)
            self.play(self.graph.vertices[name].animate.set_fill(ACCENT).scale(1.2), run_time=0.5)
            if name == "D":
                note = Text("D is reached through C.", font_size=28).to_edge(DOWN)
                # text, instead: note = Text("The way to D leads through C.", font_size=28).to_edge(DOWN)
                self.play(FadeIn(note))
                self.wait()
                self.play(FadeOut(note), run_time=0.5)
            for pair, weight in WEIGHTS.items():
                if name not in pair:
                    continue
                other = pair[1] if pair[0] == name else pair[0]
                if other in done:
                    continue
                edge = self.edge(name, other)
                self.play(ShowPassingFlash(edge.copy().set_stroke(ACCENT, 8), time_width=0.6), run_time=0.5)
                if distance + weight < best.get(other, 1000):
                    best[other] = distance + weight
                    previous[other] = name
                    heapq.heappush(queue, (best[other], other))
                    old = self.distances[other]
                    new = MathTex(str(best[other]), font_size=32, color=ACCENT).move_to(old, LEFT)
                    self.play(Transform(old, new), run_time=0.5)
            self.play(self.graph.vertices[name].animate.set_fill(GREEN_D).scale(1 / 1.2), run_time=0.4)
        return previous
