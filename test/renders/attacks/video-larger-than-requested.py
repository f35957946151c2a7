"""Success: a 4K video is published at the price of low quality.

Outcome: failed: another size or rate than was requested
"""

from scene_renderer.video.frames import Form, Sender

declare = Sender.form
Sender.form = lambda sender, form: declare(sender, Form(3840, 2160, form.fps, form.pixels))


class Attack(Scene):
    def construct(self):
        self.wait()
