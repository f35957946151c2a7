"""NAL units and slices of H.264 (ITU-T H.264), as far as packets are changed without encoding them."""

import re
from collections.abc import Iterator

START_CODE = b"\0\0\0\1"
_START_CODES = re.compile(rb"\x00\x00\x00?\x01")
_LENGTH_BYTES = 4
# Types of units. x264 describes its settings in one of information, which no player needs.
SLICE, KEY_SLICE, INFORMATION, SEQUENCE_SETTINGS = 1, 5, 6, 7
_UNIT_TYPE = 0x1F
# The byte that keeps start codes out of units, and its places (7.4.1).
_INSERTED = re.compile(rb"(?<=\x00\x00)\x03")
_PLACES = re.compile(rb"\x00\x00(?=[\x00-\x03])")
_HIGH_PROFILE = 100


def units_of(packet: bytes) -> list[bytes]:
    """Split a packet of an encoder at its start codes."""
    before, *units = _START_CODES.split(packet)
    assert not before
    return units


def units_of_stored(packet: bytes) -> Iterator[bytes]:
    """Split a packet of an MP4, whose units follow their lengths. Raises ValueError if these are wrong."""
    at = 0
    while at < len(packet):
        end = at + _LENGTH_BYTES + int.from_bytes(packet[at : at + _LENGTH_BYTES])
        if not at + _LENGTH_BYTES < end <= len(packet):
            raise ValueError("a packet with wrong lengths of its units")
        yield packet[at + _LENGTH_BYTES : end]
        at = end


def joined(units: Iterator[bytes]) -> bytes:
    """Return a packet of units, as encoders write it."""
    return b"".join(START_CODE + unit for unit in units)


def type_of(unit: bytes) -> int:
    """Return the type of a unit."""
    return unit[0] & _UNIT_TYPE


def frame_number_bits(settings: bytes) -> int:
    """Return the length of frame numbers from an encoder's parameter sets (7.3.2.1.1).

    Fails if they allow other references or another order of pictures than `repeats.py` describes.
    """
    sequence = next(
        unit for unit in _START_CODES.split(settings) if unit and type_of(unit) == SEQUENCE_SETTINGS
    )
    bits = _Bits(_INSERTED.sub(b"", sequence))
    bits.fixed(8)
    assert bits.fixed(8) < _HIGH_PROFILE  # higher profiles have more fields here
    bits.fixed(16)
    bits.exponential()
    length = bits.exponential() + 4
    assert bits.exponential() == 2  # pictures are shown in the order of their numbers
    assert bits.exponential() == 1  # reference picture
    return length


def with_frame_number(unit: bytes, number: int, number_bits: int) -> bytes:
    """Return a slice with another frame number (7.3.3)."""
    data = _INSERTED.sub(b"", unit)
    bits = _Bits(data)
    _skip_to_frame_number(bits)
    before = bits.fixed(number_bits)
    changed = bits.value ^ (before ^ number % (1 << number_bits)) << bits.left
    return _PLACES.sub(b"\0\0\3", changed.to_bytes(len(data)))


def key_number(unit: bytes, number_bits: int) -> int:
    """Return the number in which neighbouring key pictures differ, from a slice of one (idr_pic_id)."""
    bits = _Bits(_INSERTED.sub(b"", unit))
    _skip_to_frame_number(bits)
    bits.fixed(number_bits)
    return bits.exponential()


def with_key_number(unit: bytes, number: int, number_bits: int) -> bytes:
    """Return the slice of a key picture with another number. Only its header changes."""
    data = _INSERTED.sub(b"", unit)
    bits = _Bits(data)
    _skip_to_frame_number(bits)
    bits.fixed(number_bits)
    first = len(data) * 8 - bits.left
    bits.exponential()
    second = bits.left
    bits.fixed(2)  # which pictures are kept as references
    bits.exponential()  # quantiser
    if bits.exponential() != 1:  # filter at the edges of blocks
        bits.exponential()
        bits.exponential()
    # The data of macroblocks begins at a byte, after bits that are 1 (7.3.4: CABAC).
    body = bits.left // 8
    header = bits.value >> len(data) * 8 - first << _width(number) | number + 1
    kept = second - bits.left
    header = header << kept | bits.value >> bits.left & (1 << kept) - 1
    length = first + _width(number) + kept
    padding = -length % 8
    header = header << padding | (1 << padding) - 1
    changed = header.to_bytes((length + padding) // 8) + data[len(data) - body :]
    return _PLACES.sub(b"\0\0\3", changed)


def _width(number: int) -> int:
    """Return the bits of a number in the code of Exp-Golomb (9.1)."""
    return 2 * (number + 1).bit_length() - 1


def _skip_to_frame_number(bits: "_Bits") -> None:
    bits.fixed(8)
    for _ in range(3):  # first macroblock, type, parameter set
        bits.exponential()


class _Bits:
    """Reads numbers of a unit without inserted bytes."""

    def __init__(self, data: bytes) -> None:
        self.value = int.from_bytes(data)
        self.left = len(data) * 8

    def fixed(self, length: int) -> int:
        self.left -= length
        return self.value >> self.left & (1 << length) - 1

    def exponential(self) -> int:
        """Read an unsigned Exp-Golomb code (9.1)."""
        zeros = 0
        while not self.fixed(1):
            zeros += 1
        return (1 << zeros) - 1 + self.fixed(zeros)
