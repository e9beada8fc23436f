"""All nodes of a fleet crawl with the settings that the head has published, and no secret is among them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from crawl.crawling import typed
from periplus.config import Settings, load, secret_keys
from periplus.crawl.coordination import settings_sync
from periplus.crawl.coordination.settings_sync import copy_settings, publish_settings, sync_settings, wait_for_settings
from periplus.errors import ConfigError, DatabaseUnavailable
from periplus.store.collection import Collection

SCOPE = '[scope]\nhosts = ["example.org"]\n'
PASSWORD = "s3cret"
HASH = "$scrypt$ln=15,r=8,p=3$" + "a" * 22 + "$" + "b" * 43
SECRETS = f"""
[serve]
node_token = "{PASSWORD}"

[console]
password = "{HASH}"
hosts = ["console.test"]

[console.tokens]
backup = "{"c" * 64}"
"""


@pytest.fixture(autouse=True)
def _database(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", postgres)


def node(folder: Path, settings: str | None = None) -> Collection:
    folder.mkdir()
    if settings is not None:
        (folder / "periplus.toml").write_text(settings)
    return Collection(folder, os.environ.get("PERIPLUS_FLEET__DATABASE", ""))


def text_of(collection: Collection) -> str:
    return (collection.home / "periplus.toml").read_text()


def tables_of(collection: Collection) -> dict[str, object]:
    return tomllib.loads(text_of(collection))


def test_the_head_publishes_its_settings_and_the_others_use_them(tmp_path: Path) -> None:
    head, other = node(tmp_path / "a", SCOPE), node(tmp_path / "b")
    sync_settings(head.home)
    assert copy_settings(other)
    assert tables_of(other) == {"scope": {"hosts": ["example.org"]}}
    assert text_of(head) == SCOPE, "the file of the head stays as it is"


@pytest.mark.parametrize(
    "written",
    [
        '[fleet]\ndatabase = "{}"\n',
        '[fleet] # of this node\ndatabase = "{}"\n',
        '[ fleet ]\ndatabase = "{}"\n',
        'fleet.database = "{}"\n',
        'fleet = {{ database = "{}" }}\n',
        '["fleet"]\ndatabase = "{}"\n',
    ],
)
def test_no_secret_of_a_node_is_published(tmp_path: Path, postgres: str, written: str) -> None:
    address = f"postgresql://me:{PASSWORD}@example.org/crawl"
    head, other = node(tmp_path / "a", written.format(address) + SCOPE + SECRETS), node(tmp_path / "b")
    sync_settings(head.home)
    published = settings_sync._published(other)
    assert published is not None
    assert tomllib.loads(published) == {"scope": {"hosts": ["example.org"]}}
    copy_settings(other)
    for secret in (PASSWORD, HASH, "c" * 64):
        assert secret not in published + text_of(other)


def test_no_published_table_has_a_secret() -> None:
    assert not [key for key in secret_keys() if key.split(".")[0] in settings_sync.PUBLISHED]
    assert set(settings_sync.PUBLISHED) < set(Settings.model_fields)


def test_the_tables_that_belong_to_a_node_stay(tmp_path: Path) -> None:
    own = f'[fleet]\nnode = "b"\n\n[scope]\ndepth = 3\n{SECRETS}'
    joining = node(tmp_path / "b", own)
    (joining.home / "periplus.toml").chmod(0o600)
    publish_settings(joining, node(tmp_path / "a", SCOPE).home / "periplus.toml")
    copy_settings(joining)
    before = tomllib.loads(own)
    assert tables_of(joining) == {**before, "scope": {"hosts": ["example.org"]}}
    assert (joining.home / "periplus.toml").stat().st_mode & 0o777 == 0o600
    kept = joining.home / "periplus.toml.before"
    assert kept.read_text() == own, "nothing that the user wrote is lost"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_head_that_is_started_again_publishes_its_changes(tmp_path: Path) -> None:
    head, other = node(tmp_path / "a", SCOPE), node(tmp_path / "b")
    sync_settings(head.home)
    copy_settings(other)
    (head.home / "periplus.toml").write_text("[scope]\ndepth = 4\n")
    sync_settings(head.home)
    copy_settings(other)
    assert tables_of(other) == {"scope": {"depth": 4}}
    assert not (other.home / "periplus.toml.before").exists(), "a copy needs no copy"


def test_a_node_with_a_copy_does_not_publish_it(tmp_path: Path) -> None:
    head, other = node(tmp_path / "a", SCOPE), node(tmp_path / "b")
    sync_settings(head.home)
    copy_settings(other)
    (head.home / "periplus.toml").write_text("[scope]\ndepth = 4\n")
    sync_settings(head.home)
    sync_settings(other.home)
    assert tables_of(other) == {"scope": {"depth": 4}}


def test_a_head_without_a_file_publishes_that_the_defaults_are_used(tmp_path: Path) -> None:
    head, other = node(tmp_path / "a"), node(tmp_path / "b")
    sync_settings(head.home)
    assert copy_settings(other)
    assert not (other.home / "periplus.toml").exists()


def test_a_worker_waits_until_settings_are_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    head, other = node(tmp_path / "a", SCOPE), node(tmp_path / "b")
    monkeypatch.setattr("time.sleep", lambda _: sync_settings(head.home))
    wait_for_settings(other)
    assert tables_of(other) == {"scope": {"hosts": ["example.org"]}}
    assert caplog.text.count("waiting for the settings of the fleet") == 1


def test_a_worker_that_waits_for_settings_outlasts_an_outage_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[bool | Exception] = [False, DatabaseUnavailable("away"), DatabaseUnavailable("away"), True]

    def copy(_collection: Collection) -> bool:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(settings_sync, "copy_settings", copy)
    monkeypatch.setattr("time.sleep", lambda _: None)
    wait_for_settings(Collection(tmp_path, "postgresql://nowhere/db"))
    assert answers == []
    answers.append(DatabaseUnavailable("the wrong port"))
    with pytest.raises(DatabaseUnavailable):
        wait_for_settings(Collection(tmp_path, "postgresql://nowhere/db"))


def test_every_kind_of_setting_survives_the_way(tmp_path: Path) -> None:
    text = r"""
