"""The shapes of the API's answers as JSON Schema: what the OpenAPI document promises and tests hold it to."""

from typing import Any

__all__ = ["SCHEMAS"]

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(properties: dict[str, Schema], *, optional: tuple[str, ...] = (), more: bool = False) -> Schema:
    """An object with exactly these properties, all there but the optional ones."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": more,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_RUN: dict[str, Schema] = {
    "id": WHOLE,
    "cause": {"enum": ["hand", "schedule", "missed"]},
    "state": TEXT,
    "began": NUMBER,
    "started": MAYBE_NUMBER,
    "ended": MAYBE_NUMBER,
    "reason": TEXT,
    **dict.fromkeys(("pages", "kept", "queued", "new", "changed", "gone"), WHOLE),
}
_TASK: dict[str, Schema] = {
    "id": WHOLE,
    "name": TEXT,
    "state": TEXT,
    "schedule": TEXT,
    "zone": TEXT,
    "next_at": MAYBE_NUMBER,
    "wish": TEXT,
    "crawl": TEXT,
    "about": _list(TEXT),
    "latest": {"anyOf": [_ref("Run"), {"type": "null"}]},
    "page_limit": WHOLE,
    "progress": {"type": ["object", "null"]},
}
_KNOWN: dict[str, Schema] = {
    "id": WHOLE,
    "name": TEXT,
    "label": TEXT,
    "kind": TEXT,
    "country": TEXT,
    "lat": NUMBER,
    "lon": NUMBER,
    "population": WHOLE,
}
_WEIGHTS: Schema = {"type": "object", "additionalProperties": NUMBER}

TASK_SCHEMAS: dict[str, Schema] = {
    "Run": _object(_RUN),
    "Task": _object(_TASK),
    "Tasks": _object(
        {
            "tasks": _list(_ref("Task")),
            "budget": {"type": ["object", "null"]},
            "trouble": TEXT,
            "contact": TEXT,
            "files": _object({"models": _list(TEXT), "databases": _list(TEXT)}),
        }
    ),
    "TaskDetail": _object(
        _TASK
        | {
            "job": {"type": "object"},
            "runs": _list(_ref("Run")),
            "nodes": _list({"type": "object"}),
            "errors": {"type": "object", "additionalProperties": WHOLE},
            "log": _list({"type": "object"}),
            "questions": _list(_ref("Question")),
        }
    ),
    "Question": _object(
        {
            "id": WHOLE,
            "task_id": WHOLE,
            "text": TEXT,
            "webhook": TEXT,
            "created": NUMBER,
            "asked": MAYBE_NUMBER,
            "trouble": TEXT,
            "fresh": WHOLE,
        }
    ),
    "Checked": _object(
        {
            "errors": _list(_object({"field": TEXT, "text": TEXT})),
            "places": {"type": "object"},
            "next": _list(NUMBER),
        }
    ),
    "Done": _object({"ok": {"const": True}}),
    "GazetteerPlaces": _object({"places": _list(_ref("GazetteerPlace"))}),
    "GazetteerPlace": _object(_KNOWN),
    "Learnt": _object(
        {
            "memory": TEXT,
            "samples": WHOLE,
            "keywords": _WEIGHTS,
            "against": _WEIGHTS,
            "places": _list(_object(_KNOWN | {"weight": NUMBER})),
            "candidates": _list(_object(_KNOWN | {"share": NUMBER, "samples": WHOLE})),
            "learnt": {"type": "object"},
        }
    ),
    "Judged": _object(
        {
            "topic": TEXT,
            "good": {"type": ["boolean", "null"]},
            "judged": WHOLE,
            "retrained": FLAG,
            "wanted": WHOLE,
            "keywords": _WEIGHTS,
        }
    ),
}
"""What there is where crawls are saved."""

_PLACE: dict[str, Schema] = {
    "id": WHOLE,
    "name": TEXT,
    "kind": TEXT,
    "country": TEXT,
    "admin1": TEXT,
    "lat": MAYBE_NUMBER,
    "lon": MAYBE_NUMBER,
    "population": WHOLE,
    "path": _list(TEXT),
    "pages": WHOLE,
    "main_pages": WHOLE,
    "label": TEXT,
    "text": TEXT,
    "weight": NUMBER,
}
_NAMED = _list(_object({"name": TEXT, "count": WHOLE}))
_MARKS = _list({"type": "array"})
_OTHER_PAGE = _object(
    {
        "node": TEXT,
        "page": WHOLE,
        "url": TEXT,
        "title": TEXT,
        "published": MAYBE_TEXT,
        "place": MAYBE_TEXT,
        "km": NUMBER,
    },
    optional=("km",),
)

SCHEMAS: dict[str, Schema] = {
    "Error": _object({"ok": {"const": False}, "error": TEXT, "status": WHOLE}),
    "Place": _object(_PLACE, optional=("label", "text", "weight")),
    "Query": _object(
        {
            "text": TEXT,
            "what": TEXT,
            "where": _list(_ref("Place")),
            "also": _list(_ref("Place")),
            "excluded": {"anyOf": [_ref("Place"), {"type": "null"}]},
            "area": {"type": ["object", "null"]},
            "when": {"type": ["object", "null"]},
            "topics": _list(TEXT),
            "sites": _list(TEXT),
            "excluded_sites": _list(TEXT),
            "languages": _list(TEXT),
            "absent": MAYBE_TEXT,
            "reading": TEXT,
            "without": _object({"where": MAYBE_TEXT, "also": _list(TEXT), "excluded": MAYBE_TEXT, "when": MAYBE_TEXT}),
        }
    ),
    "PlaceFacet": _object(
        {"id": WHOLE, "name": TEXT, "kind": TEXT, "count": WHOLE, "children": _list(_ref("PlaceFacet"))}
    ),
    "Facets": _object(
        {
            "places": _list(_ref("PlaceFacet")),
            "topics": _NAMED,
            "dates": _NAMED,
            "sites": _NAMED,
            "languages": _NAMED,
        }
    ),
    "Hit": _object(
        {
            "rank": WHOLE,
            "url": TEXT,
            "title": TEXT,
            "snippet": TEXT,
            "score": NUMBER,
            "published": MAYBE_TEXT,
            "fetched": TEXT,
            "topics": _list(TEXT),
            "place": {"anyOf": [_ref("Place"), {"type": "null"}]},
            "path": _list(TEXT),
            "other_places": _list(_ref("Place")),
            "marks": _MARKS,
            "title_marks": _MARKS,
            "language": TEXT,
            "node": TEXT,
            "page": WHOLE,
            "relation": {"enum": ["", "in", "near"]},
            "reason": TEXT,
            "alike": WHOLE,
            "explain": {"type": "object"},
        },
        optional=("explain",),
    ),
    "Search": _object(
        {
            "query": _ref("Query"),
            "total": WHOLE,
            "hits": _list(_ref("Hit")),
            "facets": _ref("Facets"),
            "relaxed": FLAG,
            "did_you_mean": MAYBE_TEXT,
            "nodes": _list(TEXT),
            "missing": _list(TEXT),
            "as_of": TEXT,
            "seconds": NUMBER,
        }
    ),
    "FacetsAnswer": _object(
        {"query": _ref("Query"), "total": WHOLE, "facets": _ref("Facets"), "relaxed": FLAG, "missing": _list(TEXT)}
    ),
    "Trend": _object(
        {
            "query": _ref("Query"),
            "every": {"enum": ["day", "week", "month", "year"]},
            "total": WHOLE,
            "undated": WHOLE,
            "buckets": _list(_object({"start": TEXT, "count": WHOLE})),
            "relaxed": FLAG,
            "missing": _list(TEXT),
        }
    ),
    "Points": _object(
        {
            "points": _list(
                _object(
                    {"id": WHOLE, "label": TEXT, "kind": TEXT, "lat": NUMBER, "lon": NUMBER, "count": WHOLE},
                )
            )
        }
    ),
    "Suggestions": _object(
        {"places": _list(_ref("Place")), "terms": _list(_object({"text": TEXT, "pages": WHOLE}))},
    ),
    "Page": _object(
        {
            "node": TEXT,
            "page": WHOLE,
            "url": TEXT,
            "title": TEXT,
            "text": TEXT,
            "marks": _MARKS,
            "places": _list(_ref("Place")),
            "similar": _list(_OTHER_PAGE),
            "nearby": _list(_OTHER_PAGE),
        },
        more=True,
    ),
    "Nearby": _object({"nearby": _list(_OTHER_PAGE), "similar": _list(_OTHER_PAGE)}),
    "Info": _object(
        {
            "crawls": _list({"type": "object"}),
            "pages": WHOLE,
            "places": WHOLE,
            "countries": WHOLE,
            "first": MAYBE_TEXT,
            "last": MAYBE_TEXT,
            "top_places": _list(_ref("Place")),
            "tasks": FLAG,
            "comparisons": WHOLE,
            "tiles": TEXT,
            "exports": FLAG,
        }
    ),
    "Details": _object(
        {
            "evidence": _list(
                _object(
                    {
                        "topic": TEXT,
                        "relevant": FLAG,
                        "keyword_relevance": NUMBER,
                        "keyword_threshold": NUMBER,
                        "place_relevance": NUMBER,
                        "place_threshold": NUMBER,
                        "keywords": _list(_object({"name": TEXT, "value": NUMBER})),
                        "places": _list(_object({"name": TEXT, "value": NUMBER})),
                    }
                )
            ),
            "links": _list(_object({"url": TEXT, "anchor": TEXT, "node": TEXT, "outcome": TEXT})),
            "archived": FLAG,
        }
    ),
    "Comparisons": _object({"results": _list(TEXT)}),
    "Comparison": _object({"name": TEXT, "about": {"type": "object"}, "strategies": {"type": "object"}}),
    **TASK_SCHEMAS,
    "Jobs": _object(
        {
            "jobs": _list(
                _object(
                    {
                        "name": TEXT,
                        "folder": TEXT,
                        "running": FLAG,
                        "pages": WHOLE,
                        "kept": WHOLE,
                        "queued": WHOLE,
                        "outcomes": {"type": "object", "additionalProperties": WHOLE},
                        "nodes": _list(_object({"node": TEXT, "pages": WHOLE, "kept": WHOLE, "queued": WHOLE})),
                    }
                )
            )
        }
    ),
}
"""By name, as `#/components/schemas/…`."""
