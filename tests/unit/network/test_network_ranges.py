"""The hierarchy of addresses: files of every kind in, ranges with their organisations out."""

import gzip
import json
import os
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from periplus.cli import assemble
from periplus.errors import UsageError
from periplus.network.build import BOGUS, Built, build_hierarchy
from periplus.network.organisations import Organisations, plain_name
from periplus.network.ranges import IpHierarchy, address_number, address_text, range_text

RUNNER = CliRunner()

DELEGATED = """2.3|ripencc|20261101|6|19830705|20261101|+0100
ripencc|*|ipv4|*|3|summary
# a comment
ripencc|DE|ipv4|193.0.0.0|4096|19930901|allocated|opaque-one
ripencc|DE|ipv4|194.8.0.0|256|19930901|assigned|opaque-one
ripencc|NL|ipv6|2001:600::|29|20030101|allocated|opaque-two
ripencc|NL|asn|3333|1|19930901|allocated|opaque-two
ripencc|EU|ipv4|62.0.0.0|256|19930901|available|
ripencc||ipv4|10.0.0.0|256|19930901|allocated|opaque-one
ripencc|DE|ipv4|999.0.0.0|256|19930901|allocated|opaque-one
ripencc|DE|ipv4|193.1.0.0|many|19930901|allocated|opaque-one
"""
RIPE = """% This is the RIPE Database

inetnum:        193.0.4.0 - 193.0.4.255
netname:        SMALL
country:        FR  # really
org:            ORG-SMALL1-RIPE
status:         ASSIGNED PA
source:         RIPE

inetnum:        0.0.0.0 - 255.255.255.255
netname:        IANA-BLK
source:         RIPE

inet6num:       2001:600:4::/48
org:            ORG-SMALL1-RIPE
source:         RIPE

organisation:   ORG-SMALL1-RIPE
org-name:       Small Networks GmbH
source:         RIPE

inetnum:        193.0.9.9
source:         RIPE
"""
ARIN = """NetHandle:      NET-8-8-8-0-2
OrgID:          GOGL
Parent:         NET-8-0-0-0-1
NetName:        GOOGLE
NetRange:       8.8.8.0 - 8.8.8.255
NetType:        allocation

V6NetHandle:    NET6-2001-4860-1
OrgID:          GOGL
NetRange:       2001:4860:: - 2001:4860:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF

OrgID:          GOGL
OrgName:        Google LLC
Country:        US

NetHandle:      NET-BAD
NetRange:       8.8.9.255 - 8.8.9.0
"""
TABLE = """1.1.1.0,1.1.1.255,13335,"Cloudflare, Inc."
193.0.16.0,193.0.23.255,3333,RIPE Network Coordination Centre
8.8.4.0,8.8.4.255,15169,GOOGLE
192.168.0.0,192.168.255.255,64512,Somebody at home
9.9.9.0,9.9.9.255,0,Not routed
5.5.5.5,nonsense,1,Nobody
"""


def built(folder: Path, *texts: str) -> Built:
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"file{number}")
        paths[-1].write_text(text, "utf-8")
    return build_hierarchy(paths)


def test_the_smallest_range_around_an_address_with_all_above_it(tmp_path: Path) -> None:
    hierarchy = built(tmp_path, DELEGATED, RIPE).hierarchy
    subnet = hierarchy.subnet("193.0.4.7")
    assert subnet.path == ("world", "ripencc", "ripencc FR", "193.0.0.0/20", "193.0.4.0/24")
    assert (subnet.organisation_name, subnet.country, subnet.registry) == ("Small Networks GmbH", "FR", "ripencc")
    assert hierarchy.subnet("193.0.5.7").path == ("world", "ripencc", "ripencc DE", "193.0.0.0/20")
    assert hierarchy.subnet("2001:600:4::1").path[-2:] == ("2001:600::/29", "2001:600:4::/48")
    assert hierarchy.subnet("2001:600:5::1").key == "2001:600::/29"


