"""Success: the encoder reads gigabytes into its memory.

Frames may be on their way meanwhile: the encoder then meets the middle of one.
Outcome: failed: (The captions are too large|The scene's process sent something else)
"""


class Attack(Scene):
    def construct(self):
        self.wait(0.2)
        sender()._send(b"C", 1 << 40, 0, 0)
        while True:
            sender()._connection.sendall(bytes(1 << 20))
