"""Success: the memory of this process contains text of an earlier job.

Outcome: completed
"""

class Attack(Scene):
    def construct(self):
        # Split, so that it is not found in this source.
        first, second = (TARGETS["marker"][::-1][half].encode() for half in (slice(0, 12), slice(12, None)))
        refused(open, "/proc/self/mem", "rb")
        for line in open("/proc/self/maps").read().splitlines():
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            # Reading kernel mappings, or beyond the end of a mapped file, would crash the process.
            is_memory = not line.split()[5:] or line.split()[5] in ("[heap]", "[stack]")
            if "r" not in line.split()[1] or end - start > 1 << 28 or not is_memory:
                continue
            text = ctypes.string_at(start, end - start)
            if any(part.startswith(second) for part in text.split(first)[1:]):
                raise Through(line)
