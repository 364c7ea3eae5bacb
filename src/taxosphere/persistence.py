"""Saving and loading a fitted model as a folder; what each file of it holds is said in `artifact`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from taxosphere import artifact, memory
from taxosphere.encoders.device import CPU
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder, TextVectors
from taxosphere.errors import InputError
from taxosphere.fitting import EncoderLike, load_encoder, with_absolute_paths, with_encoder
from taxosphere.images.model import ImageModel
from taxosphere.model.config import PolarisConfig
from taxosphere.model.history import Epoch
from taxosphere.model.network import SphereNetwork
from taxosphere.placing import duplicates, near_duplicates
from taxosphere.placing.duplicates import NameIndex
from taxosphere.placing.inference import Fitted, assemble
from taxosphere.placing.insertion import Insertion
from taxosphere.placing.near_duplicates import NearDuplicates
from taxosphere.placing.new_parents import NewParents
from taxosphere.ranking.features import candidates
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import READER_SCORE
from taxosphere.ranking.lexical import index as lexical_index
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.ranker import Ranker
from taxosphere.taxonomy.mapped import MAPPED

METHOD = "polaris"
_FORMER = ("mined", "tuned_mined")  # settings of training that earlier versions stored
_READ = 0.4  # share of a large model's files that the first suggestion reads, by benchmarks/bench_load.py


def save(fitted: Fitted, config: PolarisConfig, path: str | PathLike[str]) -> None:
    """Write a model folder, whole or not at all, replacing a model that is there.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    config : PolarisConfig
        The settings it was fitted with; stored verbatim.
    path : str or path
        The folder. One that exists and is no model is refused with `InputError`.
    """
    ranker_arrays, ranker_notes = fitted.ranker.to_arrays()
    tensors: dict[str, dict[str, NDArray[Any]]] = {
        "network": {key: value.numpy() for key, value in fitted.network.state_dict().items()},
        "ranker": ranker_arrays,
        "text_vectors": dict(fitted.index.text_vectors.to_arrays()),
        "tokens": fitted.index.tokens.to_arrays(),
    }
    images: dict[str, object] = {}
    if len(fitted.index.taxonomy) > MAPPED:
        tensors["index"] = fitted.index.to_arrays()
        tensors["names"] = fitted.names.to_arrays()
        tensors["near"] = dict(fitted.near.to_arrays())
    if fitted.insertion is not None:
        tensors["insertion"] = dict(fitted.insertion.to_arrays())
    tensors["new_parents"] = dict(fitted.new_parents.to_arrays())
    if fitted.image_model is not None:
        tensors["images"], images["images"] = fitted.image_model.to_arrays()
    if fitted.untuned_encoder is not fitted.encoder:
        tensors["encoder"] = dict(text_encoders.trainable(fitted.encoder).tuned)
    if fitted.ranker.reader is not None and (weights := fitted.ranker.reader.reader.to_arrays()):
        tensors["reader"] = dict(weights)
    first_places = fitted.ranker.out_of_fold.labels[:, 0]
    manifest = {
        **images,
        "config": config.model_dump(mode="json"),
        "encoder": text_encoders.description(fitted.untuned_encoder),
        "began": fitted.start_digest,
        "tokens": lexical_index.VERSION,
        "index": candidates.VERSION,
        "names": duplicates.VERSION,
        "near": near_duplicates.VERSION,
        "ranker": ranker_notes,
        "history": [asdict(epoch) for epoch in fitted.history],
        "metrics": {"held_out_hit@1": float(first_places.mean()) if len(first_places) else None},
    }
    artifact.save(path, METHOD, manifest, tensors, fitted.index.taxonomy)


def load(
    path: str | PathLike[str], encoder: EncoderLike | None = None, device: str = CPU
) -> tuple[PolarisConfig, Fitted]:
    """Read a model folder.

    Parameters
    ----------
    path : str or path
        A folder that `save` wrote.
    encoder : TextEncoder, str, path or None
        Needed again where the model was fitted with a caller's own encoder; the new path where its folder was moved.
    device : str
        Where new concepts are encoded.

    Returns
    -------
    config : PolarisConfig
        The settings of the fit.
    fitted : Fitted
        Scores exactly as the model that was saved.

    Raises
    ------
    InputError
        The folder is no model, is damaged, of another version, or needs an encoder or memory that is not there.
    """
    _require_memory(Path(path))
    stored = artifact.load(path, METHOD)
    tensors, manifest = stored.tensors, stored.manifest
    with artifact.same_layout(path):
        config = stored_settings(manifest["config"], path)
        vectors = TextVectors(**tensors["text_vectors"])
        network = _network(vectors.full.shape[1], config, tensors["network"])
        ranker = Ranker.from_arrays(tensors["ranker"], manifest["ranker"])
        history = tuple(Epoch(**entry) for entry in manifest["history"])
        tokens, index, names = _stored_indexes(stored, vectors)
    config, text_encoder = _encoder(config, manifest.get("encoder"), encoder, device, path)
    if text_encoder.dim != (dim := vectors.full.shape[1]):
        raise InputError(f"was fitted with {dim} dimensions, the encoder has {text_encoder.dim}", path)
    if "encoder" in tensors:
        text_encoder = text_encoders.with_tuned(text_encoder, tensors["encoder"])
    with artifact.same_layout(path):
        fitted = assemble(
            encoder=text_encoder,
            network=network.eval(),
            ranker=_with_reader(ranker, config, tensors.get("reader", {}), text_encoder),
            insertion=Insertion.from_arrays(tensors["insertion"]) if "insertion" in tensors else None,
            history=history,
            taxonomy=stored.taxonomy,
            text_vectors=vectors,
            tokens=tokens,
            index=index,
            names=names,
        )
        images = None
        if "images" in tensors:
            texts = fitted.untuned_vectors.full
            images = ImageModel.from_arrays(tensors["images"], manifest["images"], stored.taxonomy, texts, device)
    return config, _with_stored(replace(fitted, image_model=images), stored)


def stored_settings(values: dict[str, Any], path: str | PathLike[str]) -> PolarisConfig:
    """The settings of a model folder, without those that earlier versions had and that are gone."""
    training = {key: value for key, value in values["training"].items() if key not in _FORMER}
    return PolarisConfig.from_mapping({**values, "training": training}, path)


def _network(dim: int, config: PolarisConfig, arrays: Mapping[str, NDArray[Any]]) -> SphereNetwork:
    """The head with its weights, and where several encoders stand side by side those of each of them."""
    dims: list[int] = []
    while (first := f"parts.{len(dims)}.layers.0.weight") in arrays:
        dims.append(arrays[first].shape[1])
    network = SphereNetwork(dim, config.network, part_dims=dims)
    network.load_state_dict({key: torch.from_numpy(value) for key, value in arrays.items()})
    return network


def _require_memory(folder: Path) -> None:
    """Refuse a model that does not fit into the memory that is free, before it is opened."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    what, advice = f"loading the model '{folder}'", "raise the limit, free memory, or fit a part of the taxonomy"
    memory.require(size, what, advice, mapped=True)
    memory.require(_READ * size, what, advice)


