"""The commands and files of the pages about a fleet work: a restore with a real PostgreSQL and an S3 service."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import typed
from docs.recipes import Reader, clean_environment, steps_of
from docs.test_how_to import sites
from periplus.config import load
from periplus.config.settings import setting_keys
from periplus.store.objects.open_store import open_store
from postgres_server import PostgresServer
from s3_server import S3Server
from testweb import TestWeb

FOLDER = Path(__file__).parents[2] / "docs" / "operate"
FILES = FOLDER / "fleet"
PAGES = sorted(FOLDER.glob("fleet*.md"))
STORAGE = "s3://my-bucket/my-search"
AWS = """#!{python}
import sys
from pathlib import Path
from periplus.store.objects.open_store import open_store
aws, s3, sync, source, target = sys.argv
assert (s3, sync) == ("s3", "sync")
if source.startswith("s3:"):
    store = open_store(source)
    for one in store.list(""):
        path = Path(target) / one.name
        path.parent.mkdir(parents=True, exist_ok=True)
        store.get_file(one.name, path)
else:
    store = open_store(target)
    for path in Path(source).rglob("*"):
        if path.is_file():
            store.put_file(path.relative_to(source).as_posix(), path)
"""


@pytest.fixture
def programs(tmp_path: Path, shared_postgres: PostgresServer) -> Path:
    """`periplus`, the programs of PostgreSQL, and one that does what `aws s3 sync` does."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "periplus").symlink_to(Path(sys.executable).with_name("periplus"))
    for name in ("pg_dump", "pg_restore"):
        (folder / name).symlink_to(shared_postgres.programs / name)
    (folder / "aws").write_text(AWS.format(python=sys.executable))
    (folder / "aws").chmod(0o755)
    return folder


@pytest.mark.slow
def test_a_fleet_is_restored_from_a_dump_and_a_copy_of_the_bucket(
    tmp_path: Path, programs: Path, shared_postgres: PostgresServer, s3: S3Server
) -> None:
    s3.create_bucket("my-bucket")
    name = shared_postgres.create_database()
    with TestWeb(sites(), https=True) as web:
        environment = clean_environment(
            programs,
            **s3.environment,
            PERIPLUS_FLEET__DATABASE=shared_postgres.url(name),
            PERIPLUS_FLEET__STORAGE=STORAGE,
            PERIPLUS_FLEET__GRACE_SECONDS="2",
            PERIPLUS_FETCH__CONNECT_TO=",".join(web.connect_to),
            PERIPLUS_FETCH__CA_FILE=str(web.ca_file),
            PERIPLUS_FETCH__PRIVATE_ADDRESSES="127.0.0.1/32",
            PERIPLUS_POLITENESS__DELAY="0",
        )
        reader = Reader(tmp_path, environment, {"pg_dump", "pg_restore", "aws"})
        commands = 0
        for step in steps_of(FOLDER / "fleet-backup.md"):
            if step.command.startswith("pg_restore"):
                lose_everything(shared_postgres, name, tmp_path / "head")
            reader.follow(step)
            commands += 1
    assert commands > 10
    shared_postgres.drop_database(name)


def lose_everything(server: PostgresServer, name: str, head: Path) -> None:
    """The database, the bucket and the head are gone."""
    server.drop_database(name)
    server.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    store = open_store(STORAGE)
    store.delete([one.name for one in store.list("")])
    shutil.rmtree(head)


def test_every_command_of_the_pages_exists() -> None:
    lines = [line for page in PAGES for line in re.findall(r"^(?:\$ )?(periplus .*)$", page.read_text(), re.MULTILINE)]
    assert len(lines) > 10
    for line in lines:
        arguments = shlex.split(line, comments=True)[1:]
        if not arguments[0].endswith(":"):  # a message
            assert typed(*arguments, "--help").code == 0, line


def test_every_setting_of_the_pages_exists() -> None:
    named = {key for page in PAGES for key in re.findall(r"`(fleet\.[a-z_]+)`", page.read_text())}
    assert named
    assert named <= set(setting_keys())


def test_every_page_is_reached_from_the_first() -> None:
    text = (FOLDER / "fleet.md").read_text()
    assert [page.name for page in PAGES if page.name != "fleet.md" and f"({page.name}" not in text] == []


# -- files -------------------------------------------------------------------------------------------------------------


def environments() -> Iterator[tuple[str, dict[str, str]]]:
    """The variables of every container, by file."""
    yaml = pytest.importorskip("yaml")
    compose = yaml.safe_load((FILES / "compose.yml").read_text())
    for name in ("head", "worker", "search"):
        yield f"compose {name}", compose["services"][name]["environment"]
    documents = list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text()))
    shared = next(one["data"] for one in documents if one["kind"] == "ConfigMap")
    for container in containers(documents):
        own = {one["name"]: "postgresql://user@host/name" for one in container["env"]}
        yield f"kubernetes {container['name']}", shared | own


def containers(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    pods = [one["spec"]["template"]["spec"] for one in documents if one["kind"] in ("StatefulSet", "Deployment")]
    return [container for pod in pods for container in pod["containers"]]


def commands() -> Iterator[list[str]]:
    """The arguments of `periplus` in the container files and the units."""
    yaml = pytest.importorskip("yaml")
    compose = yaml.safe_load((FILES / "compose.yml").read_text())
    yield from (shlex.split(compose["services"][name]["command"]) for name in ("head", "worker", "search"))
    yield from (one["args"] for one in containers(list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text()))))
    for unit in FILES.glob("*.service"):
        (line,) = re.findall(r"^ExecStart=\S+ (.*)$", unit.read_text(), re.MULTILINE)
        yield shlex.split(line)


def test_containers_and_units_run_commands_that_exist() -> None:
    found = list(commands())
    assert len(found) == 10
    for arguments in found:
        assert typed(*arguments, "--help").code == 0, arguments


def test_containers_have_settings_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for where, variables in environments():
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            settings = load(tmp_path, {}).settings
        assert settings.fleet.storage.startswith("s3://"), where
        assert bool(settings.fleet.database.get_secret_value()) == (not where.endswith("search")), where


def test_every_site_of_the_compose_file_can_be_reached() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((FILES / "compose.yml").read_text())["services"]
    assert [name for name in ("head", "search") if not services[name].get("ports")] == []


def test_kubernetes_gives_every_node_a_disk_and_time_to_upload() -> None:
    yaml = pytest.importorskip("yaml")
    documents = list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text()))
    services = {one["metadata"]["name"] for one in documents if one["kind"] == "Service"}
    for one in documents:
        if one["kind"] == "StatefulSet":
            assert one["spec"]["serviceName"] in services
            pod = one["spec"]["template"]["spec"]
            assert pod["terminationGracePeriodSeconds"] >= 180
            mounts = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
            assert mounts == {claim["metadata"]["name"] for claim in one["spec"]["volumeClaimTemplates"]}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_units_of_a_fleet(tmp_path: Path) -> None:
    units = list(FILES.glob("*.service"))
    for unit in units:
        text = unit.read_text().replace("/opt/periplus/bin/periplus", str(Path(sys.executable).with_name("periplus")))
        (tmp_path / unit.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *(str(tmp_path / unit.name) for unit in units)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