def test_organisations_are_one_by_opaque_id_handle_as_number_and_name(tmp_path: Path) -> None:
    hierarchy = built(tmp_path, DELEGATED, RIPE, ARIN, TABLE).hierarchy

    def owner(address: str) -> int | None:
        return hierarchy.subnet(address).organisation

    assert owner("193.0.5.7") == owner("194.8.0.1") is not None, "the same opaque id"
    assert owner("193.0.4.7") == owner("2001:600:4::1") != owner("193.0.5.7"), "the same handle"
    assert owner("193.0.16.1") == owner("2001:600:5::1"), "an AS number of the same opaque id"
    assert owner("8.8.8.8") == owner("2001:4860:4860::8888") == owner("8.8.4.4"), "Google LLC is GOOGLE"
    assert len({owner(a) for a in ("1.1.1.1", "8.8.8.8", "193.0.5.7", "193.0.4.7", "193.0.16.1")}) == 5


def test_what_is_bad_private_or_nobodys_is_counted_and_left_out(tmp_path: Path) -> None:
    done = built(tmp_path, DELEGATED, RIPE, ARIN, TABLE)
    assert done.counts["bad rows"] == 2 + 1 + 1 + 1
    assert done.counts["private or bogus"] == 2
    assert done.counts["too wide"] == 1
    assert done.counts["nobody's"] == 2
    assert len(done.hierarchy) == 3 + 2 + 2 + 3
    for address in ("10.0.0.1", "192.168.1.1"):
        assert done.hierarchy.subnet(address).path[0:2] == ("world", address.partition(".")[0] + ".0.0.0/8")


def test_where_nothing_is_known_prefixes_stand_in() -> None:
    empty = IpHierarchy.empty()
    assert empty.subnet("203.0.113.9").path == ("world", "203.0.0.0/8", "203.0.0.0/16", "203.0.113.0/24")
    assert empty.subnet("2001:db8:1:2::3").path == ("world", "2001:db8::/32", "2001:db8::/40", "2001:db8:1::/48")
    with pytest.raises(ValueError, match="nonsense"):
        empty.subnet("nonsense")


def test_wide_ranges_are_cut_into_blocks_if_asked_for(tmp_path: Path) -> None:
    built(tmp_path, "20.0.0.0/11,8075,Microsoft\n20.1.2.0/24,1,Tenant\n").hierarchy.save(tmp_path / "h")
    assert IpHierarchy.open(tmp_path / "h").subnet("20.3.2.1").key == "20.0.0.0/11"
    cut = IpHierarchy.open(tmp_path / "h", widest=16)
    assert cut.subnet("20.3.2.1").path[-2:] == ("20.0.0.0/11", "20.3.0.0/16")
    assert cut.subnet("20.1.2.3").key == "20.1.2.0/24"


def test_of_several_rows_about_a_range_the_registrys_own_is_believed_and_the_rest_filled_in(tmp_path: Path) -> None:
    own = "inetnum: 193.0.4.0 - 193.0.4.255\norg: ORG-A\nsource: RIPE\n\norganisation: ORG-A\norg-name: Holder\n"
    table = "193.0.4.0,193.0.4.255,FR,77,Transit\n"
    for texts in ((own, table), (table, own)):
        done = built(tmp_path, *texts)
        subnet = done.hierarchy.subnet("193.0.4.1")
        assert (subnet.organisation_name, subnet.country) == ("Holder", "FR")
        assert done.counts["named twice"] == 1


def test_ranges_that_cross_lose_no_address(tmp_path: Path) -> None:
    hierarchy = built(
        tmp_path, "5.0.0.0,5.0.9.255,1,One\n5.0.5.0,5.0.20.255,2,Two\n5.0.6.0,5.0.6.255,3,Six\n"
    ).hierarchy
    names = [hierarchy.subnet(f"5.0.{third}.1").organisation_name for third in (1, 5, 6, 7, 15)]
    assert names == ["One", "Two", "Six", "Two", "Two"]


