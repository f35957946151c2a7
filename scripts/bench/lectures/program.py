"""A program that runs line by line: code, a marker, variables and a list."""

from manim import *

ACCENT = YELLOW
# colour, instead: ACCENT = PURPLE_B

SOURCE = """def search(numbers, wanted):
    low = 0
    high = len(numbers) - 1
    while low <= high:
        middle = (low + high) // 2
        if numbers[middle] == wanted:
            return middle
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return None
"""
NUMBERS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


class BinarySearch(Scene):
    def construct(self):
        title = Text("Binary search", font_size=44)
        self.play(AddTextLetterByLetter(title, time_per_char=0.08))
        # early, also: self.play(title.animate.set_color(ACCENT), run_time=0.5)
        self.play(title.animate.scale(0.7).to_edge(UP, buff=0.3))
        code = Code(code_string=SOURCE, language="python", background="window", add_line_numbers=True)
        code.scale_to_fit_width(6.4).to_edge(LEFT, buff=0.4).shift(0.3 * UP)
        self.lines = code.code_lines
        self.play(FadeIn(code, shift=RIGHT))
        self.wait()
        self.cells = VGroup()
        for number in NUMBERS:
            square = Square(0.8, color=WHITE, fill_color=BLUE_E, fill_opacity=1)
            self.cells.add(VGroup(square, Integer(number, font_size=30)))
        self.cells.arrange(RIGHT, buff=0.08).to_edge(DOWN, buff=0.5)
        self.play(LaggedStart(*(FadeIn(cell, shift=UP) for cell in self.cells), lag_ratio=0.06))
        self.values = VGroup()
        for name in ("wanted", "low", "high", "middle"):
            label = Text(f"{name} =", font="Monospace", font_size=26)
            self.values.add(VGroup(label, Integer(0, font_size=36)).arrange(RIGHT))
        self.values.arrange(DOWN, aligned_edge=LEFT, buff=0.35).to_edge(RIGHT, buff=1.6).shift(0.5 * UP)
        self.play(FadeIn(self.values))
        self.marker = SurroundingRectangle(self.lines[0], color=ACCENT, buff=0.05)
        self.play(Create(self.marker))
        self.run(29)
        between = Text("What happens if a number is missing?", font_size=30).next_to(self.cells, UP)
        # text, instead: between = Text("What if a number is missing?", font_size=30).next_to(self.cells, UP)
        self.play(Write(between))
        self.wait()
        self.play(FadeOut(between), *(cell[0].animate.set_fill(BLUE_E, 1) for cell in self.cells))
        self.run(6)
        self.play(FadeOut(self.marker), FadeOut(self.values, shift=RIGHT))
        speed = MathTex(r"n \text{ numbers:} \quad \lceil \log_2 (n + 1) \rceil \text{ steps}", font_size=40)
        speed.to_edge(RIGHT).shift(UP).scale(0.8)
        self.play(Write(speed))
        self.play(speed.animate.set_color(ACCENT))
        # last, instead: self.play(Indicate(speed, color=ACCENT))

    def at(self, line, *others):
        target = SurroundingRectangle(self.lines[line - 1], color=ACCENT, buff=0.05)
        self.play(Transform(self.marker, target), *others, run_time=0.5)

    def set(self, line, index, value):
        """Run a line that sets a variable."""
        number = self.values[index][1]
        self.at(line)
        number.set_value(value)
        self.play(Indicate(number, color=ACCENT), run_time=0.6)

    def run(self, wanted):
        self.values[0][1].set_value(wanted)
        self.at(1)
        low, high = 0, len(NUMBERS) - 1
        self.set(2, 1, low)
        self.set(3, 2, high)
        while low <= high:
            self.at(4)
            middle = (low + high) // 2
            self.set(5, 3, middle)
            cell = self.cells[middle]
            self.at(6, cell[0].animate.set_fill(ACCENT, 0.6))
            if NUMBERS[middle] == wanted:
                self.at(7, cell[0].animate.set_fill(GREEN, 1))
                self.play(Flash(cell, color=ACCENT, flash_radius=0.7), run_time=0.7)
                return
            self.at(8)
            if NUMBERS[middle] < wanted:
                low = middle + 1
                self.set(9, 1, low)
            else:
                high = middle - 1
                self.set(11, 2, high)
            outside = [self.cells[at][0] for at in range(len(NUMBERS)) if not low <= at <= high]
            self.play(*(square.animate.set_fill(GRAY_E, 1) for square in outside), run_time=0.4)
        self.at(12)
        self.play(Wiggle(self.cells), run_time=0.8)
