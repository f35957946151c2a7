"""From a square to the quadratic formula: formulas whose parts move, with captions."""

from manim import *

ACCENT = TEAL
# colour, instead: ACCENT = GOLD

STEPS = (
    (["x^2", "+", "p", "x", "+", "q", "=", "0"], "This is where we begin."),
    (["x^2", "+", "p", "x", "=", "-", "q"], "The constant goes to the other side."),
    (
        ["x^2", "+", "p", "x", "+", r"\tfrac{p^2}{4}", "=", r"\tfrac{p^2}{4}", "-", "q"],
        "Both sides get what completes the square.",
    ),
    ([r"\left(x + \tfrac{p}{2}\right)^2", "=", r"\tfrac{p^2}{4}", "-", "q"], "The left side is a square."),
    ([r"x + \tfrac{p}{2}", "=", r"\pm \sqrt{\tfrac{p^2}{4} - q}"], "A root has two signs."),
    (["x", "=", r"- \tfrac{p}{2}", r"\pm \sqrt{\tfrac{p^2}{4} - q}"], "This is the formula."),
)
EXAMPLES = ((-4, 3), (2, -8), (6, 9), (-1, -6))


class Quadratic(Scene):
    def construct(self):
        title = Tex(r"Solving $x^2 + px + q = 0$", font_size=56)
        self.play(Write(title), subcaption="Today we solve quadratic equations.")
        self.wait()
        self.play(title.animate.scale(0.7).to_edge(UP))
        # early, also: self.play(Create(Underline(title, color=ACCENT)), subcaption="Watch closely.")
        self.square()
        formula = self.derivation()
        self.play(formula.animate.scale(0.7).next_to(title, DOWN, buff=0.4))
        frame = SurroundingRectangle(formula, color=ACCENT, buff=0.15)
        self.play(Create(frame))
        for p, q in EXAMPLES:
            self.example(p, q, frame)
        thanks = Tex("Questions?", font_size=72, color=ACCENT)
        self.play(FadeOut(title, formula, frame), run_time=0.7)
        self.play(Write(thanks), subcaption="Are there questions?")
        # last, instead: self.play(FadeIn(thanks, shift=UP), subcaption="Are there any questions?")

    def square(self):
        """Complete a square of areas."""
        x = Square(1.8, color=BLUE, fill_opacity=0.5)
        right = Rectangle(height=1.8, width=0.8, color=ACCENT, fill_opacity=0.5).next_to(x, RIGHT, buff=0)
        below = Rectangle(height=0.8, width=1.8, color=ACCENT, fill_opacity=0.5).next_to(x, DOWN, buff=0)
        corner = Square(0.8, color=RED, fill_opacity=0.5).next_to(below, RIGHT, buff=0)
        names = [
            MathTex("x^2"),
            MathTex(r"\tfrac{p}{2} x"),
            MathTex(r"\tfrac{p}{2} x"),
            MathTex(r"\tfrac{p^2}{4}"),
        ]
        parts = VGroup()
        for area, name in zip((x, right, below, corner), names, strict=True):
            parts.add(VGroup(area, name.scale(0.6).move_to(area)))
        self.play(FadeIn(parts[0], scale=0.5), subcaption="A square with the side x.")
        self.play(FadeIn(parts[1], shift=LEFT), FadeIn(parts[2], shift=UP))
        self.wait(0.5)
        self.play(GrowFromCenter(parts[3]), subcaption="A small square is missing.")
        side = Brace(VGroup(below, corner), DOWN)
        length = side.get_tex(r"x + \tfrac{p}{2}")
        self.play(GrowFromCenter(side), Write(length))
        self.wait()
        everything = VGroup(parts, side, length)
        self.play(everything.animate.scale(0.7).to_corner(DL))
        self.play(everything.animate.set_opacity(0.3), run_time=0.5)

    def derivation(self):
        shown = MathTex(*STEPS[0][0])
        self.play(Write(shown), subcaption=STEPS[0][1])
        for number, (parts, sentence) in enumerate(STEPS[1:]):
            following = MathTex(*parts)
            note = Tex(sentence, font_size=32, color=GRAY_B).to_edge(DOWN)
            if number == 2:
                note = Tex("The left side is now a square.", font_size=32, color=GRAY_B).to_edge(DOWN)
                # text, instead: note = Tex("And the left side is a square.", font_size=32).to_edge(DOWN)
            self.play(TransformMatchingTex(shown, following), FadeIn(note), subcaption=sentence, run_time=1.2)
            self.play(Indicate(following, color=ACCENT), run_time=0.8)
            self.wait(0.4)
            self.play(FadeOut(note), run_time=0.4)
            shown = following
        return shown

    def example(self, p, q, frame):
        root = np.sqrt(p * p / 4 - q)
        solutions = sorted({-p / 2 - root, -p / 2 + root})
        equation = MathTex(f"x^2 {p:+}x {q:+} = 0").next_to(frame, DOWN, buff=0.6)
        inserted = MathTex(rf"x = {-p / 2:g} \pm \sqrt{{{p * p / 4:g} {-q:+}}}").next_to(equation, DOWN)
        result = MathTex(", ".join(f"x = {value:g}" for value in solutions)).next_to(inserted, DOWN)
        self.play(FadeIn(equation, shift=UP), run_time=0.7)
        self.play(TransformFromCopy(equation, inserted))
        self.play(Write(result))
        self.play(result.animate.set_color(ACCENT), run_time=0.5)
        self.wait(0.5)
        self.play(FadeOut(equation, inserted, result), run_time=0.5)
