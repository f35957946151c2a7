"""Success: a server on this machine is reached.

Outcome: completed
"""

import socket


class Attack(Scene):
    def construct(self):
        refused(socket.create_connection, ("127.0.0.1", TARGETS["port"]), 1)
        refused(socket.create_connection, ("::1", TARGETS["port"]), 1)
