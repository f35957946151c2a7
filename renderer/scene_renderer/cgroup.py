"""Joins the control group that limits the total resources of a job. The service makes it and sets the limits.

The zygote stays outside: its memory doesn't count, and it isn't killed with a job. The kernel checks the
permission to join against the opener of the descriptor, the service. Jobs close the descriptor.
"""

import os

_INHERITED = 3
_THIS_PROCESS = b"0"


def entrance() -> int:
    """Return the descriptor of the group's cgroup.procs, which executed programs don't inherit."""
    os.set_inheritable(_INHERITED, False)
    return _INHERITED


def enter(entrance: int) -> None:
    """Move this process and its future children into the group. Raises OSError."""
    os.write(entrance, _THIS_PROCESS)


def problem(entrance: int) -> str | None:
    """Return why processes can't join the group; None if they can."""
    child = os.fork()
    if child == 0:
        code = -1
        try:
            enter(entrance)
            code = 0
        except OSError as error:
            code = error.errno or code
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return os.strerror(code) if code else None
