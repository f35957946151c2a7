# The shortest way through a network
from manim import *


class Network(Scene):
    def construct(self):
        edges = [(1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6), (5, 7), (6, 8), (7, 8), (2, 3), (4, 5)]
        places = {
            1: [-5, 0, 0], 2: [-3, 2, 0], 3: [-2.5, -1.6, 0], 4: [-0.3, 1.2, 0],
            5: [0.6, -1.9, 0], 6: [2.4, 1.8, 0], 7: [3.4, -1.5, 0], 8: [5, 0.6, 0],
        }
        graph = Graph(
            list(places), edges, layout=places, labels=True,
            vertex_config={"radius": 0.34, "fill_color": BLUE_E, "stroke_color": BLUE, "stroke_width": 3},
            edge_config={"stroke_color": GREY, "stroke_width": 3},
        )
        self.play(Create(graph), run_time=1.5)
        levels, seen = [[1]], {1}
        while 8 not in seen:
            following = [b for a in levels[-1] for e in edges if a in e for b in e if b not in seen]
            levels.append(list(dict.fromkeys(following)))
            seen.update(following)
            self.play(*[graph.vertices[v].animate.set_fill(TEAL_D) for v in levels[-1]], run_time=0.5)
        route = [1, 2, 4, 6, 8]
        for a, b in zip(route, route[1:]):
            line = Line(graph.vertices[a].get_center(), graph.vertices[b].get_center(), buff=0.34)
            line.set_stroke(YELLOW, 7)
            self.play(Create(line), graph.vertices[b].animate.set_stroke(YELLOW), run_time=0.35)
        self.wait(0.6)
