"""Success: a folder remains because its path is too long or it cannot be listed.

Outcome: failed: ValueError: over
"""


class Attack(Scene):
    def construct(self):
        home = os.open(".", os.O_RDONLY)
        for _ in range(40):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        open("left-behind", "w").close()
        os.chmod(".", 0)
        os.fchdir(home)
        os.mkdir("closed", 0)
        raise ValueError("over")
