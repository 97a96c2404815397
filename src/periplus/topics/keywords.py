"""Keywords found in a text: word stems by language, phrases, and plain substrings for scripts without spaces."""

from collections import Counter

from periplus.topics.words import is_unspaced, stem_phrase, stems

__all__ = ["count_keywords"]


def count_keywords(text: str, keywords: tuple[str, ...], language: str) -> list[int]:
    """How often each keyword (a word or a phrase) occurs in the text, after stemming in its language."""
    if not keywords:
        return []
    sequence = stems(text, language)
    single = Counter(sequence)
    joined = folded = ""
    counts = []
    for keyword in keywords:
        if is_unspaced(keyword):
            folded = folded or text.casefold()
            counts.append(folded.count(keyword.casefold()))
            continue
        phrase = stem_phrase(keyword, language)
        if " " not in phrase:
            counts.append(single.get(phrase, 0))
        elif all(word in single for word in phrase.split(" ")):
            joined = joined or f" {' '.join(sequence)} "
            counts.append(_count_phrase(joined, phrase))
        else:
            counts.append(0)
    return counts


def _count_phrase(joined: str, phrase: str) -> int:
    """Occurrences of a phrase between spaces; neighbours may share the space."""
    count = position = 0
    wanted = f" {phrase} "
    while (position := joined.find(wanted, position)) >= 0:
        count += 1
        position += len(wanted) - 1
    return count
