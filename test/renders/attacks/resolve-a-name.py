"""Success: a name server is queried.

Outcome: completed
"""

import socket


class Attack(Scene):
    def construct(self):
        refused(socket.getaddrinfo, "example.com", 80)
        refused(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)
