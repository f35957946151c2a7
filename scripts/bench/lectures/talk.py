"""A narrated talk: chapters with headings, lists, charts, sounds and captions, and much that stands still."""

from manim import *

ACCENT = BLUE
# colour, instead: ACCENT = GOLD

CHAPTERS = {
    "Where it comes from": (
        "Rain falls on the mountains.",
        "Snow keeps it until the spring.",
        "Rivers carry it to the sea.",
    ),
    "Who uses it": (
        "Fields take two thirds of it.",
        "Factories take a fifth.",
        "Households take the rest.",
    ),
    "What we can save": (
        "Pipes that leak lose a quarter.",
        "Drops at the roots are enough for a field.",
        "Rain from a roof waters a garden.",
    ),
}
SHARES = {"fields": 69, "factories": 19, "homes": 12}


class Talk(Scene):
    def construct(self):
        title = Text("Water", font_size=96, color=ACCENT)
        self.add_sound("chime.wav")
        self.play(Write(title), subcaption="This talk is about water.")
        self.wait(1.5)
        self.play(FadeOut(title, shift=UP))
        # early, also: self.play(Flash(ORIGIN, color=ACCENT, flash_radius=2))
        for number, (heading, sentences) in enumerate(CHAPTERS.items()):
            self.chapter(number, heading, sentences)
        self.summary()

    def chapter(self, number, heading, sentences):
        self.next_section(heading)
        self.add_sound("chime.wav", gain=-8)
        mark = VGroup(Circle(0.4, color=ACCENT, fill_opacity=0.8), Integer(number + 1, font_size=36))
        words = Text(heading, font_size=40)
        top = VGroup(mark, words).arrange(RIGHT, buff=0.4).to_corner(UL)
        self.play(GrowFromCenter(mark), Write(words), subcaption=f"{heading}.", subcaption_duration=2)
        self.wait()
        points = VGroup()
        for sentence in sentences:
            dot = Dot(color=ACCENT)
            points.add(VGroup(dot, Text(sentence, font_size=28).next_to(dot, RIGHT, buff=0.3)))
        points.arrange(DOWN, aligned_edge=LEFT, buff=0.7).next_to(top, DOWN, buff=0.9).align_to(top, LEFT)
        for point, sentence in zip(points, sentences, strict=True):
            self.add_subcaption(sentence, duration=5)
            self.play(FadeIn(point, shift=0.4 * RIGHT), run_time=0.8)
            self.wait(4)
            self.play(point[1].animate.set_opacity(0.5), run_time=0.4)
        self.play(points.animate.set_opacity(1), run_time=0.5)
        drawing = (self.drop, self.chart, self.leak)[number]
        shown = drawing()
        self.wait(1.5)
        self.play(FadeOut(points, shown), run_time=0.8)
        self.play(FadeOut(top), run_time=0.5)

    def drop(self):
        """Show a drop that falls into waves."""
        drop = VGroup(Circle(0.4, color=ACCENT, fill_opacity=1), Triangle(color=ACCENT, fill_opacity=1))
        drop[1].scale(0.42).move_to(drop[0].get_top() + 0.12 * UP)
        drop.move_to(4.5 * RIGHT + 2 * UP)
        self.play(FadeIn(drop))
        self.play(drop.animate.shift(3 * DOWN), rate_func=rush_into)
        waves = VGroup(*(Ellipse(width=w, height=w / 3, color=ACCENT) for w in (0.8, 1.6, 2.4)))
        waves.move_to(4.5 * RIGHT + 1.2 * DOWN)
        self.play(FadeOut(drop, run_time=0.3), LaggedStart(*(Create(wave) for wave in waves), lag_ratio=0.3))
        return waves

    def chart(self):
        names = list(SHARES)
        chart = BarChart([0, 0, 0], bar_names=names, y_range=[0, 80, 20], y_length=4, x_length=4.5)
        chart.bars.set_color(ACCENT)
        chart.scale(0.9).to_edge(RIGHT)
        caption = Text("shares in percent", font_size=22).next_to(chart, UP)
        # text, instead: caption = Text("percent of the water", font_size=22).next_to(chart, UP)
        self.play(Create(chart), FadeIn(caption))
        self.play(chart.animate.change_bar_values(list(SHARES.values())), run_time=2)
        self.play(Indicate(chart.bars[0], color=ACCENT))
        return VGroup(chart, caption)

    def leak(self):
        pipe = Rectangle(height=0.6, width=4, color=GRAY, fill_opacity=0.6).move_to(4 * RIGHT + UP)
        self.play(Create(pipe))
        drops = VGroup(*(Dot(pipe.get_bottom() + 0.3 * n * RIGHT, color=ACCENT) for n in range(-2, 3)))
        for _ in range(2):
            self.play(FadeIn(drops), run_time=0.3)
            falls = [drop.animate.shift(3 * DOWN).set_opacity(0) for drop in drops]
            self.play(LaggedStart(*falls, lag_ratio=0.2), rate_func=rush_into, run_time=1.5)
            drops.shift(3 * UP)
        self.remove(drops)
        return pipe

    def summary(self):
        self.add_sound("chime.wav")
        lines = VGroup(*(Text(heading, font_size=36) for heading in CHAPTERS)).arrange(DOWN, buff=0.6)
        for line in lines:
            self.play(FadeIn(line, scale=0.8), run_time=0.6)
            self.wait(0.8)
        box = SurroundingRectangle(lines, color=ACCENT, buff=0.5, corner_radius=0.2)
        self.play(Create(box), subcaption="Thank you for listening.", subcaption_duration=2)
        self.wait(2)
        self.play(FadeOut(lines, box))
        # last, instead: self.play(FadeOut(lines, shift=DOWN), FadeOut(box))
