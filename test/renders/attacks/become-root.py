"""Success: the job's user or rights change.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        refused(os.setuid, 0)
        refused(os.setgid, 0)
        refused(os.setgroups, [0])
        failed(libc.syscall(126, None, None), "capset")
        if os.getuid() == 0:
            raise Through
        with open("/proc/self/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        if lines["NoNewPrivs"].strip() != "1" or int(lines["CapEff"], 16) or int(lines["CapBnd"], 16):
            raise Through(lines)
