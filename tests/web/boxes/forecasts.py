"""A forecast for tests, as Open-Meteo would give it."""

from __future__ import annotations

import json

from periplus.web.weather.open_meteo import read_forecast
from web.boxes.open_meteo import ANSWER

_READ = read_forecast(json.dumps(ANSWER).encode())
assert _READ is not None
FORECAST = _READ
