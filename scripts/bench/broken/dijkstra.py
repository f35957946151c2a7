from manim import *


class ShortestPath(Scene):
    def construct(self):
        vertices = ["A", "B", "C", "D"]
        edges = [("A", "B"), ("B", "C"), ("A", "D"), ("D", "C")]
        layout = {"A": LEFT * 3, "B": UP * 2, "C": RIGHT * 3, "D": DOWN * 2}
        graph = Graph(vertices, edges, layout=layout, labels=True)
        self.play(Create(graph))
        weights = {("A", "B"): 4, ("B", "C"): 3, ("A", "D"): 2, ("D", "C"): 1}
        for edge, weight in weights.item():
            label = Integer(weight, size=30).move_to(graph.edges[edge])
            label.shift(UP * 0.3)
            self.play(FadeIn(label), run_time=0.3)
        for edge in [("A", "D"), ("D", "C")]:
            self.play(graph.edge[edge].animate.set_color(YELLOW))
        self.wait()
