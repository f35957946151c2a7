"""Success: an abstract Unix socket of another process is reached.

Outcome: completed
"""

import socket


class Attack(Scene):
    def construct(self):
        def connect():
            with socket.socket(socket.AF_UNIX) as client:
                client.connect("\0" + TARGETS["abstract"])

        refused(connect)
