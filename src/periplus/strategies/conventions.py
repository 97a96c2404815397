"""How people write place names into URLs: usual beginnings and endings, codes of states, what towns call themselves."""

import re

__all__ = [
    "AMBIGUOUS_CODES",
    "AMERICAN",
    "BEFORE",
    "COUNTY",
    "ENDINGS",
    "FORM_STATES",
    "GENERIC_COUNTRIES",
    "MUNICIPAL",
    "OPEN_ENDINGS",
    "PAPERS",
    "SMALL_TOWNS",
    "STATES",
    "STATE_WORDS",
    "TOWN_PEOPLE",
]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


BEFORE = (
    "www|cityof|townof|villageof|boroughof|townshipof|countyof|city|town|village|borough|visit|explore|discover|"
    "experience|downtown|greater|historic|ilove|my|our|the|go|in|we|best|live|shop|vill|bor|boro|tn"
)
PAPERS = _words(
    "news times post herald tribune gazette journal daily star sun press weekly sentinel enterprise independent "
    "chronicle beacon eagle courier record democrat observer bulletin citizen messenger standard register advocate "
    "mirror banner advertiser leader dispatch examiner freepress transcript recorder telegram magazine"
)
"""What newspapers are called. Towns are too (Tribune in Kansas, Post in Texas), but a host means the paper."""

COUNTY = b"county"
ENDINGS = (
    *_words("city town village borough boro township twp county gov govt online"),
    *PAPERS,
    *_words(
        "guide tourism area metro local today events eats live life now chamber schools library police fire hotels "
        "homes realestate weather maps map jobs alive usa cityhall thecity municipality muni cvb edc cofc fd pd isd "
        "web net info site hall of the"
    ),
)
AMBIGUOUS_CODES = frozenset(_words("al co de hi id in la ma me mo ok oh or pa as is it no so to by us"))
"""Division codes that are words or suffixes of their own: believed next to a name or as a label of the host only."""

GENERIC_COUNTRIES = frozenset(_words("ac ai am cc cd co eu fm gg io la ly me nu sh tk to tv vc ws"))
"""Country domains that everybody uses."""

AMERICAN = frozenset({"us", "gov", "mil", "edu"})
OPEN_ENDINGS = frozenset({"com", "org", "net", "info", "biz"})
"""Under these, a site called City of or Town of is an American one; elsewhere towns use their country's ending."""

MUNICIPAL = re.compile(r"city|town|village|vill|boro|^ci$|township|municipality")
SMALL_TOWNS = re.compile(r"townof|^town|village|vill?of|borough|boro$|^boro")
FORM_STATES = {
    "b": frozenset(_words("pa nj ct ak")),
    "v": frozenset(_words("fl il la md mi mo ms nc ne nm ny oh tx vt wi wv")),
    "t": frozenset(
        _words(
            "al ar az ca co ct de fl ga il in la ma md me ms mt nc nd nh nj nm nv ny ok ri sc sd tn tx ut va vt wa wi "
            "wv wy"
        )
    ),
}
"""States whose law knows boroughs, villages and towns."""

TOWN_PEOPLE = 80_000
"""What calls itself town, village or borough has fewer people."""

_STATES = _words(
    "al=alabama ak=alaska az=arizona ar=arkansas ca=california co=colorado ct=connecticut de=delaware "
    "dc=districtofcolumbia fl=florida ga=georgia hi=hawaii id=idaho il=illinois in=indiana ia=iowa ks=kansas "
    "ky=kentucky la=louisiana me=maine md=maryland ma=massachusetts mi=michigan mn=minnesota ms=mississippi "
    "mo=missouri mt=montana ne=nebraska nv=nevada nh=newhampshire nj=newjersey nm=newmexico ny=newyork "
    "nc=northcarolina nd=northdakota oh=ohio ok=oklahoma or=oregon pa=pennsylvania ri=rhodeisland sc=southcarolina "
    "sd=southdakota tn=tennessee tx=texas ut=utah vt=vermont va=virginia wa=washington wv=westvirginia wi=wisconsin "
    "wy=wyoming pr=puertorico"
)
STATES = {code: name for code, _, name in (pair.partition("=") for pair in _STATES)}
"""The US states by code, glued: the codes that stand glued after names in URLs."""

STATE_WORDS = frozenset(STATES) | frozenset(STATES.values())
