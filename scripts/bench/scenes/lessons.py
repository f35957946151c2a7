"""Scenes with much text: lectures, proofs, narration, tables and code."""

from manim import *


class Lecture(Scene):
    """Definitions and steps of a calculation, formula after formula."""

    def construct(self):
        title = Tex(r"The derivative of $x^n$", font_size=56).to_edge(UP)
        self.play(Write(title))
        steps = [
            r"f'(x) = \lim_{h \to 0} \frac{f(x + h) - f(x)}{h}",
            r"(x + h)^n = \sum_{k=0}^{n} \binom{n}{k} x^{n-k} h^k",
            r"\frac{(x + h)^n - x^n}{h} = \sum_{k=1}^{n} \binom{n}{k} x^{n-k} h^{k-1}",
            r"= n x^{n-1} + \frac{n(n-1)}{2} x^{n-2} h + \dots + h^{n-1}",
            r"\lim_{h \to 0} \left( n x^{n-1} + h \cdot (\dots) \right) = n x^{n-1}",
        ]
        shown = MathTex(steps[0])
        self.play(Write(shown))
        for step in steps[1:]:
            following = MathTex(step)
            self.play(
                shown.animate.shift(1.4 * UP).set_opacity(0.4), FadeIn(following, shift=UP), run_time=0.8
            )
            self.remove(shown)
            shown = following
            self.wait(0.4)
        result = MathTex(r"\frac{d}{dx} x^n = n x^{n-1}", color=YELLOW, font_size=72)
        self.play(ReplacementTransform(shown, result))
        self.play(Create(SurroundingRectangle(result, buff=0.3)))
        self.wait(0.5)


class QuadraticFormula(Scene):
    """A derivation by matching parts of formulas."""

    def construct(self):
        lines = [
            ["a", "x^2", "+", "b", "x", "+", "c", "=", "0"],
            ["x^2", "+", r"{b \over a}", "x", "=", "-", r"{c \over a}"],
            [r"\left(x + {b \over 2a}\right)^2", "=", r"{b^2 \over 4a^2}", "-", r"{c \over a}"],
            [r"\left(x + {b \over 2a}\right)^2", "=", r"{b^2 - 4ac \over 4a^2}"],
            ["x", "=", r"{-b \pm \sqrt{b^2 - 4ac} \over 2a}"],
        ]
        formula = MathTex(*lines[0])
        self.play(Write(formula))
        for line in lines[1:]:
            following = MathTex(*line)
            self.play(TransformMatchingTex(formula, following), run_time=0.9)
            self.wait(0.3)
            formula = following
        self.play(Indicate(formula, color=TEAL), Flash(formula, line_length=0.4, flash_radius=3))


class Readout(Scene):
    """A formula that is written in each frame."""

    def construct(self):
        x = ValueTracker(1)

        def formula():
            value = x.get_value()
            left = rf"f({value:.4f}) = \frac{{{value:.4f}^2}}{{2}} + \sin({value:.3f})"
            return MathTex(left, f"= {value**2 / 2 + np.sin(value):.5f}")

        self.add(always_redraw(formula))
        self.play(x.animate.set_value(5), run_time=6, rate_func=linear)


class Narration(Scene):
    """A narrated lesson: captions, headings and pictures that stand still for most of the time."""

    def construct(self):
        chapters = {
            "Light": "Light from the sun takes about eight minutes to reach us.",
            "Distance": "In that time it travels a hundred and fifty million kilometres.",
            "Planets": "Neptune sees the same light only after four more hours.",
            "Stars": "The next star is so far away that its light needs four years.",
        }
        sun = Circle(0.6, color=YELLOW, fill_opacity=1).to_edge(LEFT)
        self.play(GrowFromCenter(sun), subcaption="Look at the sun.", subcaption_duration=1)
        heading = Text("Our sun").to_edge(UP)
        self.play(FadeIn(heading))
        for number, (name, sentence) in enumerate(chapters.items()):
            words = Text(sentence, font_size=28).to_edge(DOWN)
            planet = Dot(radius=0.1 + 0.05 * number, color=BLUE).next_to(sun, RIGHT, buff=1 + 2.2 * number)
            self.add_subcaption(sentence, duration=3)
            self.play(
                Transform(heading, Text(name).to_edge(UP)),
                FadeIn(words, shift=0.3 * UP),
                GrowFromPoint(planet, sun.get_center()),
            )
            self.wait(2)
            self.play(FadeOut(words), run_time=0.5)
        self.wait(1)


