"""Success: a process outside of the job gets a signal.

Outcome: completed
"""

import signal


class Attack(Scene):
    def construct(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for target in (-1, 0, os.getppid(), 1):
            try:
                os.kill(target, signal.SIGTERM)
            except OSError:
                pass
        if TARGETS["service"] > 300:
            refused(os.kill, TARGETS["service"], 0)
