from manim import *


class SelectionSort(Scene):
    def construct(self):
        random.seed(4)
        values = random.sample(range(1, 10), 6)
        bars = VGroup(*[Rectangle(height=v * 0.4, width=0.6, fill_opacity=1) for v in values])
        bars.arrange(RIGHT, aligned_edge=DOWN)
        self.play(FadeIn(bars))
        for i in range(len(values)):
            smallest = min(range(i, len(values)), key=lambda k: values[k])
            if smallest != i
                values[i], values[smallest] = values[smallest], values[i]
                a, b = bars[i], bars[smallest]
                self.play(Swap(a, b), run_time=0.4)
                bars.submobjects[i], bars.submobjects[smallest] = b, a
            self.play(bars[i].animate.set_fill(GREEN), run_time=0.2)
        self.wait()
