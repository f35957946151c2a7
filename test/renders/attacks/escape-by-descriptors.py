"""Success: a descriptor that the job has not opened leads to a folder.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for descriptor in range(3, 256):
            refused(os.listdir, descriptor)
            refused(os.open, "..", os.O_RDONLY, dir_fd=descriptor)
