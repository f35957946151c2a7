"""Success: a socket of any family can be created.

Outcome: completed
"""

import socket


class Attack(Scene):
    def construct(self):
        for family in range(46):
            for kind in (1, 2, 3, 5):
                refused(socket.socket, family, kind)
