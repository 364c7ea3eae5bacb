"""From an image file, whatever its state, to an RGB image of bounded size, or to one sentence why not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from taxosphere.errors import TaxosphereError, require

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 100_000_000  # a larger file is a mistake or an attack: it would take gigabytes to open
_LONGEST_SIDE = 1024  # encoders look at a few hundred pixels
_LONGEST_SHAPE = 4  # sides longer than this many times the other lose their ends: encoders see the middle
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})


class Unreadable(TaxosphereError):
    """The file is no image that can be used; the message says why, without the file's name."""


def read(path: Path) -> Image:
    """The first frame in RGB, upright, on white where it was transparent."""
    require("PIL", "images")
    if not path.exists():
        raise Unreadable("there is no such file")
    if not path.is_file():
        raise Unreadable("is not a file")
    if path.stat().st_size == 0:
        raise Unreadable("the file is empty")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # Pillow warns about odd but readable files, and about size before we look at it
        return _decode(path)


def _decode(path: Path) -> Image:
    from PIL import Image as pillow
    from PIL import ImageOps, UnidentifiedImageError

    try:
        with pillow.open(path) as opened:
            _refuse_huge(opened.size)
            opened.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
            image = _bounded(opened)
            turned = ImageOps.exif_transpose(image)
            return _rgb(turned)
    except Unreadable:
        raise
    except UnidentifiedImageError:
        raise Unreadable("is not an image, or of a kind that is not known") from None
    except pillow.DecompressionBombError:
        raise Unreadable(f"has more than {MOST_PIXELS // 1_000_000} million pixels") from None
    except Exception as error:  # decoders raise a dozen kinds of error over damaged bytes; all mean the same
        reason = " ".join(str(error).split()) or type(error).__name__
        raise Unreadable(f"is damaged: {reason[:120]}") from None


def _refuse_huge(size: tuple[int, int]) -> None:
    if size[0] * size[1] > MOST_PIXELS:
        raise Unreadable(f"has {size[0]:,} × {size[1]:,} pixels, more than {MOST_PIXELS // 1_000_000} million")
    if min(size) < 1:
        raise Unreadable("has no pixels")


def _bounded(image: Image) -> Image:
    """The middle of a very long image, scaled down to a size that any encoder still finds large."""
    width, height = image.size
    longest = _LONGEST_SHAPE * min(width, height)
    if max(width, height) > longest:
        left, top = max(0, width - longest) // 2, max(0, height - longest) // 2
        exif = image.info.get("exif")
        image = image.crop((left, top, left + min(width, longest), top + min(height, longest)))
        if exif is not None:
            image.info["exif"] = exif
    image.load()
    if image.mode in ("1", "P", "PA"):  # palettes cannot be averaged
        image = image.convert("RGBA")
    image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    return image


def _rgb(image: Image) -> Image:
    from PIL import Image as pillow

    if image.mode.startswith(("I", "F")):  # more than eight bits: the image's own range becomes 0–255
        low, high = image.convert("F").getextrema()
        if not (isinstance(low, float) and isinstance(high, float)):
            raise Unreadable("has no range of brightness")
        scale = 255.0 / (high - low) if high > low else 0.0
        image = image.convert("F").point(lambda value: value * scale - low * scale).convert("L")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        ground = pillow.new("RGBA", image.size, "white")
        ground.alpha_composite(image)
        image = ground
    return image.convert("RGB")
