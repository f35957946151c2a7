"""Success: a process outlives its job.

Outcome: completed
"""

import time


class Attack(Scene):
    def construct(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(0.01)
                    with open("beat", "a") as file:
                        file.write("x")
            os._exit(0)
