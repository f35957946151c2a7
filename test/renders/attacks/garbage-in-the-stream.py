"""Success: garbage is taken for frames.

Outcome: failed: sent something else
"""


class Attack(Scene):
    def construct(self):
        self.wait(0.2)
        sender()._connection.sendall(bytes(100_000))
