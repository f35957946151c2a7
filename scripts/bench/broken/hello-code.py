from manim import *


class HelloCode(Scene):
    def construct(self):
        code = '''for i in range(3):
    print(i)
'''
        rendered = Code(
            code=code,
            tab_width=4,
            language="Pythonn",
            background="rectangle",
        )
        self.play(Write(rendered))
        out = VGroup(*[Text(str(i), font="Monospace") for i in range(3)])
        out.arrange(DOWN).next_to(rendered, RIGHT, buffer=1)
        for line in out:
            self.play(FadeIn(line), run_time=0.3)
        self.wait()
