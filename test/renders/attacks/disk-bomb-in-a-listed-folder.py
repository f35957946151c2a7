"""Success: a folder that may be listed and not be entered ends the watch over the files.

Outcome: failed: can't be looked into|ValueError: nothing is closed here
"""

import time


class Attack(Scene):
    def construct(self):
        os.mkdir("d")
        with open("d/file", "wb") as file:
            os.chmod("d", 0o400)
            if not os.access("d/file", os.F_OK):
                time.sleep(10)
                file.write(bytes(200 << 20))
        raise ValueError("nothing is closed here")
