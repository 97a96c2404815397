"""What travels when one machine asks another about its pages: questions and answers as msgpack, with bounds.

A question is one of the classes below, which are what `Shard` and `PageIndex` can be asked. An answer is compressed
and, where it is longer than a message may be, taken in parts: the same question with the next `part`.
"""

from typing import Annotated, Any, TypeVar

import msgspec
import xxhash
import zstandard
from msgspec import Meta, Struct

from periplus.errors import ExchangeError
from periplus.index import IndexQuery

__all__ = [
    "MOST_PAGES", "MOST_PLACES", "Answer", "AskArchive", "AskArchived", "AskCount", "AskCounts", "AskFootprints",
    "AskLinks", "AskNumbers", "AskPlaces", "AskRecords", "AskSimilar", "AskState", "AskTexts", "AskTop", "AskUrls",
    "AskWords", "Question", "State", "identity", "in_parts", "open_answer", "open_part",
    "open_question", "seal",
]  # fmt: skip

MOST_PAGES = 500
"""Pages that one question can name."""

MOST_PLACES = 5_000
"""Places of one answer."""

PART_BYTES = 512 * 1024
"""Below the 1 MiB that a NATS server takes unless told otherwise."""

MOST_BYTES = 128 * 2**20
"""More than this no answer has, unpacked."""

Text = Annotated[str, Meta(max_length=1_000)]
Name = Annotated[str, Meta(max_length=64)]
Pages = Annotated[tuple[int, ...], Meta(max_length=MOST_PAGES)]
Most = Annotated[int, Meta(ge=1, le=100_000)]

T = TypeVar("T")


class Question(Struct, frozen=True, kw_only=True, tag_field="ask"):
    """Something to ask a node. `seconds`: after so long nobody waits for the answer any more."""

    part: Annotated[int, Meta(ge=0, le=4_096)] = 0
    seconds: Annotated[float, Meta(ge=0, le=60)] = 10.0


class AskState(Question, frozen=True, tag="state"):
    """How the node's index stands: `State`."""


class AskPlaces(Question, frozen=True, tag="places"):
    """Rows of its places behind that id."""

    after: int | None = None


class AskCount(Question, frozen=True, tag="count"):
    """How many pages answer."""

    query: IndexQuery


class AskTop(Question, frozen=True, tag="top"):
    """The best or newest pages."""

    query: IndexQuery
    most: Annotated[int, Meta(ge=1, le=10_000)]
    by_time: bool = False
    stamp: int | None = None


class AskCounts(Question, frozen=True, tag="counts"):
    """How the pages that answer are spread over values of fields."""

    query: IndexQuery
    fields: Annotated[dict[Name, Most], Meta(max_length=16)]


class AskNumbers(Question, frozen=True, tag="numbers"):
    """The same for a field of whole numbers."""

    query: IndexQuery
    field: Name
    most: Most


class AskWords(Question, frozen=True, tag="words"):
    """Words that begin so."""

    prefix: Text
    most: Most | None = None


class AskSimilar(Question, frozen=True, tag="similar"):
    """Pages like a text."""

    title: Annotated[str, Meta(max_length=10_000)]
    text: Annotated[str, Meta(max_length=100_000)]
    language: Name
    most: Annotated[int, Meta(ge=1, le=1_000)]


class AskRecords(Question, frozen=True, tag="records"):
    """What results show of pages."""

    pages: Pages


class AskFootprints(Question, frozen=True, tag="footprints"):
    """Places of pages with their weights."""

    pages: Pages


class AskTexts(Question, frozen=True, tag="texts"):
    """Texts of pages with their mentions."""

    pages: Pages


class AskLinks(Question, frozen=True, tag="links"):
    """Links of a page."""

    page: int


class AskUrls(Question, frozen=True, tag="urls"):
    """What became of URLs."""

    fingerprints: Pages


class AskArchived(Question, frozen=True, tag="archived"):
    """Whether a page has an archive record."""

    page: int


class AskArchive(Question, frozen=True, tag="archive"):
    """A page's archive record."""

    page: int


AnyQuestion = (
    AskState | AskPlaces | AskCount | AskTop | AskCounts | AskNumbers | AskWords | AskSimilar | AskRecords
    | AskFootprints | AskTexts | AskLinks | AskUrls | AskArchived | AskArchive
)  # fmt: skip


class State(Struct, frozen=True):
    """How a node's index stands."""

    stamp: int
    languages: tuple[str, ...]


class Answer(Struct, frozen=True, array_like=True):
    """A part of an answer. `digest` is that of the whole, so that parts of two different ones are told apart.

    `error`: why there is none, in one line.
    """

    digest: str
    parts: int
    data: bytes
    error: str = ""


_questions = msgspec.msgpack.Decoder(AnyQuestion)
_answers = msgspec.msgpack.Decoder(Answer)


def open_question(data: bytes) -> Any:
    """A question as a value. Raises ExchangeError if it is none."""
    if len(data) > PART_BYTES:
        raise ExchangeError(f"a question of {len(data):,} bytes")
    try:
        return _questions.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ExchangeError(f"not a question of this version of Periplus: {error}") from None


def identity(question: Question) -> bytes:
    """What tells a question from others, whatever part of its answer is asked for."""
    return msgspec.msgpack.encode(msgspec.structs.replace(question, part=0, seconds=0.0))


def in_parts(value: object) -> list[Answer]:
    """An answer, ready to travel."""
    packed = zstandard.ZstdCompressor(3).compress(msgspec.msgpack.encode(value))
    digest = xxhash.xxh3_64_hexdigest(packed)
    pieces = [packed[at : at + PART_BYTES] for at in range(0, len(packed), PART_BYTES)] or [b""]
    return [Answer(digest, len(pieces), piece) for piece in pieces]


def seal(answer: Answer) -> bytes:
    """A part as bytes."""
    return msgspec.msgpack.encode(answer)


def open_part(data: bytes) -> Answer:
    """A part of an answer. Raises ExchangeError if it is none, or if it says that there is no answer."""
    try:
        answer = _answers.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ExchangeError(f"not an answer of this version of Periplus: {error}") from None
    if answer.error:
        raise ExchangeError(answer.error[:300])
    return answer


def open_answer(parts: list[Answer], kind: type[T]) -> T:
    """The whole answer. Raises ExchangeError if it is not of this kind."""
    packed = b"".join(part.data for part in parts)
    try:
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=MOST_BYTES)
        return msgspec.msgpack.decode(data, type=kind, strict=False)
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ExchangeError(f"not an answer of this version of Periplus: {error}") from None
