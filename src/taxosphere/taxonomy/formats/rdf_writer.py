"""Writing SKOS and OWL: back into the text that was read, or from the concepts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import obo_writer
from taxosphere.taxonomy.formats.io import obo_stanzas, owl_spelling, rdf_claims, suffixes
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.obo_owl import OboTranslator
from taxosphere.taxonomy.formats.io.options import WriteOptions
from taxosphere.taxonomy.formats.io.owl_triples import Translator
from taxosphere.taxonomy.formats.io.rdf_claims import Claim
from taxosphere.taxonomy.formats.io.rdf_syntax import OWL_SYNTAXES, serialize
from taxosphere.taxonomy.formats.io.streams import bare_suffix, open_to_write
from taxosphere.taxonomy.formats.rdf_reader import META
from taxosphere.taxonomy.formats.rdf_rewriter import Rewriter, Source
from taxosphere.taxonomy.graph import Taxonomy


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a taxonomy as SKOS or OWL.

    A taxonomy that was read from RDF in the same vocabulary is written as the statements of its source, without those
    that changes made untrue and with those that they added; the text of the source stays where its syntax allows that.

    Parameters
    ----------
    taxonomy : Taxonomy
        What to write.
    path : Path
        The file. Its suffix names the syntax; ``.skos`` or ``.owl`` anywhere in the name the vocabulary.
    options : WriteOptions
        `as_` names the vocabulary, ``"skos"`` or ``"owl"``, whatever the name of the file.
    """
    kept = taxonomy.meta.get(META, {})
    vocabulary = vocabulary_of(path, options, taxonomy)
    source = Source.of(kept) if kept.get("text") else None
    suffix = bare_suffix(path)
    same_suffix = source is not None and suffix == bare_suffix(Path(source.document.name))
    syntax = source.document.syntax if source and same_suffix else suffixes.RDF.get(suffix, "JSON_LD")
    if source is not None and vocabulary == kept.get("vocabulary"):
        Rewriter(taxonomy, source).write(path, syntax)
        return
    words = rt.VOCABULARIES[vocabulary]
    if syntax in OWL_SYNTAXES:
        if source is not None or vocabulary != "owl":
            raise InputError(f"{suffix} can hold no statements beside axioms of OWL; write .owl or .ttl", path=path)
        claims = [(subject.value, list(said)) for subject, said in _claims(taxonomy, words, None)]
        with open_to_write(path) as handle:
            handle.write(owl_spelling.document(syntax, claims, path))
        return
    prefixes = (kept.get("prefixes") or {}) | rt.PREFIXES
    from_obo = vocabulary == "owl" and obo_writer.META in taxonomy.meta
    triples = _from_obo(taxonomy) if from_obo else _triples(taxonomy, words, source)
    serialize(path, syntax, triples, prefixes, source.document if source else None)


def vocabulary_of(path: Path, options: WriteOptions, taxonomy: Taxonomy) -> str:
    """The vocabulary in which `write` writes, ``"skos"`` or ``"owl"``.

    What the options say; else ``.owl`` or ``.skos`` anywhere in the name; else the words of the source; else SKOS. A
    file that is written back keeps its words whatever its name.

    Parameters
    ----------
    path : Path
        The file.
    options : WriteOptions
        `as_` names the vocabulary.
    taxonomy : Taxonomy
        What to write.
    """
    kept = taxonomy.meta.get(META, {})
    if options.as_ in rt.VOCABULARIES:
        return str(options.as_)
    *inner, last = [suffix.lower().removeprefix(".") for suffix in path.suffixes] or [""]
    source = kept.get("vocabulary")
    for name in rt.VOCABULARIES:
        if name in inner:
            return name
    if source in rt.VOCABULARIES and bare_suffix(path) == bare_suffix(Path(kept.get("name", ""))):
        return str(source)
    if suffixes.RDF.get(bare_suffix(path)) in OWL_SYNTAXES:
        return "owl"
    return last if last in rt.VOCABULARIES else source if source in rt.VOCABULARIES else "skos"


def other_content(taxonomy: Taxonomy) -> list[str]:
    """What the RDF source says beside its concepts, one line each; only RDF and the native folder hold it."""
    kept = taxonomy.meta.get(META, {})
    lines = ["statements of the RDF source that are not about its concepts left out"] if kept.get("others") else []
    if kept.get("language"):
        lines.append(f"the language '{kept['language']}' of names, definitions and synonyms left out")
    return lines


def _from_obo(taxonomy: Taxonomy) -> Iterator[Any]:
    """The statements that ROBOT would make of the OBO file of this taxonomy."""
    stanzas = list(obo_stanzas.parse(Path(), obo_stanzas.split("".join(obo_writer.pieces(taxonomy)))))
    translator = OboTranslator(stanzas[0], (stanza for stanza in stanzas[1:] if stanza.kind != "Term"))
    nodes, ox = Translator(), rt.oxigraph()
    for iri, claims in translator.all(stanza for stanza in stanzas[1:] if stanza.kind == "Term"):
        yield from rdf_claims.triples(ox.NamedNode(iri), claims, nodes)


def _triples(taxonomy: Taxonomy, words: rt.Vocabulary, source: Source | None) -> Iterator[Any]:
    translator = Translator()
    for subject, claims in _claims(taxonomy, words, source):
        yield from rdf_claims.triples(subject, claims, translator)
    if source is not None:
        yield from source.other_triples()


def _claims(taxonomy: Taxonomy, words: rt.Vocabulary, source: Source | None) -> Iterator[tuple[Any, Iterator[Claim]]]:
    """What is said about each concept."""
    kept = taxonomy.meta.get(META, {})
    writer = rdf_claims.ClaimWriter(
        words,
        taxonomy,
        language=kept.get("language"),
        defined_by_comments=bool(kept.get("comments")),
        described=any(taxonomy.descriptions),
        obo_style="obo" in taxonomy.meta,
    )
    ox = rt.oxigraph()
    iris = [rt.iri_of(id) for id in taxonomy.ids]
    for position, concept in enumerate(taxonomy.concepts()):
        parents = [iris[parent] for parent in taxonomy.parent_csr.row(position).tolist()]
        stated = source.without_anonymous(concept) if source else concept
        yield ox.NamedNode(iris[position]), writer.about(stated, parents)
