from manim import *


class Multiplication(Scene):
    def construct(self):
        table = IntegerTable(
            [[a * b for b in range(1, 4)] for a in range(1, 4)],
            row_labels=[MathTex(str(n)) for n in range(1, 4)],
            col_labels=[MathTex(str(n)) for n in range(1, 4)],
        )
        self.play(table.create())
        cell = table.get_cell((2, 3))
        cell.set_color(RED)
        self.play(Create(cell))
        entry = table.get_entry((3, 3))
        self.play(entry.animate.set_colour(YELLOW))
        self.play(table.animate.scale(0.5) run_time=1)
        self.wait()
