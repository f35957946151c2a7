"""Success: the service's own Unix socket is reached.

Outcome: completed
"""

import socket


class Attack(Scene):
    def construct(self):
        def connect(path):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)

        refused(connect, TARGETS["admin"])
        refused(connect, "channel")
