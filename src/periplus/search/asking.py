"""The words by which people ask ("where can I find", "show me", "was ist der beste"): no part of what is asked for."""

from collections.abc import Sequence

from periplus.index import fold
from periplus.search.naming import is_plain
from periplus.search.words import Word

__all__ = ["asking_words", "names_pages"]

_OPENERS = """
what what's whats which who where where's wheres when why how wo wie welche welcher welches wer wann warum
ou quel quelle quels quelles comment donde cual cuales como que onde qual quais dove quale quali"""
"""What a question begins with, whatever follows."""

_HALF_OPENERS = """
please can could is are was do does did show find give list tell search look looking i i'm i'd gibt zeig zeige gib
suche ich bitte hay muestrame dime busco montre montrez montre-moi montrez-moi je qu'est-ce y mostre mostra cerco"""
"""What begins one if another word of asking follows, and is a word else: "hay bales", "find my phone"."""

_FOLLOWERS = """
is are was were am be do does did can could would should will may i you we me us there any some a an the of to for
find get see show list know tell about want need like look looking search best
ist sind war gibt es kann man ich du wir mir uns bitte finde finden suche der die das den dem ein eine einen beste
besten bester bestes
est sont puis-je peut-on je on trouver trouve cherche des les le la un une que moi y a-t-il meilleur meilleure
meilleurs meilleures
son esta estan hay puedo puede se encontrar los las el una mejor mejores posso os as o melhor melhores
e sono il gli trovare migliore migliori
happened happening happens going much many
passiert geschehen geschieht passe passe-t-il s'est-il pasa paso acontece aconteceu succede"""
"""What follows it before the words that count."""

_OPENING = frozenset(_OPENERS.split())
_BEGINNING = _OPENING | frozenset(_HALF_OPENERS.split())
_FOLLOWING = frozenset(_FOLLOWERS.split())


_KINDS = """
news latest articles stories pages information info nachrichten meldungen artikel berichte neuigkeiten
actualites nouvelles infos noticias ultimas articulos artigos notizie ultime articoli"""
_ALL_PAGES = frozenset(_KINDS.split())


def names_pages(word: Word) -> bool:
    """Whether a word is what any page may be called, not what it says: "news from Vienna"."""
    return is_plain(word) and fold(word.text) in _ALL_PAGES


def asking_words(words: Sequence[Word], *, all_of_them: bool = False) -> int:
    """How many of the first words only ask; none where nothing else would be left, unless that is known to be so."""
    texts = [fold(word.text).replace("’", "'") if _may_ask(word) else "" for word in words]
    if not texts or texts[0] not in _BEGINNING:
        return 0
    end = 1
    while end < len(texts) and texts[end] in _FOLLOWING:
        end += 1
    asks = end > 1 or texts[0] in _OPENING
    return end if asks and (end < len(words) or all_of_them) else 0


def _may_ask(word: Word) -> bool:
    """Whether a word is neither marked nor an abbreviation: the WHO asks nothing."""
    return is_plain(word) and not (word.text.isupper() and len(word.text) > 1)
