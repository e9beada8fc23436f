"""Give me these bytes, politely."""

from periplus.fetch.agent import PRODUCT, user_agent
from periplus.fetch.allowance import Purpose
from periplus.fetch.client import Fetcher
from periplus.fetch.robots import Robots, RobotsVerdict

__all__ = ["PRODUCT", "Fetcher", "Purpose", "Robots", "RobotsVerdict", "user_agent"]
