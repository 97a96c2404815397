"""The working arrays of the geoparser: what its loops read (`Tables`) and what they write (`Sheet`).

`scan`, `context` and `rank` are plain Python over these arrays. Where there is a C compiler, they are compiled
(`sheet.pxd` and its neighbours give the types) and `locate` is thirty times as fast with the very same results.
"""

from collections.abc import MutableSequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

__all__ = [
    "CODES",
    "MAX_ANCHORS",
    "MAX_AREAS",
    "MAX_CANDIDATES",
    "MAX_CHARS",
    "MAX_HITS",
    "Ints",
    "Reals",
    "Sheet",
    "Tables",
    "ints",
    "reals",
]

MAX_CHARS: Final = 1 << 16
"""The longest text that one sheet takes; callers cut longer ones at line ends."""

MAX_HITS: Final = 1 << 17
MAX_CANDIDATES: Final = 1 << 19
MAX_AREAS: Final = 48
MAX_ANCHORS: Final = 192
CODES: Final = 32
"""Room for the category of a hit in every group, of context and of support."""

BRITAIN_ID: Final = 2635167
CANADA_ID: Final = 6251999
ITALY_ID: Final = 3175395
FEATURE_ROOM: Final = 64
SUPPORT_CODES: Final = 8
SEEN_BITS: Final = 18

Arrays = dict[str, npt.NDArray[Any]]
Ints = MutableSequence[int]
Reals = MutableSequence[float]


def ints(array: npt.NDArray[Any]) -> Ints:
    """The array as Python and C both index it fast."""
    return cast("Ints", np.ascontiguousarray(array).reshape(-1).data)


def reals(array: npt.NDArray[Any]) -> Reals:
    """The same for floating point."""
    return cast("Reals", np.ascontiguousarray(array).reshape(-1).data)


def _room(size: int, kind: Any) -> Ints:
    """Memory that costs nothing until it is written to."""
    return ints(np.empty(size, dtype=kind))


def _space(size: int, kind: Any) -> Reals:
    """The same for floating point."""
    return reals(np.empty(size, dtype=kind))


def _row_of(arrays: Arrays, place_id: int) -> int:
    """The row of a place, -1 where a gazetteer has none of that id."""
    rows = np.flatnonzero(arrays["id"] == place_id)
    return int(rows[0]) if len(rows) else -1


class Tables:
    """The arrays of a gazetteer, flat, and what each word class means before and after a name. Read only."""

    def __init__(self, arrays: Arrays, words: tuple[npt.NDArray[np.uint8], ...], empty_slot: int) -> None:
        self.places = len(arrays["id"])
        self.empty_slot = empty_slot
        self.britain, self.canada, self.italy = (_row_of(arrays, one) for one in (BRITAIN_ID, CANADA_ID, ITALY_ID))
        self.char_fold = ints(arrays["char_fold"])
        self.char_class = ints(arrays["char_class"])
        self.char_gap = ints(arrays["char_gap"])
        self.word_key = ints(arrays["word_key"])
        self.word_bits = ints(arrays["word_bits"])
        self.name_bloom = ints(arrays["name_bloom"])
        self.name_bucket = ints(arrays["name_bucket"])
        self.name_key = ints(arrays["name_key"])
        self.name_at = ints(arrays["name_at"])
        self.name_facts = ints(arrays["name_facts"])
        self.cand_row = ints(arrays["cand_row"])
        self.cand_flag = ints(arrays["cand_flag"])
        self.cand_prior, self.cand_fame = reals(arrays["cand_prior"]), reals(arrays["cand_fame"])
        self.place_facts = ints(arrays["place_facts"])
        self.state_letters = ints(arrays["state_letters"])
        self.place_floats = reals(arrays["place_facts"].view(np.float32))
        self.before_capital, self.before_small, self.after_capital, self.after_small = (ints(w) for w in words[:4])
        self.capital_abroad, self.small_abroad = (ints(w) for w in words[4:])


