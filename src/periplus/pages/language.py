"""The language of a page: its own word or, where it has none, by its script and, where many share one, by common words.

Small on purpose: a handful of function words tells the languages of running text apart; menus and lists of names are
left without a language, since a wrong one does more harm (stemming, search) than none.
"""

import re
from collections import Counter

__all__ = ["COMMON", "LANGUAGES_OF", "detect_language", "page_language"]

SAMPLE_CHARS = 4_000
ENGLISH_CHARS = 10_000
MIN_LETTERS = 40
MIN_HITS = 4
MIN_SHARE = 0.08
"""Of the words of a running text, at least this share are among the commonest of its language."""

LEAD = 1.15

WORD = re.compile(r"[^\W\d_]+")
OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u3040-\ud7af]")
MIN_OTHER = 5

SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("lo", re.compile("[\u0e80-\u0eff]")),
    ("my", re.compile("[\u1000-\u109f]")),
    ("km", re.compile("[\u1780-\u17ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("hy", re.compile("[\u0530-\u058f]")),
    ("ka", re.compile("[\u10a0-\u10ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("bn", re.compile("[\u0980-\u09ff]")),
    ("pa", re.compile("[\u0a00-\u0a7f]")),
    ("gu", re.compile("[\u0a80-\u0aff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("te", re.compile("[\u0c00-\u0c7f]")),
    ("kn", re.compile("[\u0c80-\u0cff]")),
    ("ml", re.compile("[\u0d00-\u0d7f]")),
    ("si", re.compile("[\u0d80-\u0dff]")),
    ("am", re.compile("[\u1200-\u137f]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
"""Scripts and the language, or the largest one, that is written in each."""

LETTERS = {
    "ar": (("ur", "ٹڈڑے"), ("fa", "پچژگ")),
    "ru": (("kk", "әғқңөұүһ"), ("be", "ў"), ("uk", "їєґі"), ("mk", "ѓќѕ"), ("sr", "ђћџљњ")),
}
"""Letters that only other languages of a shared script have, rarest first."""

COMMON = {
    "ca": "amb als aquest aquesta això dels els hem ho i més per però què seva són també una vam va",
    "cs": "a aby ale byl být do i je jeho jako jsem jsou která které který na nebo od po pro při se že ve za",
    "da": "de den der det efter ikke med men og også om på som til var ved vi har jeg er en et",  # codespell:ignore
    "de": "bei das dem den der des die ein eine ist mit nicht sich und von werden wird zu für im",  # codespell:ignore
    "en": "and are as at by for from has have in is it of on or that the this to was which with you be not",
    "es": "al como con de del el en es esta este la las los más no para pero por que se su sus una y lo",
    "et": "aga ei et ja ka kes kui kuid mitte nagu oli oma on pole see seda siis või välja üle",
    "fi": "ei en että hän ja jos joka kanssa kuin kun mutta myös niin oli olla on ovat se sekä tai tämä",
    "fr": "au aux avec ce cette dans des du elle en est et il la le les mais ne nous par pas pour que qui sont sur une",
    "hr": "a ali bi da do i ili je još kako koja koje koji na nije od se su što ta te u uz za biti",
    "hu": "a az csak de egy ez ha hogy is ki meg mint már nem pedig szerint vagy van volt és",
    "id": "adalah akan atau bahwa dan dari dalam dengan di ini itu juga ke oleh pada telah tidak untuk yang",
    "it": "al alla anche che come con da dal dei del della di e gli il in la le nel non per più sono una un si è",
    "lt": "apie ar bet bus buvo dėl ir iš jau jis kad kaip kuri nuo pagal per po su tai už yra",
    "lv": "ar arī bet bija būs gan ir jau ka kas kā lai ne no pa par pie tas tika un uz",
    "nl": "aan als bij dat de deze die een en er het hij in is met naar niet of om ook op te van voor was wordt zijn",
    "no": "den det en er et etter for fra har i ikke med men og også om på seg som til var ved jeg",  # codespell:ignore
    "pl": "ale być czy dla do go i ich jak jest jego które który na nie od oraz po przez się tak to w z za że",
    "pt": "ao com como da das de do dos e em é foi mais mas na não no o os para pela pelo por que se sua um uma",
    "ro": "a ai al ale care cu de din este fi fost în la mai mult nu o pe pentru prin sau se și un",
    "sk": "ako ale alebo bol by do je jeho ktoré ktorý na nie od po pre pri sa si som sú to za že",  # codespell:ignore
    "sl": "a ali bi bil da do ga in iz je ki kot na ne pa pri se so še ta tako tudi v za",
    "sv": "det efter en ett för från han har i inte med men och om på sig som till var vi är jag",  # codespell:ignore
    "tr": "ama bir bu çok da daha de en gibi göre için ile ise kadar olan olarak sonra ve veya",  # codespell:ignore
    "vi": "các cho có của được không là một này người như những nhiều trong từ và về với đã để",
}

LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _language, _words in COMMON.items():
    for _word in _words.split():
        LANGUAGES_OF[_word] = (*LANGUAGES_OF.get(_word, ()), _language)


def page_language(stated: str, text: str) -> str:
    """What a page states, unless most of its text is in a script that this language is never written in.

    Many a site still says `lang="en"`, as its template did: a text without a single "the" is asked too.
    """
    if not stated or (stated == "en" and " the " not in text[:ENGLISH_CHARS]):
        return detect_language(text) or stated
    sample = text[:SAMPLE_CHARS]
    longer = len(sample.encode("utf-8", "replace")) - len(sample)  # by a byte or two for each letter of such a script
    if stated not in COMMON or longer * 8 < len(sample):
        return stated
    letters = sum(map(len, WORD.findall(sample)))
    return (len(OTHER_SCRIPT.findall(sample)) * 2 > letters and _by_script(sample, letters)) or stated


def detect_language(text: str) -> str:
    """The ISO 639-1 code of the text's language; empty where the text does not tell."""
    sample = text[:SAMPLE_CHARS]
    words = WORD.findall(sample.casefold())
    letters = sum(map(len, words))
    by_script = "" if len(OTHER_SCRIPT.findall(sample)) < MIN_OTHER else _by_script(sample, letters)
    if by_script or letters < MIN_LETTERS:
        return by_script
    hits: Counter[str] = Counter()
    for word in words:
        for language in LANGUAGES_OF.get(word, ()):
            hits[language] += 1
    ranked = hits.most_common(2)
    if not ranked or ranked[0][1] < max(MIN_HITS, MIN_SHARE * len(words)):
        return ""
    if len(ranked) > 1 and ranked[0][1] < LEAD * ranked[1][1]:
        return ""
    return ranked[0][0]


def _by_script(sample: str, letters: int) -> str:
    """The language of a text that is mostly in a script other than Latin."""
    for language, script in SCRIPTS:
        count = len(script.findall(sample))
        # Japanese mixes kana with Han; in the others their own script makes up most of the text.
        if count > (0.05 if language == "ja" else 0.3) * letters and count >= MIN_OTHER:
            return _by_letters(language, sample)
    return ""


def _by_letters(language: str, sample: str) -> str:
    for other, letters in LETTERS.get(language, ()):
        if sum(map(sample.casefold().count, letters)) * 200 > len(sample):
            return other
    if language == "ru" and "ы" not in sample and "э" not in sample and "ъ" in sample:
        return "bg"
    return language
