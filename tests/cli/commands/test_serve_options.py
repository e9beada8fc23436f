from __future__ import annotations

from pathlib import Path

import pytest

from periplus.cli.commands.serve import command, read_nodes, read_shards
from periplus.errors import UsageError


@pytest.mark.parametrize(
    ("text", "shards"), [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("2,0", (0, 2)), ("0-1, 1-2,7", (0, 1, 2, 7))]
)
def test_shards_are_numbers_and_ranges(text: str, shards: tuple[int, ...]) -> None:
    assert read_shards(text) == shards


@pytest.mark.parametrize("text", ["", "a", "3-1", "-1", "0-", "1,,2", "0-99999", "1.5"])
def test_other_texts_are_no_shards(text: str) -> None:
    with pytest.raises(UsageError, match="not a list of shard numbers"):
        read_shards(text)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("http://a:1", ("http://a:1",)),
        ("http://a:1,https://b:2/;http://[::1]:3", ("http://a:1", "https://b:2", "http://[::1]:3")),
        ("http://a:1, http://a:1", ("http://a:1",)),
    ],
)
def test_nodes_are_urls(text: str, nodes: tuple[str, ...]) -> None:
    assert read_nodes(text) == nodes


@pytest.mark.parametrize(
    "text", ["", ",", "a:1", "ftp://a", "http://", "http://a/b", "http://a:x", "http://u:p@a", "http://a?b"]
)
def test_other_texts_are_no_nodes(text: str) -> None:
    with pytest.raises(UsageError):
        read_nodes(text)


def test_a_shard_node_is_one_process(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--shards and --workers cannot be combined: a shard node is one process"):
        command(home=tmp_path, shards="0", workers=2)
