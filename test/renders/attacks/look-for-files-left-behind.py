"""Success: a file of an earlier job is found.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for folder in (".", os.environ["HOME"], os.environ["TMPDIR"], "/tmp", "/dev/shm"):
            if os.path.lexists(f"{folder}/left-behind.pkl"):
                raise Through(folder)
