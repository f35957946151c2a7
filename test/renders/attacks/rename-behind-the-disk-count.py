"""Success: files are moved to folders that have already been counted, and so are not counted.

Outcome: failed: files were larger than the limit|more files than the limit
"""

import threading, time

SIZE = 300 << 20


class Attack(Scene):
    def construct(self):
        places = ["a", "b"]
        for place in places:
            os.mkdir(place)
            for number in range(950):
                open(f"{place}/{number}", "w").close()
        first = next(name for name in os.listdir() if name in places)
        second = "ab".replace(first, "")
        hoard = open(f"{second}/hoard", "wb", buffering=0)
        self.over = None
        threading.Thread(target=self.grow, args=[hoard], daemon=True).start()
        read = {place: os.stat(place).st_atime_ns for place in places}
        deadline = time.monotonic() + 8
        while time.monotonic() < deadline and not self.over:
            for source, target in ((second, first), (first, second)):
                self.await_reading(target, read)
                os.rename(f"{source}/hoard", f"{target}/hoard")
        os.remove(f"{second}/hoard")
        hoard.close()
        if self.over:
            raise self.over

    def await_reading(self, place, read):
        """Wait until a folder is read once more, which its time of last access tells; or a while."""
        deadline = time.monotonic() + 0.6
        while (now := os.stat(place).st_atime_ns) == read[place] and time.monotonic() < deadline:
            pass
        read[place] = now

    def grow(self, hoard):
        try:
            written = 0
            while written < SIZE:
                written += hoard.write(bytes(1 << 20))
                time.sleep(0.01)
        except (OSError, ValueError) as error:  # ValueError: the file is closed
            self.over = error if isinstance(error, OSError) else None
