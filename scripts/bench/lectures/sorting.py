"""Bubble sort beside insertion sort: many short plays that move labelled bars."""

from manim import *

ACCENT = YELLOW
# colour, instead: ACCENT = PINK

VALUES = (4, 1, 6, 3, 7, 5, 2)


class Sorting(Scene):
    def construct(self):
        title = Text("Two ways to sort", font_size=40).to_edge(UP)
        self.play(Write(title))
        # early, also: self.play(Wiggle(title))
        self.count = Integer(0, font_size=32)
        steps = VGroup(Text("comparisons:", font_size=24), self.count).arrange(RIGHT).to_corner(UR)
        self.play(FadeIn(steps))
        bars = self.bars("Bubble sort")
        self.bubble(bars)
        first = self.count.get_value()
        self.play(LaggedStart(*(Indicate(bar) for bar in bars), lag_ratio=0.1))
        self.play(FadeOut(*bars, self.name), run_time=0.5)
        verdict = Text(f"Bubble sort made {first} comparisons.", font_size=32)
        # text, instead: verdict = Text(f"There were {first} comparisons.", font_size=32)
        self.play(FadeIn(verdict, scale=0.8))
        self.wait()
        self.play(FadeOut(verdict))
        self.play(ChangeDecimalToValue(self.count, 0), run_time=0.5)
        bars = self.bars("Insertion sort")
        self.insertion(bars)
        second = self.count.get_value()
        self.play(LaggedStart(*(Indicate(bar) for bar in bars), lag_ratio=0.1))
        result = Text(f"{first} against {second}", font_size=48, color=ACCENT)
        self.play(*(FadeOut(bar, shift=DOWN) for bar in bars), FadeOut(self.name))
        self.play(Write(result))
        # last, instead: self.play(FadeIn(result, scale=2))

    def bars(self, name):
        bars = []
        for number, value in enumerate(VALUES):
            body = Rectangle(width=0.9, height=0.7 * value, color=BLUE, fill_opacity=0.8)
            bar = VGroup(body, Integer(value, font_size=28).next_to(body, UP, buff=0.1))
            bar.value = value
            bars.append(bar.move_to((number - 3) * 1.3 * RIGHT + 2.8 * DOWN, aligned_edge=DOWN))
        self.name = Text(name, font_size=30).to_edge(LEFT).shift(2 * UP)
        self.play(FadeIn(self.name), LaggedStart(*(GrowFromEdge(bar, DOWN) for bar in bars), lag_ratio=0.15))
        return bars

    def compare(self, *bars):
        """Mark the bodies of bars and count."""
        self.count.set_value(self.count.get_value() + 1)
        self.play(*(bar[0].animate.set_color(ACCENT) for bar in bars), run_time=0.3)

    def exchange(self, bars, at):
        left, right = bars[at : at + 2]
        bars[at : at + 2] = right, left
        self.play(
            left.animate(path_arc=PI / 3).shift(1.3 * RIGHT),
            right.animate(path_arc=PI / 3).shift(1.3 * LEFT),
            run_time=0.5,
        )

    def bubble(self, bars):
        for end in range(len(bars) - 1, 0, -1):
            changed = False
            for at in range(end):
                left, right = bars[at : at + 2]
                self.compare(left, right)
                if left.value > right.value:
                    self.exchange(bars, at)
                    changed = True
                left[0].set_color(BLUE)
                right[0].set_color(BLUE)
            self.play(bars[end][0].animate.set_color(GREEN), run_time=0.3)
            if not changed:
                break
        self.play(*(bar[0].animate.set_color(GREEN) for bar in bars), run_time=0.4)

    def insertion(self, bars):
        for start in range(1, len(bars)):
            moving = bars[start]
            self.play(moving[0].animate.set_color(RED), run_time=0.3)
            for at in range(start - 1, -1, -1):
                self.compare(bars[at])
                if bars[at].value <= moving.value:
                    bars[at][0].set_color(BLUE)
                    break
                self.exchange(bars, at)
                bars[at + 1][0].set_color(BLUE)
            self.play(moving[0].animate.set_color(BLUE), run_time=0.3)
        self.play(*(bar[0].animate.set_color(GREEN) for bar in bars), run_time=0.4)
