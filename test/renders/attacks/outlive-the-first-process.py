"""Success: a sibling of the job's first process prevents the job from ending before its timeout.

Outcome: completed
"""

CLONE = 220 if os.uname().machine == "aarch64" else 56
CLONE_PARENT, SIGCHLD = 0x8000, 17


class Attack(Scene):
    def construct(self):
        child = libc.syscall(CLONE, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        failed(child, "clone")