def _with_stored(fitted: Fitted, stored: artifact.Artifact) -> Fitted:
    """The model with where it began, the check of its files, what was learned of near-duplicates and new parents."""
    fitted = replace(fitted, start_digest=stored.manifest.get("began"), check=stored.check)
    if "new_parents" in stored.tensors:  # earlier versions stored none
        fitted = replace(fitted, new_parents=NewParents.from_arrays(stored.tensors["new_parents"]))
    if "near" in stored.tensors and stored.manifest.get("near") == near_duplicates.VERSION:
        vectors = fitted.index.text_vectors
        near = NearDuplicates.from_arrays(stored.tensors["near"], stored.taxonomy, vectors, fitted.encoder)
        vars(fitted)["near"] = near  # as if it had been asked for before
    return fitted


def _with_reader(
    ranker: Ranker, config: PolarisConfig, arrays: Mapping[str, NDArray[Any]], encoder: TextEncoder
) -> Ranker:
    """The ranker with the second reader that it was trained with, where there was one."""
    if READER_SCORE not in ranker.columns:
        return ranker
    from taxosphere.ranking.reading import ShortlistReader
    from taxosphere.readers.registry import restore_reader

    reader = restore_reader(config.ranking.reader, arrays, encoder)
    return replace(ranker, reader=ShortlistReader(reader, config.ranking.reader_depth))


def _stored_indexes(
    stored: artifact.Artifact, vectors: TextVectors
) -> tuple[ConceptTokens | None, CandidateIndex | None, NameIndex | None]:
    """Words, candidates and names as they were stored; None for what is absent or was made by other rules."""
    tensors, manifest = stored.tensors, stored.manifest
    tokens = index = names = None
    if manifest.get("tokens") == lexical_index.VERSION:
        tokens = ConceptTokens.from_arrays(tensors["tokens"])
    if "names" in tensors and manifest.get("names") == duplicates.VERSION:
        names = NameIndex.from_arrays(tensors["names"], stored.taxonomy)
    if tokens is not None and "index" in tensors and manifest.get("index") == candidates.VERSION:
        index = CandidateIndex.from_arrays(tensors["index"], stored.taxonomy, vectors, tokens)
    return tokens, index, names


def _encoder(
    config: PolarisConfig,
    description: object,
    encoder: EncoderLike | None,
    device: str,
    path: str | PathLike[str],
) -> tuple[PolarisConfig, TextEncoder]:
    """The encoder to answer with, and the settings with its name where it was given by name."""
    if isinstance(encoder, str | PathLike):
        config = with_absolute_paths(with_encoder(config, encoder))
        return config, load_encoder(config, device)
    if encoder is not None:
        return config, text_encoders.check_encoder(encoder)
    loaded = load_encoder(config, device)
    if description is not None and text_encoders.description(loaded) != description:
        raise InputError(f"was fitted with the encoder {description}; give it to Polaris.load as 'encoder'", path)
    return config, loaded
