# Quicksort at work
from manim import *


class Sorting(Scene):
    def construct(self):
        heights = [5, 2, 9, 7, 1, 8, 3, 10, 6, 4]
        colors = color_gradient([BLUE, GREEN, YELLOW], 10)
        bars = [
            Rectangle(width=0.8, height=0.5 * h, fill_opacity=0.9, stroke_width=0, color=colors[h - 1])
            for h in heights
        ]
        for index, bar in enumerate(bars):
            bar.height_value = heights[index]
            bar.move_to([(index - 4.5) * 1.05, -2.6, 0], aligned_edge=DOWN)
        self.play(LaggedStart(*[GrowFromEdge(bar, DOWN) for bar in bars], lag_ratio=0.08))

        def swap(i, j):
            first, second = bars[i], bars[j]
            shift = RIGHT * (second.get_x() - first.get_x())
            self.play(first.animate.shift(shift), second.animate.shift(-shift), run_time=0.3)
            bars[i], bars[j] = second, first

        def sort(low, high):
            if low >= high:
                return
            pivot = bars[high]
            self.play(Indicate(pivot, color=WHITE, scale_factor=1.1), run_time=0.4)
            place = low
            for index in range(low, high):
                if bars[index].height_value < pivot.height_value:
                    if index != place:
                        swap(index, place)
                    place += 1
            if place != high:
                swap(place, high)
            sort(low, place - 1)
            sort(place + 1, high)

        sort(0, len(bars) - 1)
        self.play(LaggedStart(*[bar.animate(rate_func=there_and_back).shift(UP * 0.4) for bar in bars], lag_ratio=0.06))
