"""Files in every state a folder of images holds them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from taxosphere.encoders.image import files


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises a size and holds no pixel."""
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", b""))
    parts = [
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_transparent_parts_become_white(tmp_path: Path) -> None:
    image = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    image.putpixel((1, 1), (10, 20, 30, 255))
    image.save(tmp_path / "a.png")
    found = files.read(tmp_path / "a.png")
    assert found.getpixel((0, 0)) == (255, 255, 255)
    assert found.getpixel((1, 1)) == (10, 20, 30)


def test_palette_with_a_transparent_colour(tmp_path: Path) -> None:
    image = Image.new("P", (4, 4), 0)
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((2, 2), 1)
    image.save(tmp_path / "a.gif", transparency=0)
    found = files.read(tmp_path / "a.gif")
    assert found.getpixel((0, 0)) == (255, 255, 255)
    assert found.getpixel((2, 2)) == (0, 0, 255)


def test_inks_become_light(tmp_path: Path) -> None:
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "a.jpg", quality=95)
    red, green, blue = files.read(tmp_path / "a.jpg").getpixel((4, 4))  # type: ignore[misc]
    assert red > 200
    assert max(green, blue) < 60


def test_sixteen_bits_keep_their_gradient(tmp_path: Path) -> None:
    ramp = np.linspace(3000, 60000, 64).astype(np.uint16).reshape(8, 8)
    Image.fromarray(ramp).save(tmp_path / "a.png")
    found = np.asarray(files.read(tmp_path / "a.png"))[:, :, 0].astype(int)
    assert found[0, 0] == 0
    assert found[-1, -1] == 255
    assert (np.diff(found.ravel()) >= 0).all()


def test_the_camera_was_held_sideways(tmp_path: Path) -> None:
    image = Image.new("RGB", (20, 10), "black")
    image.paste("white", (0, 0, 10, 10))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    image.save(tmp_path / "a.png", exif=exif)
    found = files.read(tmp_path / "a.png")
    assert found.size == (10, 20)
    assert found.getpixel((5, 2)) == (255, 255, 255)
    assert found.getpixel((5, 17)) == (0, 0, 0)


def test_the_first_frame_of_an_animation(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert files.read(tmp_path / "a.gif").getpixel((0, 0)) == (255, 0, 0)


def test_a_very_long_image_keeps_its_middle_and_little_memory(tmp_path: Path) -> None:
    image = Image.new("L", (60_000, 2), 0)
    image.paste(255, (29_990, 0, 30_010, 2))
    image.save(tmp_path / "a.png")
    found = files.read(tmp_path / "a.png")
    assert found.size == (8, 2)
    assert found.getpixel((4, 1)) == (255, 255, 255)


def test_large_images_are_scaled_down(tmp_path: Path) -> None:
    Image.new("RGB", (3000, 1500), "teal").save(tmp_path / "a.png")
    assert files.read(tmp_path / "a.png").size == (1024, 512)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"just text", "not an image"),
        (png_header(20_000, 20_000), "pixels"),
        (png_header(9_000, 12_000), "pixels"),
        (png_header(8, 8), "damaged"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 40, "not an image"),
    ],
    ids=("empty", "text", "very huge", "huge", "no pixels", "no jpeg"),
)
def test_why_a_file_is_no_image(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(files.Unreadable, match=reason):
        files.read(path)


def test_a_file_cut_short(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jpg"
    Image.effect_noise((200, 200), 50).save(whole)
    (tmp_path / "half.jpg").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(files.Unreadable, match="damaged"):
        files.read(tmp_path / "half.jpg")


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(files.Unreadable, match="no such file"):
        files.read(tmp_path / "nowhere.png")
    with pytest.raises(files.Unreadable, match="not a file"):
        files.read(tmp_path)
