"""Success: pipes keep pages of removed files, which are not counted.

Outcome: completed
"""

import shutil

SENDFILE, TEE, SPLICE, VMSPLICE = 40, 276, 275, 278
if os.uname().machine == "aarch64":
    SENDFILE, TEE, SPLICE, VMSPLICE = 71, 77, 76, 75


class Attack(Scene):
    def construct(self):
        with open("hoard", "wb") as file:
            file.write(bytes(4 << 20))
        hoard = os.open("hoard", os.O_RDONLY)
        reader, writer = os.pipe()
        _, another = os.pipe()
        refused(os.splice, hoard, writer, 1)
        refused(os.sendfile, writer, hoard, 0, 1)
        failed(libc.syscall(SPLICE, hoard, None, writer, None, 1, 0), "splice")
        failed(libc.syscall(SENDFILE, writer, hoard, None, 1), "sendfile")
        os.write(writer, b"x")
        failed(libc.syscall(TEE, reader, another, 1, 0), "tee")
        page = ctypes.create_string_buffer(4096)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(page), 4096)
        failed(libc.syscall(VMSPLICE, another, vector, 1, 0), "vmsplice")
        # Ordinary uses work without them.
        shutil.copy2("hoard", "copy")
        if os.path.getsize("copy") != 4 << 20:
            raise Through("an incomplete copy")
