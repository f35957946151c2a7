"""The kernel's limits for the processes of a job."""

import os
import resource
from contextlib import suppress

from .protocol import Limits

# Signals sent and not taken, and timers: kernel memory that is counted for the user, the service perhaps.
_SIGNALS_WAITING = 1024


def apply(limits: Limits, *, other_processes: int) -> None:
    """Limit this process and its children; what is already below a limit stays below it.

    `other_processes`: the kernel limits a user's processes, not a job's; these aren't the job's.
    """
    for kind, value in (
        (resource.RLIMIT_AS, limits.address_space_bytes),
        (resource.RLIMIT_NPROC, limits.processes + other_processes),
        (resource.RLIMIT_FSIZE, limits.file_size_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        # Not 0: the kernel hands a dump to a program all the same, where it is told to; not with 1.
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_SIGPENDING, _SIGNALS_WAITING),
        # 0: no priority can be raised, whatever the service may do.
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def running_processes() -> int:
    """Return the number of this user's processes and threads."""
    count = 0
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
