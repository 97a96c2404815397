"""Words that say nothing about a topic, by language; used when topics are learnt and pages are measured."""

from functools import cache

__all__ = ["stop_words"]

_LISTS = {
    "en": "a about above after again against all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing down during each few for from further had has have having he "
    "her here hers herself him himself his how i if in into is it its itself just may me might more most must my "
    "myself no nor not now of off on once only or other our ours out over own said same say says shall she should so "
    "some such than that the their theirs them themselves then there these they this those through to too under "
    "until up upon us very was we were what when where which while who whom why will with would you your yours "
    "however one two three mr mrs ms dr since per yet still whether within without among via new",
    "de": "aber alle als also am an auch auf aus bei bin bis da damit dann das dass dem den der des die dies diese "
    "dieser doch dort durch ein eine einem einen einer eines er es für gegen hat haben hatte hier ich ihr ihre im in "
    "ist ja kann kein keine man mehr mit nach nicht noch nun nur ob oder ohne sein seine sich sie sind so über um und "
    "uns unter vom von vor war waren was weil wenn wer werden wie wir wird wo wurde wurden zu zum zur zwischen",
    "fr": "à au aux avec ce ces cette comme dans de des du elle en est et être eu fait il ils je la le les leur leurs "
    "lui mais même ne nos notre nous on ont ou où par pas plus pour qu que qui sa sans se ses si son sont sur tout "
    "tous très un une vous été était aussi entre après depuis dont l d s n c j",
    "es": "a al algo ante antes como con contra cual cuando de del desde donde dos el ella ellos en entre era es esa "
    "ese esta este esto está están fue ha han hasta hay la las le les lo los más me mi muy no nos o para pero por "
    "porque que quien se ser si sin sobre son su sus también tras un una uno y ya año años",
    "pt": "a ao aos as até com como da das de do dos e ela ele em entre era essa esse esta este foi foram há isso já "
    "mais mas me mesmo na nas no nos não o os ou para pela pelas pelo pelos por porque quando que quem se sem ser seu "
    "seus sobre sua suas são também tem um uma à às é",
    "it": "a ad ai al alla alle anche che chi ci come con da dal dalla dei del della delle di dopo e ed era fra gli ha "
    "hanno i il in io la le lo loro ma nel nella nelle non o per perché più quando quella quello questa questo se sei "
    "si sono su sua sue sui suo tra tutti un una uno è l d",
    "nl": "aan al als bij dan dat de der deze die dit door een en er ge had heb heeft het hij hun ik in is je kan maar "
    "me meer men met naar niet nog nu of om onder ons ook op over te toch tot uit van veel voor was wat we wel werd "
    "wie wij zal ze zich zij zijn zo zou",
    "sv": "och att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när nu "
    "hade skulle eller över ut upp efter under vid mot där ska här alla också",
    "ru": "а бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть еще ещё же "
    "за и из или им их к как ко когда который мне мы на не него нет но о об он она они от по под при с со так также "
    "там то тоже только у уже чем что чтобы это этот эта",
    "tr": "acaba ama aslında az bazı belki ben bir biz bu da daha de diye en gibi hem hep her için ile ise ki mi mu "
    "mü ne neden o olan olarak sonra siz şu ve veya ya",
    "id": "ada adalah akan atau bagi bahwa dalam dan dari dengan di hanya ini itu juga karena ke kepada lebih oleh "
    "pada saat sebagai telah tersebut tidak untuk yang",
}


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language; English ones where it is unknown or has no list."""
    return frozenset(_LISTS.get(language, _LISTS["en"]).split())
