from __future__ import annotations

import time
from pathlib import Path
from threading import Thread

import pytest

from periplus.errors import BucketMissing, StorageUnavailable, UsageError
from periplus.store.objects.open_store import open_store, require_bucket
from s3_server import S3Server


def test_a_service_that_answers_503_for_a_while_loses_nothing(s3: S3Server, bucket: str, tmp_path: Path) -> None:
    store = open_store(bucket, patience=60)
    (tmp_path / "file").write_bytes(b"content" * (3 << 20))
    errors: list[Exception] = []

    def work() -> None:
        try:
            store.put_file("file", tmp_path / "file")
            store.put_if("CURRENT", b"one", None)
            store.get_file("file", tmp_path / "got")
        except Exception as error:
            errors.append(error)

    thread = Thread(target=work)
    with s3.answering(503):
        thread.start()
        time.sleep(1.5)
    thread.join()
    assert not errors
    assert (tmp_path / "got").read_bytes() == (tmp_path / "file").read_bytes()
    assert store.get("CURRENT").data == b"one"


def test_a_service_that_does_not_come_back_is_reported(s3: S3Server, bucket: str) -> None:
    store = open_store(bucket, patience=0.5)
    with s3.answering(503), pytest.raises(StorageUnavailable, match=r"it answers 503 .*AWS_ENDPOINT_URL"):
        store.put("a", b"")
    with s3.refusing(), pytest.raises(StorageUnavailable, match="connection refused"):
        store.get("a")
    store.put("a", b"")


def test_a_download_goes_on_where_its_connection_broke(s3: S3Server, bucket: str, tmp_path: Path) -> None:
    store = open_store(bucket, patience=0.5)  # less than the download takes
    (tmp_path / "file").write_bytes(bytes(range(256)) * (40 << 12))
    store.put_file("file", tmp_path / "file")
    s3.requests.clear()
    with s3.slow(12e6):
        thread = Thread(target=store.get_file, args=("file", tmp_path / "got"))
        thread.start()
        while not (tmp_path / "got").exists() or (tmp_path / "got").stat().st_size < 8 << 20:
            time.sleep(0.01)
        s3.break_connections()
    thread.join()
    assert (tmp_path / "got").read_bytes() == (tmp_path / "file").read_bytes()
    assert [request.split()[0] for request in s3.requests] == ["HEAD", "GET", "GET"]


@pytest.mark.usefixtures("s3")
def test_a_missing_bucket_is_named() -> None:
    store = open_store("s3://no-such-bucket/prefix")
    with pytest.raises(StorageUnavailable, match=r"s3://no-such-bucket/prefix .* the bucket does not exist"):
        store.put("a", b"")
    with pytest.raises(StorageUnavailable, match=r"the bucket does not exist"):
        store.get("a")


def test_a_crawl_does_not_start_without_its_bucket(s3: S3Server, bucket: str) -> None:
    require_bucket(bucket)
    with pytest.raises(BucketMissing, match="Create the bucket"):
        require_bucket("s3://no-such-bucket/prefix")
    with s3.answering(503):
        require_bucket("s3://no-such-bucket/prefix")  # the store may have it when it is back


def test_refused_keys_are_named(s3: S3Server, bucket: str) -> None:
    with s3.answering(403), pytest.raises(StorageUnavailable, match=r"the service refuses these keys.*AWS_ACCESS_KEY"):
        open_store(bucket).put("a", b"")


def test_the_error_has_no_secret(s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "do-not-show-this")
    with s3.answering(500), pytest.raises(StorageUnavailable) as caught:
        open_store(bucket, patience=0.3).get("a")
    assert "do-not-show-this" not in str(caught.value)
    assert "Debug source" not in str(caught.value)


@pytest.mark.parametrize("address", ["127.0.0.1:9000", "http://", "http://host:99999", "http://host ", "ftp://host"])
@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
def test_an_address_that_the_library_cannot_use_is_named(
    name: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, address)
    with pytest.raises(UsageError, match=rf"{name} in the environment is not valid: .*Write https://HOST"):
        open_store("s3://bucket")


@pytest.mark.parametrize(
    "name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"]
)
@pytest.mark.usefixtures("s3")
def test_a_key_from_a_file_that_ends_with_a_line_break_is_named_and_not_shown(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "do-not-show-this\n")
    with pytest.raises(UsageError, match=f"{name} in the environment is not valid: it has a space") as caught:
        open_store("s3://bucket")
    assert "do-not-show-this" not in str(caught.value)


@pytest.mark.usefixtures("s3")
def test_a_service_that_cannot_be_reached_is_named_in_a_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://s3.invalid")
    with pytest.raises(StorageUnavailable, match=r"cannot be used: no connection to http://s3\.invalid\. Check"):
        open_store("s3://bucket", patience=0.3).get("a")


def test_keys_in_an_address_are_not_shown() -> None:
    with pytest.raises(UsageError, match=r"'s3://bucket/prefix' is not the address") as caught:
        open_store("s3://AKIA:do-not-show-this@bucket/prefix")
    assert "do-not-show-this" not in str(caught.value)


def test_a_node_is_told_at_its_start_that_files_will_wait(
    s3: S3Server, bucket: str, caplog: pytest.LogCaptureFixture
) -> None:
    require_bucket(bucket)
    assert caplog.text == ""
    with s3.answering(403):
        require_bucket(bucket)
    assert "the service refuses these keys; files wait on this node until the store can be used" in caplog.text
