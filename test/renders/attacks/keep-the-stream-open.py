"""Success: the encoder waits for a process that outlives the scene.

Outcome: completed
"""

import time


class Attack(Scene):
    def construct(self):
        if os.fork() == 0:
            while True:
                time.sleep(1)
        self.wait(0.2)
