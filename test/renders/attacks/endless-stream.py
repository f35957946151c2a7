"""Success: a video without end occupies the encoder until the time-out.

Outcome: failed: (The video is longer than the limit|sent something else)
"""


class Attack(Scene):
    def construct(self):
        self.wait(0.2)
        while True:  # Until the encoder has ended, and this job with it.
            sender()._send(b"F", 0, 0, 1000)
