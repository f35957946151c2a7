"""The five regular solids: bodies that turn, a count of corners, edges and faces, and Euler's formula."""

from manim import *

ACCENT = TEAL
# colour, instead: ACCENT = PURPLE

SOLIDS = (
    (Tetrahedron, "Tetrahedron", 4, 6, 4),
    (Cube, "Cube", 8, 12, 6),
    (Octahedron, "Octahedron", 6, 12, 8),
    (Dodecahedron, "Dodecahedron", 20, 30, 12),
    (Icosahedron, "Icosahedron", 12, 30, 20),
)


class Solids(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=70 * DEGREES, theta=-55 * DEGREES)
        title = self.fixed(Text("Regular solids", font_size=44).to_edge(UP))
        self.play(Write(title))
        # early, also: self.play(title.animate.set_color(ACCENT), run_time=0.6)
        rows = VGroup()
        for index, (kind, name, corners, edges, faces) in enumerate(SOLIDS):
            body = kind(2) if kind is Cube else kind(edge_length=(2.4, 0, 2, 1, 1.5)[index])
            body = body if kind is Cube else body.faces
            body.set_fill(ACCENT, 0.6).set_stroke(WHITE, 1)
            label = self.fixed(Text(name, font_size=30).to_edge(DOWN))
            if kind is Octahedron:
                label = self.fixed(Text("Octahedron: eight faces", font_size=30).to_edge(DOWN))
                # text, instead: label = self.fixed(Text("Octahedron: 8 faces", font_size=30).to_edge(DOWN))
            self.play(FadeIn(body, scale=0.3), FadeIn(label))
            self.play(Rotate(body, PI / 2, axis=OUT), run_time=1.5)
            row = MathTex(str(corners), "-", str(edges), "+", str(faces), "=", "2", font_size=36)
            row.to_corner(UR).shift((0.5 + 0.6 * index) * DOWN)
            self.fixed(row)
            self.play(Write(row), body.animate.set_fill(BLUE, 0.6))
            self.wait(0.3)
            self.play(FadeOut(body, shift=IN), FadeOut(label), run_time=0.7)
            rows.add(row)
        euler = self.fixed(MathTex("V - E + F = 2", font_size=60, color=ACCENT))
        self.play(FadeIn(euler, scale=2))
        self.wait()
        self.play(euler.animate.to_edge(LEFT), FadeOut(rows))
        ball = Sphere(radius=1.6, resolution=(18, 12)).set_opacity(0.7)
        self.play(Create(ball), run_time=1.5)
        for phi, theta in ((40, -10), (80, 40), (65, 90)):
            self.move_camera(phi=phi * DEGREES, theta=theta * DEGREES, run_time=1.2)
        torus = Torus(1.5, 0.6, resolution=(18, 12)).set_opacity(0.7)
        self.play(ReplacementTransform(ball, torus), run_time=1.5)
        other = self.fixed(MathTex("V - E + F = 0", font_size=60, color=ACCENT).to_edge(LEFT))
        self.play(FadeOut(euler), FadeIn(other))
        self.begin_ambient_camera_rotation(rate=0.5)
        self.wait(2)
        self.stop_ambient_camera_rotation()
        self.play(FadeOut(torus), FadeOut(other))
        self.play(title.animate.move_to(ORIGIN))
        self.play(FadeOut(title))
        # last, instead: self.play(Uncreate(title))

    def fixed(self, mobject):
        """Keep a mobject in the frame; it is shown by its animation."""
        self.add_fixed_in_frame_mobjects(mobject)
        self.remove(mobject)
        return mobject
