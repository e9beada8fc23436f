"""Is the summary of a run the sum of what its workers did?"""

from __future__ import annotations

from periplus.store.run_summary import sum_of_rounds, sum_of_workers

ONE = {
    "fetched": 30,
    "seconds": 2.0,
    "pages_per_second": 15.0,
    "errors": {"dns": 1},
    "timing": {"idle": 0.5},
    "run_id": 7,
}
TWO = {
    "fetched": 10,
    "seconds": 4.0,
    "pages_per_second": 2.5,
    "errors": {"dns": 2, "tls": 1},
    "timing": {"idle": 1.0},
    "run_id": 7,
}


def test_one_worker_did_what_the_run_did() -> None:
    assert sum_of_workers([ONE]) == ONE


def test_figures_add_up_and_time_does_not() -> None:
    assert sum_of_workers([ONE, TWO]) == {
        "fetched": 40,
        "seconds": 4.0,
        "pages_per_second": 10.0,
        "errors": {"dns": 3, "tls": 1},
        "timing": {"idle": 1.5},
        "run_id": 7,
    }


def test_the_order_of_the_workers_does_not_matter() -> None:
    assert sum_of_workers([TWO, ONE]) == sum_of_workers([ONE, TWO])


def test_hosts_parked_in_one_round_and_asked_in_the_next_are_not_counted_twice() -> None:
    rounds = [ONE | {"parked": {"dns": 3}}, TWO | {"parked": {"dns": 2}}]
    assert sum_of_rounds(rounds)["parked"] == {"dns": 2}
    assert sum_of_workers(rounds)["parked"] == {"dns": 5}
