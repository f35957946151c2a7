"""The kernel's limits for each process of a job. A control group or `watch.py` limits its total memory."""

import os
import resource
from contextlib import suppress

from ..messages import JobLimits

# Pending signals and timers: kernel memory that counts for the user, which may also run the service.
_SIGNALS_WAITING = 1024


def apply(limits: JobLimits, *, other_processes: int) -> None:
    """Limit this process and its children; lower existing limits are kept.

    `other_processes`: number of the user's other processes, since the kernel limits processes per user.
    """
    for kind, value in (
        (resource.RLIMIT_AS, limits.address_space_bytes),
        (resource.RLIMIT_NPROC, limits.processes + other_processes),
        (resource.RLIMIT_FSIZE, limits.file_size_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        # Not 0: with a pipe in core_pattern the kernel ignores a limit of 0, but not of 1.
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_SIGPENDING, _SIGNALS_WAITING),
        # 0: priorities can't be raised, whatever the privileges of the service.
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
