"""Success: the job raises its CPU or disk priority.

Outcome: completed
"""

IOPRIO_SET, SCHED_SETATTR = (30, 274) if os.uname().machine == "aarch64" else (251, 314)
REAL_TIME = 1 << 13  # class 1


class Attack(Scene):
    def construct(self):
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        for which in (os.PRIO_PROCESS, os.PRIO_PGRP, os.PRIO_USER):
            refused(os.setpriority, which, 0, niceness - 1)
        refused(os.nice, -1)
        for policy in (os.SCHED_FIFO, os.SCHED_RR, os.SCHED_OTHER):
            refused(os.sched_setscheduler, 0, policy, os.sched_param(int(policy != os.SCHED_OTHER)))
        refused(os.sched_setparam, 0, os.sched_param(0))
        refused(os.sched_setaffinity, 0, {0})
        attributes = (48).to_bytes(4, "little") + bytes(44)  # size; policy SCHED_OTHER, niceness 0
        failed(libc.syscall(SCHED_SETATTR, 0, attributes, 0), "sched_setattr")
        failed(libc.syscall(IOPRIO_SET, 1, 0, REAL_TIME), "ioprio_set")
        # A new session would get its own share of the CPU.
        session = os.getsid(0)
        os.setsid()
        for path in ("/proc/self/autogroup", f"/proc/{os.getpid()}/autogroup", "/proc/1/autogroup"):
            refused(lambda path=path: os.write(os.open(path, os.O_WRONLY), b"0"))
        if os.getsid(0) != session or os.getpriority(os.PRIO_PROCESS, 0) != niceness:
            raise Through(os.getsid(0), os.getpriority(os.PRIO_PROCESS, 0))