def test_saved_mapped_and_gzipped_files_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "d.gz").write_bytes(gzip.compress(DELEGATED.encode()))
    (tmp_path / "t.gz").write_bytes(gzip.compress(TABLE.replace(",", "\t").replace('"', "").encode()))
    made = build_hierarchy([tmp_path / "d.gz", tmp_path / "t.gz"]).hierarchy
    made.save(tmp_path / "saved")
    again = IpHierarchy.open(tmp_path / "saved")
    for address in ("193.0.4.7", "2001:600::1", "193.0.16.9", "77.77.77.77"):
        assert again.subnet(address) == made.subnet(address)
    assert (len(again), again.organisations) == (len(made), made.organisations)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"once upon a time\n", "no address ranges of a kind"),
        (b"", "no address ranges of a kind"),
        (b"10.0.0.0,10.0.0.255,1,X\n", "no usable range"),
        (gzip.compress(DELEGATED.encode(), mtime=0)[:60], "cut short"),
    ],
    ids=["words", "empty", "private", "torn"],
)
def test_files_that_are_no_use_are_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        build_hierarchy([tmp_path / "file"])
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="periplus network build"):
        IpHierarchy.open(tmp_path / "file")
    with pytest.raises(UsageError, match="cannot be read"):
        build_hierarchy([tmp_path / "absent"])


@settings(deadline=None, max_examples=examples(50))
@given(
    st.lists(st.tuples(st.integers(0, 2**24 - 1), st.integers(0, 2**20)), min_size=1, max_size=20),
    st.lists(st.integers(0, 2**24 - 1), min_size=5, max_size=5),
)
def test_every_look_up_agrees_with_a_search_of_all_ranges(spans: list[tuple[int, int]], asked: list[int]) -> None:
    base = address_number("5.0.0.0")
    ranges = {(base + first, min(base + first + size, base + 2**24 - 1)) for first, size in spans}
    lines = "".join(f"{address_text(a)},{address_text(b)},{a % 1000 + 1},Org\n" for a, b in ranges)
    with TemporaryDirectory() as folder:  # hypothesis and tmp_path do not go together
        hierarchy = built(Path(folder), lines).hierarchy
    for number in (*(base + one for one in asked), *(first for first, _ in ranges), *(last for _, last in ranges)):
        around = {range_text(a, b) for a, b in ranges if a <= number <= b}
        subnet = hierarchy.subnet(address_text(number))
        assert bool(around) == (subnet.key in around)


@settings(deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_addresses_and_numbers(number: int) -> None:
    assert address_number(address_text(number)) == number


def test_bogus_ranges_do_not_overlap() -> None:
    assert all(one[1] < other[0] for one, other in pairwise(BOGUS))


@pytest.mark.parametrize(
    ("one", "other"), [("Cloudflare, Inc.", "CLOUDFLARE"), ("Orange S.A.", "orange"), ("AT&T Corp.", "at t")]
)
def test_names_without_case_punctuation_and_legal_form(one: str, other: str) -> None:
    assert plain_name(one) == plain_name(other)


def test_keys_join_in_any_order() -> None:
    organisations = Organisations()
    numbers = [organisations.number(key) for key in "abcd"]
    organisations.join("a", "b")
    organisations.join("c", "d")
    organisations.call("d", "Dee Ltd")
    organisations.call("b", "DEE")
    settled, names = organisations.settled()
    assert len({settled[number] for number in numbers}) == 1
    assert names[settled[0]] in ("Dee Ltd", "DEE")


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "d").write_text(DELEGATED, "utf-8")
    app = assemble("network")
    out = tmp_path / "addresses.bin"
    done = RUNNER.invoke(app, ["network", "build", str(tmp_path / "d"), "-o", str(out), "--json"])
    assert json.loads(done.stdout)["ranges"] == 3
    assert json.loads(done.stdout)["left_out"]["bad rows"] == 2
    shown = RUNNER.invoke(app, ["network", "lookup", str(out), "193.0.4.7"]).stdout
    assert "ripencc > ripencc DE > 193.0.0.0/20" in shown
    assert json.loads(RUNNER.invoke(app, ["network", "info", str(out), "--json"]).stdout)["sources"] == ["d"]
    assert isinstance(RUNNER.invoke(app, ["network", "lookup", str(out), "x"]).exception, UsageError)


def test_a_hierarchy_is_written_through_a_link_and_into_no_pipe(tmp_path: Path) -> None:
    made = built(tmp_path, "20.0.0.0/11,8075,Microsoft\n").hierarchy
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "hierarchy")
    made.save(link)
    assert link.is_symlink()
    assert len(IpHierarchy.open(tmp_path / "hierarchy")) == 1
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="a pipe or a device, not a file"):
        made.save(pipe)
    assert pipe.is_fifo()
