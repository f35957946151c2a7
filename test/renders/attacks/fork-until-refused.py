"""Success: more processes run than the limit permits.

Outcome: failed: refused
"""

import time


class Attack(Scene):
    def construct(self):
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
                count += 1
                if count > TARGETS["processes"]:
                    raise Through(count)
        except BlockingIOError:
            raise ValueError("refused") from None
