"""Success: buffers of sockets hold memory that no limit counts.

Outcome: failed: memory
"""

import socket
import time


class Attack(Scene):
    def construct(self):
        kept = []
        for _ in range(TARGETS["processes"] // 2):
            if os.fork() == 0:
                break
        try:
            while True:
                kept += socket.socketpair()
                for end in kept[-2:]:
                    end.setblocking(False)
                    end.send(bytes(100_000))
        except OSError:  # too many open files
            time.sleep(60)
            raise Through("sockets") from None
