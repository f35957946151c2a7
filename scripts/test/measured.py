"""Runs a program and measures it with all processes that it starts.

    python measured.py REPORT PROGRAM ARGUMENT …

REPORT is written as JSON: ``wallS``, and ``cpuS``, the seconds of processor time (user and system).
Processes whose parents have ended are adopted, so that they are counted, too. Exits as the program does.
SIGALRM, by which tap ends a program that has timed out, ends all of these processes.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
REAP_S = 0.2  # how long processes may take to end after the program


def main(report: str, command: list[str]) -> None:
    """Run the command and write the report."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.monotonic()
    program = os.fork()
    if program == 0:
        os.execvp(command[0], command)
    signal.signal(signal.SIGALRM, lambda number, _frame: end_all(number))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: os.kill(program, number))
    status = None
    while status is None:
        pid, ended = os.wait()
        if pid == program:
            status = ended
    wall = time.monotonic() - began
    reap_others()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    Path(report).write_text(json.dumps({"wallS": wall, "cpuS": used.ru_utime + used.ru_stime}))
    exit_as(status)


def reap_others() -> None:
    """Count processes that end with the program or soon after it."""
    until = time.monotonic() + REAP_S
    try:
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(REAP_S / 20)
    except ChildProcessError:
        pass


def end_all(number: int) -> None:
    """Pass the signal on to the program; kill it and all that it has started soon after."""
    for pid in children(os.getpid()):
        os.kill(pid, number)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(0.2)  # tap kills this process after half a second
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below another."""
    found = children(pid)
    return found + [below for child in found for below in descendants(child)]


def children(pid: int) -> list[int]:
    """Return the ids of the processes that the threads of another have started or adopted."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(child) for child in path.read_text().split()]
    return found


def exit_as(status: int) -> None:
    """Exit with the code, or by the signal, of the program."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        sys.exit(code)
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
