"""Success: the mode, times or content of a file of the service are changed (checked by the test).

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for path in (TARGETS["data"], *TARGETS["files"]):
            for attempt in (
                lambda path=path: os.chmod(path, 0o777),
                lambda path=path: os.chown(path, -1, os.getgid()),
                lambda path=path: os.utime(path, (1, 1)),
                lambda path=path: os.truncate(path, 0),
                lambda path=path: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
                lambda path=path: os.setxattr(path, "user.mark", b"x"),
            ):
                try:
                    attempt()
                except OSError:
                    pass
