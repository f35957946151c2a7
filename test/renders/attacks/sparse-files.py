"""Success: a file exceeds the file size limit.

Outcome: completed, or failed: files were larger than the limit
"""


class Attack(Scene):
    def construct(self):
        with open("sparse", "wb") as file:
            refused(file.truncate, 1 << 40)
            refused(os.posix_fallocate, file.fileno(), 0, 1 << 40)
