"""What may be sent to the API: typed, bounded values; the OpenAPI document describes them from here."""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from periplus.settings import STRATEGIES, LearntSettings
from periplus.wording import counted

__all__ = [
    "BODY_SCHEMAS", "Body", "Judgement", "NewQuestion", "NewTask", "Samples", "WishBody", "read_body", "what_is_wrong"
]  # fmt: skip

MOST_SEEDS = 20_000
MOST_SAMPLES = 100
MOST_SAMPLE_CHARACTERS = 2 * 2**20

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Weight = Annotated[float, Meta(gt=0, le=1)]


class Body(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A body of a request."""


class NewTask(Body, frozen=True, kw_only=True):
    """A crawl as the form of the web page gives it. It names no file: nothing a request says is a path."""

    name: Annotated[str, Meta(max_length=80)]
    schedule: Annotated[str, Meta(max_length=200)] = ""
    zone: Annotated[str, Meta(max_length=64)] = ""
    contact: Annotated[str, Meta(max_length=300)] = ""
    seeds: Annotated[list[Annotated[str, Meta(max_length=2_048)]], Meta(max_length=MOST_SEEDS)] = []
    topic: Annotated[str, Meta(max_length=80)] = ""
    keywords: Annotated[dict[Name, Weight], Meta(max_length=2_000)] = {}
    against: Annotated[dict[Name, Weight], Meta(max_length=2_000)] = {}
    places: Annotated[dict[Name, Weight], Meta(max_length=500)] = {}
    learnt: LearntSettings | None = None
    memory: Annotated[str, Meta(max_length=64)] = ""
    point: Literal["wide", "balanced", "strict"] = "balanced"
    nodes: Annotated[
        dict[Annotated[str, Meta(max_length=32)], Annotated[list[Name], Meta(max_length=500)]], Meta(max_length=64)
    ] = {}
    strategy: Literal[
        "hash", "hash-host", "url", "anchor", "content", "blend", "classifier", "ip", "nearest", "place+nearest"
    ] = "url"
    model: Annotated[str, Meta(max_length=200)] = ""
    database: Annotated[str, Meta(max_length=200)] = ""
    keep: Literal["relevant", "all"] = "relevant"
    pages: Annotated[int, Meta(ge=0, le=100_000_000)] = 1_000
    minutes: Annotated[float, Meta(ge=0, le=1_000_000)] = 0.0
    depth: Annotated[int, Meta(ge=0, le=1_000)] = 20
    delay_seconds: Annotated[float, Meta(ge=0, le=3_600)] = 1.0
    workers: Annotated[int, Meta(ge=0, le=256)] = 0


class WishBody(Body, frozen=True, kw_only=True):
    """What a task is to do."""

    wish: Literal["start", "pause", "resume", "stop"]


class NewQuestion(Body, frozen=True, kw_only=True):
    """A question to be saved."""

    text: Annotated[str, Meta(min_length=1, max_length=1_000)]
    webhook: Annotated[str, Meta(max_length=2_000)] = ""


class Sample(Body, frozen=True, kw_only=True):
    """A document to learn from: text or HTML."""

    name: Annotated[str, Meta(max_length=300)]
    text: Annotated[str, Meta(max_length=MOST_SAMPLE_CHARACTERS)]


class Samples(Body, frozen=True, kw_only=True):
    """Documents to learn a topic from; `places`: targets instead of what they suggest."""

    samples: Annotated[list[Sample], Meta(min_length=1, max_length=MOST_SAMPLES)]
    places: Annotated[list[Name], Meta(max_length=100)] = []


class Judgement(Body, frozen=True, kw_only=True):
    """What a person says of a page: it belongs to the topic, it does not, or (null) nothing any more.

    `topic`: which, where the crawl has several.
    """

    node: Annotated[str, Meta(min_length=1, max_length=200)]
    page: Annotated[int, Meta(ge=0, le=2**53)]
    good: bool | None
    topic: Annotated[str, Meta(max_length=80)] = ""


_TYPES = (NewTask, WishBody, NewQuestion, Samples, Judgement)
_, BODY_SCHEMAS = msgspec.json.schema_components(_TYPES, ref_template="#/components/schemas/{name}")
"""The bodies by name, as JSON Schema."""


def read_body(data: bytes, kind: type[Body]) -> Body:
    """The body as a value. msgspec.ValidationError or DecodeError if it is not one."""
    found: Any = msgspec.json.decode(data, type=kind)
    if isinstance(found, NewTask) and found.strategy not in STRATEGIES:
        raise msgspec.ValidationError(f"no strategy {found.strategy!r}")
    body: Body = found
    return body


_LENGTH = re.compile(r"Expected `(str|array|object)` of length (<=|>=) (\d+)")
_BOUND = re.compile(r"Expected `(?:int|float)` (<=|>=|<|>) (\S+)")
_KIND = re.compile(r"Expected `(.+)`, got `(\w+)`")
_UNITS = {"str": ("character", ""), "array": ("item", ""), "object": ("entry", "entries")}
_KINDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "an object", "null": "null",
}  # fmt: skip
_SIDES = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


def what_is_wrong(error: Exception) -> str:
    """What msgspec finds wrong with a body, in words: `name: at most 80 characters`."""
    text, _, where = str(error).partition(" - at `")
    if length := _LENGTH.fullmatch(text):
        text = f"{_SIDES[length[2]]} {counted(int(length[3]), *_UNITS[length[1]])}"
    elif bound := _BOUND.fullmatch(text):
        text = f"{_SIDES[bound[1]]} {bound[2]}"
    elif kind := _KIND.fullmatch(text):
        wanted = " or ".join(_KINDS.get(name.strip(), name.strip()) for name in kind[1].split("|"))
        text = f"{wanted} is needed, not {_KINDS.get(kind[2], kind[2])}"
    name = where.rstrip("`").replace("$.", "").replace("[...]", "").replace("$", "")
    return f"{name}: {text}" if name else text.replace("`", "'")
