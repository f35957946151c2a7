"""Success: a job that sends no video is completed.

Outcome: failed: before it had sent its whole video
"""


class Attack(Scene):
    def construct(self):
        import socket

        sender()._connection.shutdown(socket.SHUT_WR)
        os.write(channel_descriptor(), b'{"type":"done"}\n')
        os._exit(0)
