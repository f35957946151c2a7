"""The sieve of Eratosthenes, then a spiral: hundreds of mobjects that change together."""

import itertools

from manim import *

ACCENT = GREEN
# colour, instead: ACCENT = BLUE


class Sieve(Scene):
    def construct(self):
        title = Text("Prime numbers", font_size=40).to_edge(UP, buff=0.3)
        self.play(Write(title))
        self.cells = VGroup()
        for number in range(1, 121):
            square = Square(0.44, stroke_width=1, color=GRAY)
            self.cells.add(VGroup(square, Text(str(number), font_size=16)))
        self.cells.arrange_in_grid(8, 15, buff=0.12).next_to(title, DOWN, buff=0.4)
        # early, also: self.play(ShowPassingFlash(SurroundingRectangle(self.cells, color=ACCENT)))
        self.play(LaggedStart(*(FadeIn(cell, scale=0.5) for cell in self.cells), lag_ratio=0.02), run_time=3)
        rule = Text("Every multiple of a prime is crossed out.", font_size=28).to_edge(DOWN)
        self.play(FadeIn(rule, shift=UP))
        self.wait()
        self.play(self.cells[0].animate.set_opacity(0.15), run_time=0.5)
        left = set(range(2, 121))
        for prime in (2, 3, 5, 7):
            self.cross_out(prime, left)
            if prime == 3:
                half = Text("Two thirds of them are gone.", font_size=28).to_edge(DOWN)
                # text, instead: half = Text("A third of them is left.", font_size=28).to_edge(DOWN)
                self.play(FadeTransform(rule, half))
                self.wait(0.6)
                rule = half
        count = Text(f"{len(left)} primes are left.", font_size=28, color=ACCENT).to_edge(DOWN)
        self.play(ReplacementTransform(rule, count))
        for last in ("1", "3", "7", "9"):
            chosen = [self.cells[number - 1] for number in sorted(left) if str(number).endswith(last)]
            self.play(LaggedStart(*(Indicate(cell, color=ACCENT) for cell in chosen), lag_ratio=0.1))
        primes = VGroup(*(self.cells[number - 1] for number in sorted(left)))
        others = VGroup(*(cell for number, cell in enumerate(self.cells, 1) if number not in left))
        self.play(FadeOut(others), FadeOut(count))
        self.play(primes.animate.arrange_in_grid(3, 10, buff=0.4).move_to(ORIGIN), run_time=1.5)
        self.pairs(sorted(left))
        dots = self.spiral(primes)
        for angle in (PI / 2, -PI / 3):
            self.play(Rotate(dots, angle), run_time=1.5)
        self.play(dots.animate.set_color_by_gradient(ACCENT, WHITE))
        end = Text("There is no last one.", font_size=44)
        self.play(dots.animate.set_opacity(0.25), Write(end))
        self.wait()
        self.play(FadeOut(dots, scale=3), end.animate.set_color(ACCENT))
        # last, instead: self.play(FadeOut(dots, scale=0.1), end.animate.set_color(ACCENT))

    def cross_out(self, prime, left):
        cell = self.cells[prime - 1]
        self.play(cell[0].animate.set_fill(ACCENT, 0.7).set_stroke(ACCENT), run_time=0.5)
        self.play(Flash(cell, color=ACCENT, flash_radius=0.5), run_time=0.5)
        gone = [number for number in range(prime * prime, 121, prime) if number in left]
        for row in range(8):
            numbers = [number for number in gone if (number - 1) // 15 == row]
            if not numbers:
                continue
            self.play(*(self.cells[number - 1].animate.set_opacity(0.15) for number in numbers), run_time=0.3)
        left.difference_update(gone)
        self.wait(0.3)

    def pairs(self, primes):
        """Join primes that differ by two."""
        arcs = VGroup()
        for first, second in itertools.pairwise(primes):
            if second - first != 2:
                continue
            start, end = self.cells[first - 1], self.cells[second - 1]
            arcs.add(ArcBetweenPoints(start.get_top(), end.get_top(), angle=-PI / 3, color=ACCENT))
        self.play(LaggedStart(*(Create(arc) for arc in arcs), lag_ratio=0.2), run_time=2)
        self.wait(0.5)
        self.play(FadeOut(arcs))

    def spiral(self, primes):
        dots = VGroup()
        for number in range(2, 900):
            if all(number % factor for factor in range(2, int(number**0.5) + 1)):
                place = 0.0042 * number * np.array([np.cos(number), np.sin(number), 0])
                dots.add(Dot(place, radius=0.04, color=ACCENT))
        self.play(FadeOut(primes, scale=0.3), run_time=0.8)
        self.play(LaggedStart(*(GrowFromCenter(dot) for dot in dots), lag_ratio=0.02), run_time=3)
        self.wait(0.5)
        return dots
