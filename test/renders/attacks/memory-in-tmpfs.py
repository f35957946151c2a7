"""Success: files in memory exceed the limit of their folders or of the job's memory.

Outcome: completed, or failed: files were larger than the limit
"""


class Attack(Scene):
    def construct(self):
        written = 0
        for folder in ("/tmp", "/dev/shm"):
            try:
                with open(f"{folder}/hoard", "wb", buffering=0) as file:
                    while True:
                        written += file.write(bytes(1 << 20))
                        if written > 200 << 20:
                            raise Through(written)
            except OSError:
                pass
