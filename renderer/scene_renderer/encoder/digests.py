"""Digests of pictures: two pictures of a form are equal if their digests are."""

import hashlib

from ..video.frames import Form, Pixels, Rows

SIZE_BYTES = 16
_BAND_ROWS = 16


class PictureDigest:
    """The digest of a picture that changes by rows: it is that of the digests of its bands.

    `pixels`: those of the picture, in the order of the form.
    """

    def __init__(self, form: Form, pixels: Pixels) -> None:
        self._planes = form.planes(pixels)
        self._height_px = form.height_px
        self._bands = [b""] * -(-form.height_px // _BAND_ROWS)

    def of(self, rows: Rows) -> bytes:
        """Return the digest of the picture, of which these rows may have changed since the last call."""
        first, end = rows
        for band in range(first // _BAND_ROWS, -(-end // _BAND_ROWS)):
            self._bands[band] = self._of_band(band)
        return hashlib.sha256(b"".join(self._bands)).digest()[:SIZE_BYTES]

    def _of_band(self, band: int) -> bytes:
        digest = hashlib.sha256()
        for plane in self._planes:
            rows = _BAND_ROWS * len(plane) // self._height_px
            digest.update(plane[band * rows : (band + 1) * rows].reshape(-1).data)
        return digest.digest()
