"""Success: a job that sends no video is completed.

Outcome: failed: The video is incomplete
Level: full
"""


class Attack(Scene):
    def construct(self):
        import socket

        connection = sender()._connection
        connection.shutdown(socket.SHUT_WR)
        os.write(channel_descriptor(), b'{"type":"done","frames":1,"seconds":1,"widthPx":854,"heightPx":480,"fps":15}\n')
        os._exit(0)
