"""Success: more threads run than the limit permits.

Outcome: completed
"""

import threading


class Attack(Scene):
    def construct(self):
        threading.stack_size(65536)
        stay = threading.Event()
        try:
            for _ in range(TARGETS["processes"] + 1):
                threading.Thread(target=stay.wait, daemon=True).start()
        except RuntimeError:
            stay.set()
        else:
            raise Through