class Sheet:
    """Everything that is worked out about one piece of text, in arrays that are used again for the next."""

    def __init__(self, places: int) -> None:
        size = MAX_CHARS + 8
        self.text = _room(1, np.uint16)
        # How much of a word each name is in the language of the text, and whether that is known and not English.
        # Then what names of that language end in besides, whether that says where, and how large they are then.
        self.word_level, self.abroad, self.locative, self.declines = _room(1, np.uint8), False, False, False
        self.endings: dict[int, tuple[bytes, ...]] | None = None
        self.tokens = self.hits = self.ending_people = 0
        self.t_start, self.t_end = _room(size, np.int32), _room(size, np.int32)
        self.t_class, self.t_gap = _room(size, np.uint8), _room(size, np.uint8)
        self.t_caps, self.t_stopped, self.t_money, self.t_cased = (_room(size, np.uint8) for _ in range(4))
        self.t_sum, self.t_power, self.t_key = (_room(size, np.uint64) for _ in range(3))
        self.t_slot, self.t_mark = _room(size, np.int32), _room(size, np.int32)
        self.starts_here, self.ends_here = _room(size, np.int32), _room(size, np.int32)
        self.run_start, self.run_end, self.run_bits = (_room(size, np.int32) for _ in range(3))
        self.seen = _room(1 << (SEEN_BITS - 6), np.uint64)
        self.found_key, self.found = _room(2 * MAX_HITS, np.uint64), _room(2 * MAX_HITS, np.int32)

        self.h_first, self.h_last, self.h_name = (_room(MAX_HITS, np.int32) for _ in range(3))
        self.h_pair, self.h_unit, self.h_list = (_room(MAX_HITS, np.int32) for _ in range(3))
        self.h_built, self.h_kept, self.h_listed = (_room(MAX_HITS, np.uint8) for _ in range(3))
        self.h_probability, self.l_members = _space(MAX_HITS, np.float64), _room(MAX_HITS, np.int64)
        self.codes = _room(MAX_HITS * CODES, np.uint8)

        self.units = 0
        self.u_name, self.u_outer, self.u_first = (_room(MAX_HITS, np.int32) for _ in range(3))
        self.u_count, self.u_best, self.u_among = (_room(MAX_HITS, np.int32) for _ in range(3))
        self.u_at = _room(MAX_HITS + 1, np.int32)
        self.u_plain = _room(MAX_HITS, np.uint8)
        self.u_weight = _space(MAX_HITS, np.float64)
        self.u_codes = _room(MAX_HITS * SUPPORT_CODES, np.uint8)

        self.areas = self.implied_admin1 = self.implied_admin2 = 0
        self.area_row, self.area_last = _room(MAX_AREAS, np.int32), _room(MAX_AREAS, np.int32)
        self.area_open, self.area_town = _room(MAX_AREAS, np.uint8), _room(MAX_AREAS, np.uint8)
        self.area_at = ints(np.zeros(places + 1, dtype=np.uint8))
        self.near = _room(MAX_HITS * MAX_AREAS, np.int32)
        self.near_first = _room(MAX_HITS * MAX_AREAS, np.int32)

        self.c_row, self.c_unit = _room(MAX_CANDIDATES, np.int32), _room(MAX_CANDIDATES, np.int32)
        self.c_flag, self.c_named = _room(MAX_CANDIDATES, np.uint8), _room(MAX_CANDIDATES, np.uint8)
        self.c_prior, self.c_score, self.c_probability = (_space(MAX_CANDIDATES, np.float64) for _ in range(3))
        self.c_near, self.c_around, self.c_same = (_space(MAX_CANDIDATES, np.float32) for _ in range(3))
        self.c_host, self.c_fame = (_space(MAX_CANDIDATES, np.float32) for _ in range(2))
        self.features = _space(MAX_CANDIDATES * FEATURE_ROOM, np.float32)
        # What the gazetteer has of each candidate, copied once: its table is far larger than the caches.
        self.c_x, self.c_y, self.c_z, self.c_people = (_space(MAX_CANDIDATES, np.float64) for _ in range(4))
        self.c_admin1, self.c_admin2, self.c_country = (_room(MAX_CANDIDATES, np.int32) for _ in range(3))
        self.c_kind = _room(MAX_CANDIDATES, np.uint8)
        self.c_in_admin1, self.c_in_country = (_room(MAX_CANDIDATES, np.int32) for _ in range(2))
        self.c_near_sum, self.c_around_sum = (_space(MAX_CANDIDATES, np.float64) for _ in range(2))

        self.anchors = self.groups = 0
        self.a_cand, self.a_name = _room(MAX_ANCHORS, np.int32), _room(MAX_ANCHORS, np.int32)
        self.a_in_admin1, self.a_in_country = _room(MAX_ANCHORS, np.int32), _room(MAX_ANCHORS, np.int32)
        self.a_mass = _space(MAX_ANCHORS, np.float64)
        self.group_at = ints(np.zeros(places + 1, dtype=np.uint16))
        self.group_row = _room(2 * MAX_ANCHORS + 1, np.int32)
        self.admin1_mass, self.country_mass = (_space(2 * MAX_ANCHORS + 1, np.float64) for _ in range(2))
