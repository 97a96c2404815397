"""Room network: which keys of organisations are one organisation: opaque ids, handles, AS numbers and names."""

import re
from typing import Final

__all__ = ["Organisations", "plain_name"]

_FORMS: Final = (
    "inc incorporated corp corporation co company llc llp lp ltd limited plc gmbh ag kg ug sa sas sarl srl spa bv nv "
    "ab as asa aps oy oyj sro zrt kft doo ooo oao pjsc jsc pty pte pvt sdn bhd ltda eireli sl slu kk the"
)
LEGAL_FORMS: Final = frozenset(_FORMS.split())
WORDS: Final = re.compile(r"[^\W_]+")


class Organisations:
    """Sets of keys that grow together; each set is one organisation."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._leader: list[int] = []
        self._name: dict[int, str] = {}

    def number(self, key: str) -> int:
        """The number of a key, new or known; numbers of one organisation become one by `settled`."""
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self._leader)
            self._leader.append(found)
        return found

    def join(self, one: str, other: str) -> None:
        """Two keys are the same organisation."""
        first, second = sorted((self._lead(self.number(one)), self._lead(self.number(other))))
        self._leader[second] = first

    def call(self, key: str, name: str) -> None:
        """What a key's organisation is called; organisations of one name are one."""
        self._name.setdefault(self.number(key), name)
        plain = plain_name(name)
        if plain:
            self.join(f"plain/{plain}", key)

    def settled(self) -> tuple[list[int], list[str]]:
        """For each number so far the organisation's, counted from 0, and the organisations' names."""
        order: dict[int, int] = {}
        settled = [order.setdefault(self._lead(number), len(order)) for number in range(len(self._leader))]
        names = [""] * len(order)
        for number, name in self._name.items():
            if not names[settled[number]]:
                names[settled[number]] = name
        return settled, names

    def _lead(self, number: int) -> int:
        leader = self._leader
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number


def plain_name(name: str) -> str:
    """A name without case, punctuation and legal forms: Cloudflare, Inc. and CLOUDFLARE are the same."""
    words = [word for word in WORDS.findall(name.casefold().replace(".", "")) if word not in LEGAL_FORMS]
    return " ".join(words)
