"""Success: processes together use more memory than the limit.

Outcome: failed: more memory than the limit
"""

import time


class Attack(Scene):
    def construct(self):
        for _ in range(6):
            if os.fork() == 0:
                break
        hoard = b"x" * (150 << 20)
        time.sleep(60)
