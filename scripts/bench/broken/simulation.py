from manim import *


class Bounce(Scene):
    def construct(self):
        box = Rectangle(width=8, height=4)
        ball = Dot(color=YELLOW, radius=0.15)
        velocity = np.array([2.0, 1.5, 0])

        def step(mob, dt):
            mob.shift(velocity * dt)
            if abs(mob.get_x()) > 3.8:
                velocity[0] *= -1
            if abs(mob.get_y()) > 1.8:
                velocity[1] *= -1

        ball.add_update(step)
        self.add(box, ball)
        self.wait(3)
        ball.remove_updater(step)
        trace = Text("elastic", font_size=30).next_to(box, DOWN)
        self.play(Write(trace), runtime=0.5)
        self.play(FadeOut(ball, box)
        self.wait()
