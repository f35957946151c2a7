"""Success: a process that was stopped to be killed goes on, because its group has been left alone, and forks again.

Outcome: canceled
"""

import signal


class Attack(Scene):
    def construct(self):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which comes before the signal to go on
        while True:
            try:
                if os.fork() == 0:
                    os.setpgid(0, 0)
            except OSError:
                pass
