"""Success: files are moved to where the count has already been, and so never counted.

Outcome: failed: files were larger than the limit|more files than the limit
"""

import threading, time

SIZE = 300 << 20


class Attack(Scene):
    def construct(self):
        places = ["a", "b"]
        for place in places:
            os.mkdir(place)
            for number in range(400):
                open(f"{place}/{number}", "w").close()
        first = next(name for name in os.listdir() if name in places)
        second = "ab".replace(first, "")
        hoard = open(f"{second}/hoard", "wb", buffering=0)
        self.over = None
        threading.Thread(target=self.grow, args=[hoard], daemon=True).start()
        deadline = time.monotonic() + 8
        while time.monotonic() < deadline and not self.over:
            for source, target in ((second, first), (first, second)):
                self.await_reading(target)
                os.rename(f"{source}/hoard", f"{target}/hoard")
        if self.over:
            raise self.over

    def await_reading(self, place):
        """Wait until a folder is read, which its time of last access tells; or a while."""
        before = os.stat(place).st_atime_ns
        deadline = time.monotonic() + 0.4
        while os.stat(place).st_atime_ns == before and time.monotonic() < deadline:
            pass

    def grow(self, hoard):
        try:
            written = 0
            while written < SIZE:
                written += hoard.write(bytes(1 << 20))
                time.sleep(0.005)
        except OSError as error:
            self.over = error
