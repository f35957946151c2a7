"""How pictures are stored and filtered: images from a file and from arrays, sounds, and a grid of numbers."""

from manim import *

ACCENT = RED
# colour, instead: ACCENT = TEAL


class Pictures(Scene):
    def construct(self):
        title = Text("What is a picture?", font_size=44).to_edge(UP, buff=0.3)
        self.add_sound("chime.wav")
        self.play(Write(title))
        picture = ImageMobject("picture.png").scale_to_fit_height(4.5)
        self.play(FadeIn(picture, shift=UP))
        # early, also: self.play(Rotate(picture, TAU / 4), run_time=0.8)
        self.wait()
        self.play(picture.animate.scale(0.7).to_edge(LEFT, buff=0.6))
        spot = Square(0.3, color=ACCENT).move_to(picture).shift(0.4 * UP + 0.3 * RIGHT)
        self.play(Create(spot))
        grid = self.numbers(picture)
        lines = VGroup(
            Line(spot.get_corner(UR), grid.get_corner(UL), color=ACCENT),
            Line(spot.get_corner(DR), grid.get_corner(DL), color=ACCENT),
        )
        self.play(Create(lines), FadeIn(grid, scale=0.5))
        self.wait()
        for row in grid:
            self.play(
                LaggedStart(*(Indicate(cell, color=ACCENT) for cell in row), lag_ratio=0.1), run_time=0.8
            )
        note = Text("A picture is a table of numbers.", font_size=30).to_edge(DOWN)
        self.add_sound("chime.wav", gain=-6)
        self.play(Write(note))
        self.wait()
        self.play(FadeOut(grid, lines, spot, note))

        pixels = np.array(picture.get_pixel_array(), dtype=np.float64)
        previous = picture
        for name, filtered in self.filters(pixels):
            shown = ImageMobject(filtered.clip(0, 255).astype(np.uint8)).match_height(picture)
            shown.to_edge(RIGHT, buff=0.9)
            label = Text(name, font_size=28).next_to(shown, DOWN)
            arrow = Arrow(previous.get_right(), shown.get_left(), color=ACCENT)
            self.play(GrowArrow(arrow), run_time=0.6)
            self.play(FadeIn(shown, target_position=picture), FadeIn(label))
            self.play(Circumscribe(shown, color=ACCENT), run_time=0.8)
            self.wait(0.5)
            self.play(FadeOut(shown, arrow, label), run_time=0.6)
        halves = Text("Filters compute new numbers.", font_size=32).to_edge(DOWN)
        # text, instead: halves = Text("Filters calculate new numbers.", font_size=32).to_edge(DOWN)
        self.play(FadeIn(halves, shift=UP))
        self.wait(0.5)
        self.mixing(picture, pixels)
        self.play(FadeOut(halves))

        copies = Group(*(picture.copy().scale(0.42) for _ in range(8))).arrange_in_grid(2, 4, buff=0.35)
        self.add_sound("chime.wav")
        self.play(*(TransformFromCopy(picture, copy) for copy in copies), FadeOut(picture), run_time=1.5)
        for number, copy in enumerate(copies):
            self.play(copy.animate.set_opacity(0.3 + 0.08 * number).rotate(number * PI / 16), run_time=0.4)
        self.play(LaggedStart(*(FadeOut(copy, scale=0.2) for copy in copies), lag_ratio=0.1))
        end = Text("Numbers make pictures", font_size=48, color=ACCENT)
        self.play(ReplacementTransform(title, end))
        self.play(end.animate.scale(1.2))
        # last, instead: self.play(end.animate.scale(1.2).set_color(WHITE))

    def numbers(self, picture):
        pixels = picture.get_pixel_array()
        rows = VGroup()
        for y in range(4):
            row = VGroup()
            for x in range(4):
                value = pixels[40 + 3 * y, 60 + 3 * x]
                cell = Square(0.75, stroke_width=1, fill_color=rgb_to_color(value[:3] / 255), fill_opacity=1)
                row.add(VGroup(cell, Integer(value[0], font_size=22)))
            rows.add(row.arrange(RIGHT, buff=0))
        return rows.arrange(DOWN, buff=0).to_edge(RIGHT, buff=1.5)

    def filters(self, pixels):
        gray = pixels.copy()
        gray[..., :3] = pixels[..., :3].mean(axis=2, keepdims=True)
        inverse = pixels.copy()
        inverse[..., :3] = 255 - pixels[..., :3]
        edges = pixels.copy()
        edges[..., :3] = 4 * np.abs(gray[..., :3] - np.roll(gray[..., :3], 2, axis=1))
        coarse = np.repeat(np.repeat(pixels[::8, ::8], 8, axis=0), 8, axis=1)
        return (("grey", gray), ("inverse", inverse), ("edges", edges), ("coarse", coarse))

    def mixing(self, picture, pixels):
        """Show a picture that is computed in each frame."""
        amount = ValueTracker(0)

        def mixed():
            turned = np.roll(pixels, int(amount.get_value() * pixels.shape[1]), axis=1)
            shown = ImageMobject((0.5 * pixels + 0.5 * turned).astype(np.uint8))
            return shown.match_height(picture).to_edge(RIGHT, buff=0.9)

        image = always_redraw(mixed)
        slider = NumberLine((0, 1, 0.5), length=3, include_numbers=True, font_size=24).to_edge(UP, buff=1.2)
        knob = always_redraw(lambda: Dot(slider.n2p(amount.get_value()), color=ACCENT))
        self.play(FadeIn(image), Create(slider), FadeIn(knob))
        self.play(amount.animate.set_value(1), run_time=3)
        self.play(amount.animate.set_value(0.3), run_time=2)
        self.play(FadeOut(image, slider, knob))
