"""Which boxes does this site have?"""

from __future__ import annotations

from periplus.config import Serving
from periplus.fetch.web_service import WebService
from periplus.web.boxes.box import BoxMaker
from periplus.web.boxes.boxes import DEADLINE
from periplus.web.boxes.time_box import TimeBox
from periplus.web.boxes.weather_box import WeatherBox
from periplus.web.places.finder import PlaceFinder
from periplus.web.weather.open_meteo import OpenMeteo
from periplus.web.weather.stored import StoredWeather


def box_makers(settings: Serving) -> list[BoxMaker]:
    """The makers that `serve.boxes` names, in its order."""
    places = PlaceFinder()
    makers: list[BoxMaker] = [TimeBox(places)]
    if settings.weather_address:
        service = WebService(settings.weather_address, DEADLINE)
        makers.append(WeatherBox(places, StoredWeather(OpenMeteo(service))))
    by_name = {maker.name: maker for maker in makers}
    return [by_name[name] for name in dict.fromkeys(settings.boxes) if name in by_name]
