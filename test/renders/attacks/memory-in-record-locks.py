"""Success: locks take kernel memory that no limit counts, or can be noticed by other processes.

Outcome: completed
"""

import fcntl

OFD_SETLK = 37


class Attack(Scene):
    def construct(self):
        first, second = open("locked", "w"), open("locked", "w")
        for number in range(1000):
            fcntl.lockf(first, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * number)
        one_byte = (ctypes.c_short * 16)(fcntl.F_WRLCK)
        one_byte[8] = 1
        fcntl.fcntl(first, OFD_SETLK, bytes(one_byte))
        # Another process could not lock a range that is really locked.
        if (child := os.fork()) == 0:
            try:
                fcntl.lockf(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.fcntl(second, OFD_SETLK, bytes(one_byte))
            except BaseException:
                os._exit(1)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            raise Through("locks are taken")
        fcntl.flock(first, fcntl.LOCK_EX)
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
