"""Success: a descriptor can be sent over the job's channel.

Outcome: completed
"""

import socket


class Attack(Scene):
    def construct(self):
        channel = socket.socket(fileno=channel_descriptor())
        refused(socket.send_fds, channel, [b"x"], [0])
        refused(socket.recv_fds, channel, 1, 1)
        channel.detach()
