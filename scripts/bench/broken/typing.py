from manim import *


class Typing(Scene):
    def construct(self):
        line = Text("Scenes are programs.", font_size=40)
        self.play(AddTextLetterByLetter(line, time_per_letter=0.1))
        under = Underline(line, color=YELLOW)
        self.play(Create(under))
        para = Paragraph("first line", "second line", alignment="center").next_to(line, DOWN, buff=1)
        self.play(Write(para))
        self.play(FadeOut(VGroup(line, under, para)))
        end = Text("The end", style=BOLD)
        self.play(Fadein(end))
        self.wait()