class Timetable(Scene):
    """Tables of text, whole numbers and formulas."""

    def construct(self):
        truth = Table(
            [["0", "0", "0"], ["0", "1", "1"], ["1", "0", "1"], ["1", "1", "0"]],
            col_labels=[Text("a"), Text("b"), Text("a xor b")],
            include_outer_lines=True,
        ).scale(0.55)
        self.play(truth.create(run_time=1.5))
        for row in (2, 3, 4, 5):
            self.play(truth.get_rows()[row - 1].animate.set_color(YELLOW), run_time=0.3)
        self.play(truth.animate.scale(0.7).to_edge(LEFT))
        values = MathTable(
            [["x", 0, r"\pi / 2", r"\pi"], [r"\sin x", 0, 1, 0], [r"\cos x", 1, 0, -1]],
            include_outer_lines=True,
        ).scale(0.6)
        values.next_to(truth, RIGHT, buff=0.6)
        self.play(FadeIn(values, shift=LEFT))
        values.add_highlighted_cell((2, 3), color=GREEN)
        matrix = IntegerMatrix([[2, -1, 0], [-1, 2, -1], [0, -1, 2]]).scale(0.6).to_corner(UR)
        self.play(Write(matrix))
        self.play(matrix.get_columns()[1].animate.set_color(RED), Indicate(values.get_entries((3, 4))))
        self.wait(0.5)


class SourceCode(Scene):
    """A program, whose lines are explained one after the other."""

    def construct(self):
        source = """def primes(limit):
    sieve = [True] * (limit + 1)
    for number in range(2, limit + 1):
        if not sieve[number]:
            continue
        yield number
        for other in range(number**2, limit + 1, number):
            sieve[other] = False
"""
        code = Code(code_string=source, language="python", background="window", add_line_numbers=True)
        code.scale(0.75).to_edge(LEFT)
        self.play(FadeIn(code))
        marker = SurroundingRectangle(code.code_lines[0], color=YELLOW, buff=0.05)
        self.play(Create(marker))
        numbers = VGroup(*(Integer(number, font_size=32) for number in range(2, 26)))
        numbers.arrange_in_grid(6, 4, buff=0.35).to_edge(RIGHT)
        self.play(LaggedStart(*(FadeIn(number) for number in numbers), lag_ratio=0.05))
        for line, prime in ((1, None), (2, None), (6, 2), (7, 3), (7, 5)):
            target = SurroundingRectangle(code.code_lines[line], color=YELLOW, buff=0.05)
            crossed = (
                []
                if prime is None
                else [
                    number.animate.set_color(RED).set_opacity(0.4)
                    for number in numbers
                    if number.get_value() > prime and number.get_value() % prime == 0
                ]
            )
            self.play(Transform(marker, target), *crossed, run_time=0.7)
        self.play(FadeOut(marker))


class Headlines(Scene):
    """Text alone: written, moved, transformed, in several fonts and colours."""

    def construct(self):
        lines = VGroup(
            Text("Every great idea", gradient=(BLUE, GREEN)),
            Text("starts with a question", slant=ITALIC),
            MarkupText('and <span foreground="yellow">somebody</span> who <b>asks</b> it'),
            Paragraph("Text in several lines", "that is centred", "as a paragraph", alignment="center"),
        )
        lines.arrange(DOWN, buff=0.5).scale(0.8)
        for line in lines:
            self.play(
                AddTextLetterByLetter(line, time_per_char=0.03) if isinstance(line, Text) else Write(line)
            )
        self.play(LaggedStart(*(line.animate.shift(0.3 * UP).scale(0.9) for line in lines), lag_ratio=0.2))
        question = Text("Why?", font_size=144, weight=BOLD)
        self.play(ReplacementTransform(lines, question))
        self.play(question.animate.set_color(ORANGE).rotate(PI / 12), run_time=0.6)
        self.play(FadeOut(question, scale=2), run_time=0.6)
