from manim import *


class CameraTour(MovingCameraScene):
    def construct(self):
        text = Text("wide view").shift(LEFT * 3)
        circle = Circle().shift(RIGHT * 3)
        self.add(text, circle)
        self.play(self.camera_frame.animate.set(width=5).move_to(circle))
        self.wait()
        self.play(self.camera.frame.animate.set_height(8).move_to(ORIGIN))
        self.play(Indicated(text))
        self.wait()
