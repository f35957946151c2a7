"""Success: a scene learns the host paths of the service, its data or its environment.

Outcome: completed
"""

import sys

OF_A_PROCESS = (
    *("auxv", "cgroup", "cmdline", "comm", "environ", "fdinfo", "limits", "maps", "mountinfo", "mounts"),
    *("mountstats", "net/unix", "numa_maps", "smaps", "stat", "status", "task"),
)


def texts():
    yield "Python", repr((sys.path, sys.argv, sys.orig_argv, sys.flags, dict(os.environ), os.getcwd()))
    yield "prefixes", repr((sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable))
    yield "modules", repr([getattr(module, "__file__", 0) for module in list(sys.modules.values())])
    yield "settings", open(f"{sys.prefix}/pyvenv.cfg").read() if os.path.exists(f"{sys.prefix}/pyvenv.cfg") else ""
    try:
        raise OSError
    except OSError as error:
        yield "frames", repr([error.__traceback__.tb_frame, error.__traceback__.tb_frame.f_back])
    for process in ("self", "thread-self", "1", str(os.getpid()), f"self/task/{os.getpid()}"):
        for name in OF_A_PROCESS:
            try:
                yield name, open(f"/proc/{process}/{name}", errors="replace").read()
            except OSError:
                pass
        for name in ("cwd", "exe", "root", *(f"fd/{number}" for number in range(64))):
            try:
                yield name, os.readlink(f"/proc/{process}/{name}")
            except OSError:
                pass


class Attack(Scene):
    def construct(self):
        if TARGETS["level"] != "full":
            return  # the reduced level does not hide them
        for name, text in texts():
            for path in TARGETS["paths"]:
                if path in text:
                    raise Through(name, text[:300])
