"""The page about metrics, the dashboard and the alert rules name the metrics that are exported."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import typed
from periplus.config import Console
from periplus.inspector.crawl_metrics import CRAWL_METRICS
from periplus.site.metrics import METRICS

PERIPLUS = Path(sys.executable).parent / "periplus"
FOLDER = Path(__file__).parents[2] / "docs" / "operate"
EXPORTED = METRICS | {name: metric for name, (metric, _) in CRAWL_METRICS.items()}
PAGE = (FOLDER / "metrics.md").read_text(encoding="utf-8")
DASHBOARD = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
NAME = re.compile(r"\b(?:periplus|process)_[a-z_]+\b")
OF_HISTOGRAMS = re.compile(r"_(?:bucket|sum|count)$")
OF_OTHERS = {"up", "node_filesystem_avail_bytes"}  # of Prometheus itself, and of the node exporter


def named(expression: str) -> set[str]:
    return {OF_HISTOGRAMS.sub("", name) for name in NAME.findall(expression)}


def expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", []))


def rules() -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return list(group["rules"])


def test_every_metric_is_documented_with_its_type_and_labels_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*)\| [^|]+ \|$", PAGE, re.MULTILINE)
    documented = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert documented == {name: (metric.kind, metric.labels) for name, metric in EXPORTED.items()}


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    assert set().union(*map(named, expressions())) == set(EXPORTED)


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_counters_are_shown_as_rates() -> None:
    for expression in [*expressions(), *(rule["expr"] for rule in rules())]:
        for name in named(expression):
            if EXPORTED[name].kind != "gauge":
                assert re.search(rf"rate\({name}", expression), expression
        assert expression.count("(") == expression.count(")")
        for label in re.findall(r"by \(([^)]*)\)", expression):
            known = {"instance", "le", *(one for metric in EXPORTED.values() for one in metric.labels)}
            assert set(label.split(", ")) <= known


def test_alert_rules_use_exported_metrics_and_say_what_to_do() -> None:
    found = rules()
    assert len({rule["alert"] for rule in found}) == len(found) > 5
    for rule in found:
        names = named(rule["expr"])
        assert names <= set(EXPORTED)
        assert names or any(name in rule["expr"] for name in OF_OTHERS)
        assert set(rule["annotations"]) == {"summary", "description"}


def test_every_limit_of_the_console_is_documented() -> None:
    section = PAGE.partition("## Alerts of the console")[2]
    assert re.findall(r"\| `(alert_\w+)` \|", section) == [
        name for name in Console.model_fields if name.startswith("alert_")
    ]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    units = [path for path in FOLDER.iterdir() if path.suffix in {".service", ".timer"}]
    assert len(units) == 4
    for unit in units:
        text = unit.read_text(encoding="utf-8").replace("/opt/periplus/bin/periplus", str(PERIPLUS))
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", *(str(tmp_path / unit.name) for unit in units)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_units_run_commands_that_exist() -> None:
    for unit in FOLDER.glob("*.service"):
        for name, arguments in re.findall(r"^ExecStart=\S+ (\w+)(.*)$", unit.read_text(), re.MULTILINE):
            outcome = typed(name, *arguments.split(), "--help")
            assert outcome.code == 0, f"{unit.name}: periplus {name}{arguments}"
