"""Success: a process whose first thread has ended seems to hold no files.

Outcome: failed: files were larger than the limit
"""

import threading, time

EXIT = 93 if os.uname().machine == "aarch64" else 60


class Attack(Scene):
    def construct(self):
        if os.fork() == 0:
            threading.Thread(target=self.hoard).start()
            libc.syscall(EXIT, 0)  # ends this thread only
        if refusal := os.waitstatus_to_exitcode(os.wait()[1]):
            raise OSError(refusal, "the kernel has refused it")

    def hoard(self):
        time.sleep(0.2)
        hoard = []
        try:
            for _ in range(10):
                hoard.append(open("hoard", "wb", buffering=0))
                os.remove("hoard")
                hoard[-1].write(bytes(16 << 20))
                hoard[-1].write(b"x")
            time.sleep(20)
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
