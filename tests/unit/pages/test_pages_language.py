"""The language of a page: its own word first, then the text."""

import pytest
from crawl_values import fetched
from effort import bounded_effort

from periplus.pages import read_page
from periplus.pages.language import detect_language

TEXTS = {
    "en": "The river rose in the night and the people of the town were told to leave their houses by the police.",
    "de": "Der Fluss ist in der Nacht gestiegen, und die Bewohner der Stadt sollten ihre Häuser",  # codespell:ignore
    "fr": "La rivière est montée dans la nuit et les habitants de la ville ont été évacués par les",  # codespell:ignore
    "es": "El río creció durante la noche y los habitantes de la ciudad tuvieron que dejar sus casas por la lluvia.",
    "pt": "O rio subiu durante a noite e os moradores da cidade não foram avisados, mas saíram das casas com pressa.",
    "it": "Il fiume è salito nella notte e gli abitanti della città sono stati portati via con le",  # codespell:ignore
    "nl": "De rivier is in de nacht gestegen en de bewoners van de stad moesten hun huizen met de boot verlaten.",
    "pl": "Rzeka wezbrała w nocy i mieszkańcy miasta nie mogli wrócić do domów, które zalała woda i błoto.",
    "sv": "Floden steg under natten och invånarna i staden fick inte stanna i sina hus, som var",  # codespell:ignore
    "tr": "Nehir gece yükseldi ve şehir halkı için bir çok ev daha sonra boşaltıldı, bu olay ile",  # codespell:ignore
    "id": "Sungai itu meluap pada malam hari dan warga yang tinggal di kota tidak dapat kembali ke rumah dengan cepat.",
    "ru": "Река поднялась ночью, и жители города были вынуждены покинуть свои дома, это было очень быстро.",
    "uk": "Річка піднялася вночі, і мешканці міста мусили залишити свої оселі, які затопило водою.",
    "bg": "Реката се покачи през нощта и жителите на града трябваше да напуснат домовете си, където водата влезе.",
    "ar": "ارتفع النهر خلال الليل واضطر سكان المدينة إلى مغادرة منازلهم بسبب الفيضان.",
    "fa": "رودخانه شب گذشته بالا آمد و مردم شهر مجبور شدند خانه‌های خود را ترک کنند چون پل‌ها بسته بود.",
    "ja": "昨夜、川の水位が上がり、町の住民は家を離れるように言われました。",
    "zh": "昨夜河水上涨，城里的居民被要求离开自己的家园，等待救援人员到来。",
    "ko": "어젯밤 강물이 불어나 도시 주민들이 집을 떠나야 했습니다.",
    "el": "Το ποτάμι φούσκωσε τη νύχτα και οι κάτοικοι της πόλης εγκατέλειψαν τα σπίτια τους.",
    "he": "הנהר עלה במהלך הלילה ותושבי העיר נאלצו לעזוב את בתיהם.",
    "th": "แม่น้ำเอ่อล้นในเวลากลางคืนและชาวเมืองต้องออกจากบ้าน",
    "hi": "रात में नदी का जल स्तर बढ़ गया और शहर के लोगों को घर छोड़ना पड़ा।",
    "bn": "রাতে নদীর পানি বেড়ে যায় এবং শহরের মানুষকে ঘর ছাড়তে হয়।",
}


@pytest.mark.parametrize("language", TEXTS)
def test_running_text_tells_its_language(language: str) -> None:
    assert detect_language(TEXTS[language]) == language
    assert detect_language(TEXTS[language] * 50) == language


@pytest.mark.parametrize(
    "text",
    ["", "Home | About | Contact", "Lisbon Porto Faro Braga Coimbra Évora Aveiro Setúbal Leiria Viseu", "7 8 9",
     "lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt labore dolore magna aliqua",
     "xqz " * 100],
)  # fmt: skip
def test_what_is_no_running_text_has_none(text: str) -> None:
    assert detect_language(text) == ""


def language_of(html: str, **headers: str) -> str:
    lines = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return read_page(fetched(body=html.encode(), headers=lines)).language


def test_the_pages_own_word_comes_first() -> None:
    german = f"<p>{TEXTS['de']}"
    assert language_of(f"<html lang=fr>{german}") == "fr"
    assert language_of(f"<html xml:lang=fr-FR>{german}") == "fr"
    assert language_of(f"<meta http-equiv=Content-Language content=fr>{german}") == "fr"
    assert language_of(german, Content_Language="fr-CH") == "fr"
    assert language_of(f"<html lang=''>{german}") == "de"
    assert language_of(f"<html lang='{{{{ lang }}}}'>{german}") == "de"
    assert language_of(f"<meta http-equiv=Content-Language content='en, fr'>{german}") == "de"
    assert language_of(german) == "de"


@pytest.mark.parametrize("language", ["ru", "uk", "ar", "ja", "zh", "ko", "el", "th", "hi"])
def test_a_language_that_the_script_of_the_text_rules_out_is_not_believed(language: str) -> None:
    """A template said `lang="en"`, and nobody changed it."""
    assert language_of(f"<html lang=en-US><p>{TEXTS[language]}") == language
    assert language_of(f"<html lang={language}><p>{TEXTS[language]}") == language
    quoted = f"<html lang=en><p>{TEXTS['en'] * 2}<blockquote>{TEXTS[language]}</blockquote>"
    assert language_of(quoted) == "en", "a quotation does not make it one"
    assert language_of(f"<html lang=sr><p>{TEXTS['ru']}") == "sr", "it is written in both"


def test_english_is_what_templates_say_before_anybody_looks() -> None:
    assert language_of(f"<html lang=en>{TEXTS['de']}") == "de"
    assert language_of(f"<html lang=en-US>{TEXTS['ja']}") == "ja"
    assert language_of(f"<html lang=en>{TEXTS['en']}") == "en"
    assert language_of("<html lang=en><p>Home | About | Contact") == "en"
    assert language_of(f"<html lang=en><p>{TEXTS['en']} {TEXTS['de']}{TEXTS['de']}") == "en"


def test_it_takes_little_time_whatever_the_text() -> None:
    with bounded_effort():
        for text in ("the " * 500_000, "東" * 1_000_000, "а" * 1_000_000, "\u0300" * 1_000_000):
            detect_language(text)
