"""Success: a socket is made that could reach another process, or one that is allowed does more than transfer bytes.

Outcome: completed
"""

import array
import asyncio
import itertools
import socket

STREAM = socket.SOCK_STREAM
FLAGS = (
    0,
    socket.SOCK_CLOEXEC,
    socket.SOCK_NONBLOCK,
    socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK,
)
OUT_OF_BAND = socket.MSG_OOB


class Attack(Scene):
    def construct(self):
        for family, kind, flags, protocol in itertools.product(
            range(46), range(1, 12), FLAGS, (0, 1, 6, 255)
        ):
            failed(libc.socket(family, kind | flags, protocol), "socket")
            if (family, kind, protocol) != (socket.AF_UNIX, STREAM, 0):
                pair = (ctypes.c_int * 2)()
                failed(
                    libc.socketpair(family, kind | flags, protocol, pair),
                    f"socketpair {family} {kind}",
                )
        for flags in FLAGS:
            one, other = socket.socketpair(socket.AF_UNIX, STREAM | flags)
            for name in ("\0" + TARGETS["abstract"], TARGETS["admin"]):
                refused(one.connect, name)
                refused(one.bind, name)
                refused(one.sendto, b"x", name)
            refused(one.listen)
            refused(one.accept)
            refused(one.setsockopt, socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))]
            refused(one.sendmsg, [b"x"], rights)
            refused(one.send, b"x", OUT_OF_BAND)
            refused(other.recv, 1, OUT_OF_BAND | socket.MSG_DONTWAIT)
            one.send(b"x")
            refused(other.recvmsg, 1, 100)
            if other.recv(1) != b"x":
                raise Through("nothing came")

        async def run():
            return await asyncio.to_thread(lambda: 3)

        if asyncio.run(run()) != 3:
            raise Through("asyncio")
