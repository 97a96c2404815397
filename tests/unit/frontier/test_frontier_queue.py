"""A node's queue: best first within a host, the head in memory and the rest on disk, the same after a restart."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_values import new_url, open_store
from msgspec.structs import replace

from periplus.frontier import UrlQueue, UrlState, state_after
from periplus.frontier.queue import HEADS, IN_MEMORY
from periplus.model import Lease, NewUrl, Outcome
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.store.database import open_reader
from periplus.store.queueing import LEAST_SPENT, queued_count

NOW = 1_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[NodeStore]:
    store = open_store(tmp_path)
    store.db.execute("PRAGMA synchronous = OFF")  # one commit a URL: the disk is not what is tested
    yield store
    store.close()


def queue_of(store: NodeStore) -> UrlQueue:
    return UrlQueue(open_reader(store.folder.database))


def add(store: NodeStore, queue: UrlQueue, urls: list[NewUrl]) -> None:
    for lease, host_id in store.commit(Batch(seeds=urls)).queued:
        queue.push(lease, host_id)
    queue.all_pushed()


def finish(store: NodeStore, queue: UrlQueue, lease: Lease) -> None:
    committed = store.commit(Batch(completions=[Completion(lease, Outcome.HTTP_ERROR)]))
    queue.finished(lease)
    if committed.swept:
        queue.swept()


def drained(store: NodeStore, queue: UrlQueue, host: str, now: float = NOW) -> list[str]:
    """All URLs of a host in the order in which they are leased."""
    urls = []
    while lease := queue.lease(host, now):
        urls.append(lease.url)
        finish(store, queue, lease)
    return urls


def random_urls(count: int, seed: int) -> list[NewUrl]:
    numbers = random.Random(seed)
    return [new_url(f"http://a.com/{n}", priority=numbers.choice([0.1, 0.2, 0.5, 0.9])) for n in range(count)]


def best_first(urls: list[NewUrl]) -> list[str]:
    return [url.url for url in sorted(urls, key=lambda url: -url.priority)]  # stable: older first among equals


@pytest.mark.parametrize("sharers", [1, IN_MEMORY // 8, IN_MEMORY // 2, IN_MEMORY * 2])
def test_the_order_is_the_same_however_little_is_in_memory(store: NodeStore, sharers: int) -> None:
    """Nodes of one process share its memory; with very many of them each URL is read as it is due."""
    urls = random_urls(3 * HEADS, seed=9)
    queue = UrlQueue(open_reader(store.folder.database), sharers=sharers)
    add(store, queue, urls)
    assert drained(store, queue, "a.com") == best_first(urls)
    queue.close()


@pytest.mark.parametrize("count", [1, HEADS, 2 * HEADS, 2 * HEADS + 1, 1_000])
def test_urls_of_a_host_come_best_first(store: NodeStore, count: int) -> None:
    urls = random_urls(count, seed=count)
    queue = queue_of(store)
    add(store, queue, urls)
    assert queue.size == count
    assert drained(store, queue, "a.com") == best_first(urls)
    assert queue.size == 0
    assert queue.lease("a.com", NOW) is None
    queue.close()


def test_a_queue_taken_up_from_disk_is_the_same_queue(store: NodeStore) -> None:
    urls = random_urls(700, seed=3)
    add(store, queue_of(store), urls)
    resumed = queue_of(store)
    assert resumed.load(NOW) == ["a.com"]
    assert resumed.size == 700
    assert drained(store, resumed, "a.com") == best_first(urls)


@pytest.mark.parametrize("ended", [1, 50, LEAST_SPENT - 1, LEAST_SPENT, 3 * LEAST_SPENT + 9, 700])
def test_what_has_ended_is_not_taken_up_again(store: NodeStore, ended: int) -> None:
    """URLs that end leave the queue on disk many at once; a run that is killed in between takes up none of them."""
    urls = random_urls(700, seed=4)
    first = queue_of(store)
    add(store, first, urls)
    for _ in range(ended):
        lease = first.lease("a.com", NOW)
        assert lease is not None
        finish(store, first, lease)
    resumed = queue_of(store)
    assert resumed.load(NOW) == (["a.com"] if ended < 700 else [])
    assert resumed.size == queued_count(store.db) == 700 - ended
    assert drained(store, resumed, "a.com") == best_first(urls)[ended:]


def test_the_queue_on_disk_is_swept(store: NodeStore) -> None:
    """What has ended does not stay there, and a page that is visited again is in it once."""
    queue = queue_of(store)
    add(store, queue, random_urls(1_000, seed=5))
    drained(store, queue, "a.com")
    queue.all_pushed()
    assert store.db.execute("SELECT count(*) FROM queue").fetchone()[0] < LEAST_SPENT
    store.db.execute("UPDATE progress SET state = 2, not_before = 5 WHERE id IN (1, 1000)")  # to be visited again
    for lease, host_id in store.commit(Batch(due_until=NOW)).queued:
        queue.push(lease, host_id)
    assert store.db.execute("SELECT id FROM queue ORDER BY id").fetchall() == [(1,), (1000,)]
    assert queued_count(store.db) == queue.size == 2
    assert len(drained(store, queue, "a.com")) == 2


def test_urls_that_arrive_while_the_tail_is_on_disk_keep_their_order(store: NodeStore) -> None:
    queue = queue_of(store)
    first, second = random_urls(400, seed=1), [new_url(f"http://a.com/x{n}", priority=n / 400) for n in range(400)]
    add(store, queue, first)
    add(store, queue, second)
    assert drained(store, queue, "a.com") == best_first([*first, *second])


def test_hosts_do_not_mix(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, [new_url("http://a.com/1"), new_url("http://b.com/1"), new_url("http://a.com/2")])
    assert drained(store, queue, "b.com") == ["http://b.com/1"]
    assert drained(store, queue, "a.com") == ["http://a.com/1", "http://a.com/2"]
    assert queue.lease("never-heard.of", NOW) is None
    assert queue.next_due("never-heard.of", NOW) is None


def test_a_leased_url_is_not_leased_again(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, random_urls(5 * HEADS, seed=2))
    out = []
    while lease := queue.lease("a.com", NOW):
        out.append(lease.url_id)  # nothing is finished, so all rows are still QUEUED on disk
    assert len(out) == len(set(out)) == 5 * HEADS


def test_an_unused_lease_can_be_put_back(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, [new_url("http://a.com/best", priority=0.9), new_url("http://a.com/other", priority=0.1)])
    lease = queue.lease("a.com", NOW)
    assert lease is not None
    queue.put_back(lease)
    assert queue.size == 2
    again = queue.lease("a.com", NOW)
    assert again is not None
    assert again.url_id == lease.url_id
    assert again.epoch > lease.epoch
    assert queue.holds(again)
    assert not queue.holds(lease)


def retry(store: NodeStore, queue: UrlQueue, lease: Lease, at: float) -> None:
    store.commit(Batch(completions=[Completion(lease, Outcome.RETRY, retry_at=at)]))
    queue.retry(lease, at)


def test_a_failed_url_comes_back_when_it_is_due(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, [new_url("http://a.com/1", priority=0.9), new_url("http://a.com/2", priority=0.1)])
    lease = queue.lease("a.com", NOW)
    assert lease is not None
    retry(store, queue, lease, NOW + 60)
    second = queue.lease("a.com", NOW)
    assert second is not None
    assert second.url == "http://a.com/2"
    finish(store, queue, second)
    assert queue.lease("a.com", NOW + 59) is None
    assert queue.next_due("a.com", NOW) == NOW + 60
    again = queue.lease("a.com", NOW + 60)
    assert again is not None
    assert (again.url_id, again.attempts) == (lease.url_id, 1)
    finish(store, queue, again)
    assert queue.next_due("a.com", NOW + 61) is None
    assert queue.size == 0


def test_a_retry_survives_a_restart_with_its_time_and_count(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, [new_url("http://a.com/1")])
    lease = queue.lease("a.com", NOW)
    assert lease is not None
    retry(store, queue, lease, NOW + 60)
    resumed = queue_of(store)
    assert resumed.load(NOW + 10) == ["a.com"]
    assert resumed.size == 1
    assert resumed.lease("a.com", NOW + 10) is None
    assert resumed.next_due("a.com", NOW + 10) == NOW + 60
    again = resumed.lease("a.com", NOW + 60)
    assert again is not None
    assert again.attempts == 1
    assert resumed.lease("a.com", NOW + 60) is None


def test_retries_among_a_spilled_queue_are_neither_lost_nor_doubled(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, random_urls(5 * HEADS, seed=4))
    numbers = random.Random(4)
    done: list[int] = []
    now = NOW
    for _ in range(10_000):
        lease = queue.lease("a.com", now)
        if lease is None:
            due = queue.next_due("a.com", now)
            if due is None:
                break
            now = due
        elif lease.attempts < 2 and numbers.random() < 0.5:
            retry(store, queue, lease, now + numbers.choice([0.0, 5.0, 500.0]))
        elif numbers.random() < 0.1:
            queue.put_back(lease)
        else:
            done.append(lease.url_id)
            finish(store, queue, lease)
        now += 1.0
    assert sorted(done) == list(range(1, 5 * HEADS + 1))
    assert queue.size == 0
    assert store.db.execute("SELECT count(*) FROM known_url WHERE state = 0").fetchone() == (0,)


def test_a_poor_retry_does_not_go_before_better_urls_on_disk(store: NodeStore) -> None:
    queue = queue_of(store)
    add(store, queue, [new_url("http://a.com/poor", priority=0.1)])
    poor = queue.lease("a.com", NOW)
    assert poor is not None
    add(store, queue, [new_url(f"http://a.com/{number}", priority=0.5) for number in range(3 * HEADS)])
    retry(store, queue, poor, NOW + 1)
    order = drained(store, queue, "a.com", NOW + 2)
    assert order[-1] == "http://a.com/poor"
    assert len(order) == 3 * HEADS + 1


def test_an_unused_lease_goes_back_to_its_place_in_a_spilled_queue(store: NodeStore) -> None:
    queue = queue_of(store)
    urls = random_urls(5 * HEADS, seed=6)
    add(store, queue, urls)
    out = [queue.lease("a.com", NOW) for _ in range(3 * HEADS)]
    for lease in reversed(out):
        assert lease is not None
        queue.put_back(lease)
    assert queue.size == 5 * HEADS
    assert drained(store, queue, "a.com") == best_first(urls)


def test_urls_that_arrive_right_after_a_restart_keep_their_order(store: NodeStore) -> None:
    first, second = random_urls(300, seed=7), [new_url("http://a.com/poor", priority=0.05)]
    add(store, queue_of(store), first)
    resumed = queue_of(store)
    resumed.load(NOW)
    add(store, resumed, second)
    assert drained(store, resumed, "a.com") == best_first([*first, *second])


def test_only_a_retry_leads_back_to_the_queue() -> None:
    for outcome in Outcome:
        expected = UrlState.QUEUED if outcome is Outcome.RETRY else UrlState.DONE
        assert state_after(outcome) is expected


def revalue(store: NodeStore, queue: UrlQueue, changed: list[tuple[int, float]]) -> None:
    for host, priority in store.commit(Batch(revalued=changed)).revalued.items():
        queue.revalue(host, priority)


def test_a_url_that_is_worth_more_now_comes_first(store: NodeStore) -> None:
    store.urls.revalues = True
    queue, urls = queue_of(store), random_urls(300, 5)
    add(store, queue, urls)
    last = min(urls, key=lambda url: url.priority)
    revalue(store, queue, [(last.fingerprint, 2.0), (12345, 3.0)])
    assert drained(store, queue, "a.com")[0] == last.url


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_revalued_put_back_or_tried_again_every_url_ends_once(store: NodeStore, seed: int) -> None:
    store.urls.revalues = True
    chance = random.Random(seed)
    queue, urls = queue_of(store), random_urls(400, seed)
    add(store, queue, urls[:250])
    late, ended, now = urls[250:], [], NOW
    while (lease := queue.lease("a.com", now)) or queue.next_due("a.com", now) is not None or late:
        now += 1.0
        if lease is not None:
            match chance.randrange(10):
                case 0:
                    queue.put_back(lease)
                case 1 if lease.attempts < 2:
                    retry(store, queue, lease, now + chance.randrange(1, 30))
                case _:
                    finish(store, queue, lease)
                    ended.append(lease.url)
        if chance.random() < 0.4:
            revalue(store, queue, [(url.fingerprint, chance.random()) for url in chance.sample(urls, 5)])
        if late and chance.random() < 0.3:
            add(store, queue, [late.pop()])
    assert sorted(ended) == sorted(url.url for url in urls)
    assert queue.size == 0


def test_a_row_that_is_read_between_its_commit_and_its_push_is_leased_once(store: NodeStore) -> None:
    """The writer commits in its own thread: the loop may refill from disk before it hears of the new rows."""
    queue, urls = queue_of(store), random_urls(3 * HEADS, 9)
    add(store, queue, urls[:-5])
    committed = store.commit(Batch(seeds=[replace(url, priority=2.0) for url in urls[-5:]])).queued
    queue.revalue("a.com", 3.0)  # so that the next lease reads from disk
    early = [queue.lease("a.com", NOW) for _ in range(3)]
    queue.revalue("a.com", 3.0)
    early.append(queue.lease("a.com", NOW))
    for lease, host_id in committed:
        queue.push(lease, host_id)
    queue.all_pushed()
    found = [lease.url for lease in early if lease] + drained(store, queue, "a.com")
    assert sorted(found) == sorted(url.url for url in urls)
    assert queue.size == 0
