"""Success: epoll or inotify hold kernel memory that no limit counts, of an allowance shared with the service.

Outcome: completed
"""

import select

INOTIFY_INIT1 = 26 if os.uname().machine == "aarch64" else 294


class Attack(Scene):
    def construct(self):
        refused(select.epoll)
        failed(libc.syscall(INOTIFY_INIT1, 0), "inotify")
