"""Success: a file of the service's data folder is opened, or the folder listed.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        names = ("lock", "lock.holder", "database.sqlite", "database.sqlite-wal", "keys.json", "spare-space", "artifacts")
        for path in (*TARGETS["files"], *(f"{TARGETS['data']}/{name}" for name in names)):
            refused(os.open, path, os.O_RDONLY)
        see_only(TARGETS["data"], "work")
