"""Success: a scene reads the host name.

Outcome: completed
"""

import platform, socket


class Attack(Scene):
    def construct(self):
        if TARGETS["level"] != "full":
            return  # the reduced level does not hide it
        system = ctypes.create_string_buffer(6 * 65)
        libc.uname(system)
        domain = system.raw[5 * 65 :].rstrip(b"\0").decode()
        for name in (os.uname().nodename, platform.node(), socket.gethostname(), domain):
            if name != "scenepress":
                raise Through(name)
        for place in ("/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname", "/etc/hostname", "/etc/hosts"):
            refused(open, place)
