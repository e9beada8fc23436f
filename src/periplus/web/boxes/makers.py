"""Which boxes does this site have?"""

from __future__ import annotations

from periplus.config import Serving
from periplus.fetch.web_service import WebService
from periplus.web.boxes.box import BoxMaker
from periplus.web.boxes.boxes import DEADLINE
from periplus.web.boxes.calculator import Calculator
from periplus.web.boxes.definition import Definition
from periplus.web.boxes.time_box import TimeBox
from periplus.web.boxes.units import UnitConverter
from periplus.web.boxes.weather_box import WeatherBox
from periplus.web.engine_port import Engine
from periplus.web.places.finder import PlaceFinder
from periplus.web.search_queue import SearchQueue
from periplus.web.weather.open_meteo import OpenMeteo
from periplus.web.weather.stored import StoredWeather


def box_makers(settings: Serving, engine: Engine, queue: SearchQueue) -> list[BoxMaker]:
    """The makers that `serve.boxes` names, in its order."""
    places = PlaceFinder()
    makers: list[BoxMaker] = [
        Calculator(),
        UnitConverter(),
        TimeBox(places),
        Definition(engine, queue.work_if_free),
    ]
    if settings.weather_address:
        service = WebService(settings.weather_address, DEADLINE)
        makers.append(WeatherBox(places, StoredWeather(OpenMeteo(service))))
    by_name = {maker.name: maker for maker in makers}
    return [by_name[name] for name in dict.fromkeys(settings.boxes) if name in by_name]
