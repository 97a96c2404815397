"""Numbers with their nouns, as people write them."""

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 page`, `2 pages`, `1,000 pages`; `plural` where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
