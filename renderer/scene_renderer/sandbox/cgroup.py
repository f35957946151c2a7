"""Joins the control group that limits the total resources of a job. The service makes it and sets the limits.

The zygote stays outside: its memory doesn't count, and it isn't killed with a job. The kernel checks the
permission to join against the opener of the descriptor, the service. Jobs close the descriptor.
"""

import os

_INHERITED = 3


def entrance() -> int:
    """Return the descriptor of the group's cgroup.procs, which executed programs don't inherit."""
    os.set_inheritable(_INHERITED, False)
    return _INHERITED


def enter(entrance: int, *pids: int) -> None:
    """Move processes and their future children into the group. Raises OSError."""
    for pid in pids:
        os.write(entrance, str(pid).encode())


def problem(entrance: int) -> str | None:
    """Return why processes can't join the group; None if they can."""
    child = os.fork()
    if child == 0:
        code = -1
        try:
            enter(entrance, os.getpid())
            code = 0
        except OSError as error:
            code = error.errno or code
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return os.strerror(code) if code else None
