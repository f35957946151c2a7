"""Success: garbage that was sent as a video is published.

Outcome: failed: The video
Level: full
"""


class Attack(Scene):
    def construct(self):
        self.wait(0.2)
        sender()._connection.sendall(os.urandom(100_000))
