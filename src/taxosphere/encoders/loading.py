"""Loading models through transformers: without its progress bars, and language models from any place they come in."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from pathlib import Path
from typing import Any, TypeVar

from taxosphere.errors import InputError

T = TypeVar("T")

GGUF = ".gguf"


def without_progress_bars(action: Callable[[], T]) -> T:
    """Run without the progress bars of transformers, which would end up in logs and pipes."""
    from transformers.utils import logging as messages

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else it warns after a fork
    bars: Any = messages
    was_on = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        return action()
    finally:
        if was_on:
            bars.enable_progress_bar()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back what is printed while a GGUF file is read: a bar of its own kind, and advice about precision."""
    from transformers.utils import logging as messages

    level = messages.get_verbosity()
    messages.set_verbosity(logging.ERROR)
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        messages.set_verbosity(level)


def language_model(source: str | Path, dtype: str) -> tuple[Any, Any]:
    """Tokenizer and causal language model.

    Parameters
    ----------
    source : str or Path
        A name on the hub, a folder, or a GGUF file, which needs the packages gguf and accelerate.
    dtype : str
        What it computes in, as torch names it; "auto" for what it is stored in.

    Raises
    ------
    InputError
        There is no such model, or a package to read it is missing.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = Path(source)
    place, options = (path.parent, {"gguf_file": path.name}) if path.suffix == GGUF else (source, {})
    if options and not path.is_file():
        raise InputError("there is no such GGUF file", path)
    kinds: tuple[Any, Any] = AutoTokenizer, AutoModelForCausalLM
    try:
        with _quiet() if options else nullcontext():
            return without_progress_bars(
                lambda: (
                    kinds[0].from_pretrained(place, **options),
                    kinds[1].from_pretrained(place, dtype=dtype, **options).eval(),
                )
            )
    except ImportError as error:
        missing = str(error).strip().splitlines()[0]
        raise InputError(f"{missing}; pip install 'taxosphere[readers]'", source) from None
    except (OSError, ValueError, SafetensorError) as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(f"no causal language model can be read from here: {first}", source) from None


def gguf_to_folder(file: Path, folder: Path) -> None:
    """Write the model of a GGUF file, in bfloat16, as a folder that loads in seconds; raises as `language_model`."""
    from safetensors.torch import save_file

    tokenizer, model = language_model(file, "bfloat16")
    weights = {name: value.contiguous() for name, value in model.state_dict().items()}
    if model.config.tie_word_embeddings:  # the same numbers twice, which the format does not allow
        del weights["lm_head.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = model.config
    config.architectures = [type(model).__name__]
    vars(config).pop("quantization_config", None)  # it speaks of the GGUF file
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
