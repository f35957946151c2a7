"""Success: a system call that exploits often use is available.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for name, number in (
            ("bpf", 321),
            ("perf_event_open", 298),
            ("userfaultfd", 323),
            ("kexec_load", 246),
            ("init_module", 175),
            ("modify_ldt", 154),
            ("fanotify_init", 300),
            ("personality", 135),
            ("name_to_handle_at", 303),
            ("open_by_handle_at", 304),
            ("quotactl", 179),
            ("acct", 163),
            ("swapon", 167),
            ("syslog", 103),
            ("reboot", 169),
            ("vmsplice", 278),
            ("landlock", 444),
        ):
            failed(libc.syscall(number, 0, 0, 0, 0, 0), name)
