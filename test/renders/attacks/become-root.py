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
        held = [int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
        # Without namespaces an ordinary user cannot lower the bounding set, which has no effect with NoNewPrivs.
        bound = int(lines["CapBnd"], 16) if TARGETS["level"] == "full" else 0
        if lines["NoNewPrivs"].strip() != "1" or any(held) or bound:
            raise Through(lines)