[identity]
contact = "Me <\"me\"@example.org>"
[scope]
hosts = ['(www\.)?example\.org', "b.test"]
depth = 7
skip_extensions = ["ärger", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccc", "ddddddddddd", "e"]
[scope.domain_pages]
"example.org" = 100000
[politeness]
delay = 0.5
address_limits = [{ range = "10.0.0.0/8", connections = 2, delay = 0.5 }]
[fetch]
allow_private = true
[parse.profiles.news]
hosts = ["news\\.test"]
remove = ["nav > a"]
"""
    head, other = node(tmp_path / "a", text), node(tmp_path / "b")
    sync_settings(head.home)
    copy_settings(other)
    assert tables_of(other) == tomllib.loads(text)
    assert load(other.home).settings == load(head.home).settings
    assert max(map(len, text_of(other).splitlines())) < 130, "a person can read it"


def test_settings_with_a_mistake_are_not_published(tmp_path: Path) -> None:
    head = node(tmp_path / "a", "[scope]\ndepth = -1\n")
    with pytest.raises(ConfigError, match="depth"):
        sync_settings(head.home)
    assert settings_sync._published(head) is None


def test_a_collection_on_one_machine_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERIPLUS_FLEET__DATABASE")
    sync_settings(node(tmp_path / "a", SCOPE).home)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["periplus.toml"]


@pytest.mark.parametrize("command", ["up", "crawl"])
def test_a_node_that_starts_a_crawl_publishes_its_settings(tmp_path: Path, command: str) -> None:
    head = node(tmp_path / "a", SCOPE)
    port = ["--port", "0"] if command == "up" else []
    assert "nothing to crawl" in typed(command, "--allow-private", "--home", head.home, *port, env=dict(os.environ)).err
    assert copy_settings(node(tmp_path / "b"))


def test_a_worker_without_a_contact_does_not_begin(tmp_path: Path) -> None:
    sync_settings(node(tmp_path / "a", SCOPE).home)
    outcome = typed("worker", "--home", tmp_path / "b", env=dict(os.environ))
    assert outcome.code == 2
    assert "no contact is set" in outcome.complaint


def test_a_named_file_replaces_the_settings_of_the_fleet(tmp_path: Path) -> None:
    sync_settings(node(tmp_path / "a", SCOPE).home)
    other = tmp_path / "other.toml"
    other.write_text("[scope]\ndepth = 4\n")
    outcome = typed("worker", "--home", tmp_path / "b", "--config", other, env=dict(os.environ))
    assert "no contact is set" in outcome.complaint
    assert load(tmp_path / "b").settings.scope.depth == 4


def test_a_named_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    outcome = typed("worker", "--home", tmp_path / "b", "--config", tmp_path / "none.toml", env=dict(os.environ))
    assert outcome.code == 2
    assert "there is no such file" in outcome.complaint
