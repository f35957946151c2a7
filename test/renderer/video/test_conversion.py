"""The conversion of frames to the pixel format of videos."""

import random

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.video.reformatter import Interpolation, VideoReformatter

import scenepress_native
from scene_renderer.video.conversion import Area, Converter
from scene_renderer.video.frames import Form

Pixels = npt.NDArray[np.uint8]


def planes(frame: av.VideoFrame) -> list[Pixels]:
    return [
        np.asarray(memoryview(plane), np.uint8)
        .reshape(plane.height, plane.line_size)[:, : plane.width]
        .copy()
        for plane in frame.planes
    ]


def form_of(pixels: Pixels) -> Form:
    height, width, _ = pixels.shape
    return Form(width, height, 1, "yuv420p")


def converted(pixels: Pixels) -> list[Pixels]:
    """The planes of a picture."""
    converter = Converter(form_of(pixels))
    converter.convert(pixels, whole(pixels))
    return form_of(pixels).planes(converter.picture)


def whole(pixels: Pixels) -> Area:
    height, width, _ = pixels.shape
    return 0, 0, width, height


def noise(width: int, height: int) -> Pixels:
    return np.random.default_rng(width).integers(0, 256, (height, width, 4), dtype=np.uint8)


def extremes(width: int, height: int) -> Pixels:
    blocks = np.random.default_rng(1).choice(
        np.array([0, 255], np.uint8), (height // 2 + 1, width // 2 + 1, 4)
    )
    return np.ascontiguousarray(blocks.repeat(2, 0).repeat(2, 1)[:height, :width])


@pytest.mark.parametrize("size", [(64, 36), (90, 160), (192, 108), (854, 480)])
@pytest.mark.parametrize("make", [noise, extremes])
def test_yuv420p_is_that_of_swscale_with_accurate_rounding(make: object, size: tuple[int, int]) -> None:
    assert callable(make)
    pixels = make(*size)
    frame = av.VideoFrame.from_numpy_buffer(pixels, format="rgba")
    accurate = Interpolation.BILINEAR | Interpolation.ACCURATE_RND
    expected = VideoReformatter().reformat(frame, format="yuv420p", interpolation=accurate)
    for ours, theirs in zip(converted(pixels), planes(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_luma_is_that_of_the_manim_command_and_chroma_nearly() -> None:
    pixels = noise(320, 180)
    theirs = planes(av.VideoFrame.from_ndarray(pixels, format="rgba").reformat(format="yuv420p"))
    ours = converted(pixels)
    np.testing.assert_array_equal(ours[0], theirs[0])
    for plane in (1, 2):
        assert np.abs(ours[plane].astype(int) - theirs[plane]).max() <= 1


def test_the_smallest_pictures_are_converted() -> None:
    pixels = np.full((2, 2, 4), 255, np.uint8)
    assert [plane.tolist() for plane in converted(pixels)] == [
        [[235, 235], [235, 235]],
        [[128]],
        [[128]],
    ]


def test_rgba_is_sent_as_it_is() -> None:
    pixels = noise(16, 8)
    converter = Converter(Form(16, 8, 1, "rgba"))
    assert converter.convert(pixels, (3, 2, 5, 4)) == (0, 8), "all of the first picture"
    assert converter.convert(pixels, (3, 2, 5, 4)) == (2, 4)
    assert converter.picture is pixels


def test_buffers_that_are_too_small_are_refused() -> None:
    pixels = noise(16, 8)
    planes = (bytearray(16 * 8), bytearray(8 * 4), bytearray(8 * 4))
    scenepress_native.to_yuv420p(pixels, 16, 8, planes, (16, 8, 8), (0, 0, 16, 8))
    for area in [
        (0, -1, 16, 8),
        (0, 5, 16, 4),
        (0, 0, 16, 9),
        (-1, 0, 16, 8),
        (5, 0, 4, 8),
        (0, 0, 17, 8),
        (0, 0, 2**31, 8),
    ]:
        with pytest.raises((ValueError, OverflowError)):
            scenepress_native.to_yuv420p(pixels, 16, 8, planes, (16, 8, 8), area)
    for width, height, buffers, strides in [
        (16, 10, planes, (16, 8, 8)),
        (18, 8, planes, (18, 9, 9)),
        (15, 8, planes, (16, 8, 8)),
        (16, 8, (bytearray(16 * 8 - 1), *planes[1:]), (16, 8, 8)),
        (16, 8, (*planes[:2], bytearray(8 * 4 - 1)), (16, 8, 8)),
        (16, 8, planes, (15, 8, 8)),
        (16, 8, planes, (16, -8, 8)),
    ]:
        with pytest.raises(ValueError, match="don't fit"):
            scenepress_native.to_yuv420p(pixels, width, height, buffers, strides, (0, 0, width, height))


@pytest.mark.parametrize("height", [2, 4, 36])
def test_converting_only_a_changed_area_gives_the_same(height: int) -> None:
    pixels = noise(64, height)
    converter = Converter(form_of(pixels))
    converter.convert(pixels, whole(pixels))
    before = converter.picture.copy()
    chance = random.Random(height)
    for _ in range(200):
        first = chance.randint(0, height)
        end = chance.randint(first, height)
        left = chance.randint(0, 64)
        right = chance.randint(left, 64)
        pixels[first:end, left:right] = np.roll(pixels[first:end, left:right], chance.randint(1, 9))
        rows = converter.convert(pixels, (left, first, right, end))
        for ours, theirs in zip(form_of(pixels).planes(converter.picture), converted(pixels), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        # The rows that are sent, and no others, lead from the picture before to this one.
        for part, new in zip(
            form_of(pixels).parts(before, rows), form_of(pixels).parts(converter.picture, rows), strict=True
        ):
            part[:] = new
        np.testing.assert_array_equal(before, converter.picture)
        assert rows[0] == rows[1] if first == end or left == right else rows[0] <= rows[1]


def test_an_equal_picture_changes_nothing() -> None:
    pixels = noise(64, 36)
    converter = Converter(form_of(pixels))
    changes = []
    for picture in (pixels, pixels.copy(), np.roll(pixels, 1, axis=0), pixels, pixels):
        first, end = converter.convert(picture, whole(pixels))
        changes.append(first < end)
    assert changes == [True, False, True, True, False]


@pytest.mark.parametrize("place", [(0, 0), (35, 63), (17, 20)])
def test_one_other_pixel_changes_the_rows_around_it(place: tuple[int, int]) -> None:
    pixels = np.zeros((36, 64, 4), np.uint8)
    converter = Converter(form_of(pixels))
    converter.convert(pixels, whole(pixels))
    pixels[place] = 255
    first, end = converter.convert(pixels, whole(pixels))
    assert first <= place[0] < end
    assert end - first <= 4
