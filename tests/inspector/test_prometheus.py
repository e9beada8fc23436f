"""Lines of the text format have labels that cannot break them."""

from __future__ import annotations

from periplus.inspector.prometheus import Metric, header, value_line


def test_a_metric_begins_with_its_meaning_and_type() -> None:
    lines = list(header("pages_total", Metric("counter", "Pages.")))
    assert lines == ["# HELP pages_total Pages.", "# TYPE pages_total counter"]


def test_a_value_has_its_labels() -> None:
    assert value_line("pages", (), (), 3) == "pages 3"
    assert value_line("pages", ("type", "host"), ("pdf", 'a"b\\\n'), 0.5) == r'pages{type="pdf",host="a\"b\\\n"} 0.5'
