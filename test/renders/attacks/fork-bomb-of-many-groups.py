"""Success: a process stopped before being killed continues and forks again, because its process group was not killed.

Outcome: canceled
"""

import signal


class Attack(Scene):
    def construct(self):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # sent before SIGCONT
        while True:
            try:
                if os.fork() == 0:
                    os.setpgid(0, 0)
            except OSError:
                pass
