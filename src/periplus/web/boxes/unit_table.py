"""The units of the converter: symbols, exact factors and names.

Each factor is exact and leads to the first unit of its dimension. The definitions are those of the SI brochure (BIPM,
2019), of the international yard and pound (1959), of NIST SP 811 for other units, and of IEC 80000-13 for data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from periplus.web.boxes.arithmetic import PI


class Unit(NamedTuple):
    """A unit; the first unit of the dimension has *value* × factor + offset of it."""

    symbol: str
    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)
    is_inverse: bool = False  # litres per distance, where the others are distances per litre
    note: str = ""


_FOOT = Fraction("0.3048")  # metres: international yard of 0.9144 m
_INCH = _FOOT / 12
_MILE = _FOOT * 5_280
_POUND = Fraction("0.45359237")  # kilograms: international pound
_GALLON = _INCH**3 * 231 * 1_000  # litres: the US gallon is 231 cubic inches
_IMPERIAL_GALLON = Fraction("4.54609")  # litres: UK Weights and Measures Act 1985
_GRAVITY = Fraction("9.80665")  # m/s²: standard gravity
_HOUR, _DAY = 3_600, 86_400  # seconds
_US, _UK = "US measures", "Imperial measures"
_YEAR = "A year of 365.2425 days, the mean of the Gregorian calendar"

_LENGTH, _AREA, _VOLUME, _MASS = "length", "area", "volume", "mass"
TEMPERATURE, FUEL = "temperature", "fuel"
_Row = tuple[str, Fraction | int | str, str]  # symbol, factor, names

_ROWS: dict[str, tuple[_Row, ...]] = {
    _LENGTH: (
        ("m", 1, "m, meter, meters, metre, metres"),
        ("km", 1_000, "km, kms, kilometer, kilometers, kilometre, kilometres"),
        ("dm", "0.1", "dm, decimeter, decimeters, decimetre, decimetres, dezimeter"),
        ("cm", "0.01", "cm, cms, centimeter, centimeters, centimetre, centimetres, zentimeter"),
        ("mm", "0.001", "mm, millimeter, millimeters, millimetre, millimetres"),
        ("µm", "1e-6", "um, micrometer, micrometers, micrometre, micrometres, micron, microns, mikrometer"),
        ("nm", "1e-9", "nm, nanometer, nanometers, nanometre, nanometres"),
        ("in", _INCH, 'in, inch, inches, ", zoll'),
        ("ft", _FOOT, "ft, foot, feet, ', fuß"),
        ("yd", _FOOT * 3, "yd, yds, yard, yards"),
        ("mi", _MILE, "mi, mile, miles, meile, meilen"),
        ("NM", 1_852, "nmi, nautical mile, nautical miles, seemeile, seemeilen"),  # SI brochure, table 8
        ("au", 149_597_870_700, "au, astronomical unit, astronomical units"),  # IAU 2012
        ("ly", 299_792_458 * 31_557_600, "ly, light year, light years, lightyear, lightyears, lichtjahr, lichtjahre"),
        ("pc", Fraction(149_597_870_700 * 648_000) / Fraction(PI), "parsec, parsecs"),  # IAU 2015
    ),
    _AREA: (
        ("m²", 1, "m2, sqm, sq m, square meter, square meters, square metre, square metres, quadratmeter, qm"),
        ("km²", 10**6, "km2, sq km, square km, square kilometer, square kilometers, square kilometres"),
        ("cm²", "1e-4", "cm2, sq cm, square cm, square centimeter, square centimeters, square centimetres"),
        ("mm²", "1e-6", "mm2, sq mm, square mm, square millimeter, square millimeters, square millimetres"),
        ("ha", 10**4, "ha, hectare, hectares, hektar"),
        ("ft²", _FOOT**2, "ft2, sq ft, sqft, square ft, square foot, square feet"),
        ("in²", _INCH**2, "in2, sq in, square in, square inch, square inches"),
        ("yd²", _FOOT**2 * 9, "yd2, sq yd, square yard, square yards"),
        ("mi²", _MILE**2, "mi2, sq mi, sq mile, sq miles, square mile, square miles, quadratmeile, quadratmeilen"),
        ("acres", _FOOT**2 * 43_560, "ac, acre, acres"),
    ),
    _VOLUME: (
        ("L", 1, "l, liter, liters, litre, litres"),
        ("mL", "0.001", "ml, milliliter, milliliters, millilitre, millilitres"),
        ("cm³", "0.001", "cc, ccm, cm3, cubic cm, cubic centimeter, cubic centimeters, cubic centimetres"),
        ("cL", "0.01", "cl, centiliter, centiliters, centilitre, centilitres, zentiliter"),
        ("dL", "0.1", "dl, deciliter, deciliters, decilitre, decilitres, deziliter"),
        ("hL", 100, "hl, hectoliter, hectoliters, hectolitre, hectolitres, hektoliter"),
        ("m³", 1_000, "m3, cubic meter, cubic meters, cubic metre, cubic metres, kubikmeter"),
        ("ft³", _FOOT**3 * 1_000, "ft3, cu ft, cubic ft, cubic foot, cubic feet"),
        ("in³", _INCH**3 * 1_000, "in3, cu in, cubic in, cubic inch, cubic inches"),
        ("barrels", _GALLON * 42, "bbl, barrel, barrels, barrel of oil, barrels of oil"),
        ("imp gal", _IMPERIAL_GALLON, "imperial gallon, imperial gallons, uk gallon, uk gallons, imp gal, uk gal"),
        ("imp qt", _IMPERIAL_GALLON / 4, "imperial quart, imperial quarts, uk quart, uk quarts"),
        ("imp pt", _IMPERIAL_GALLON / 8, "imperial pint, imperial pints, uk pint, uk pints"),
        ("imp fl oz", _IMPERIAL_GALLON / 160, "imperial fl oz, imperial fluid ounce, imperial fluid ounces, uk fl oz"),
    ),
    _MASS: (
        ("kg", 1, "kg, kgs, kilo, kilos, kilogram, kilograms, kilogramm"),
        ("g", "0.001", "g, gram, grams, gramm, gramme, grammes"),
        ("mg", "1e-6", "mg, milligram, milligrams, milligramm"),
        ("µg", "1e-9", "ug, mcg, microgram, micrograms, mikrogramm"),
        ("t", 1_000, "t, tonne, tonnes, metric ton, metric tons, tonnen"),
        ("lb", _POUND, "lb, lbs, pound, pounds"),
        ("oz", _POUND / 16, "oz, ounce, ounces, unze, unzen"),
        ("st", _POUND * 14, "st, stone, stones"),
        ("US tons", _POUND * 2_000, "ton, tons, short ton, short tons, us ton, us tons"),
        ("long tons", _POUND * 2_240, "long ton, long tons, imperial ton, imperial tons"),
        ("gr", _POUND / 7_000, "grain, grains"),
        ("oz t", _POUND * 480 / 7_000, "troy ounce, troy ounces, oz t, feinunze, feinunzen"),
        ("ct", "0.0002", "carat, carats, ct, karat"),
    ),
    "speed": (
        ("m/s", 1, "m/s, mps, meters per second, metres per second, meter pro sekunde"),
        ("km/h", Fraction(1_000, _HOUR), "km/h, kmh, kph, kmph, kilometers per hour, kilometres per hour"),
        ("mph", _MILE / _HOUR, "mph, mi/h, miles per hour, meilen pro stunde"),
        ("ft/s", _FOOT, "ft/s, fps, feet per second"),
        ("kn", Fraction(1_852, _HOUR), "kn, kt, knot, knots, knoten"),
        ("km/s", 1_000, "km/s, kilometers per second, kilometres per second"),
    ),
    "time": (
        ("s", 1, "s, sec, secs, second, seconds, sekunde, sekunden"),
        ("ms", "0.001", "ms, millisecond, milliseconds, millisekunde, millisekunden"),
        ("µs", "1e-6", "us, microsecond, microseconds, mikrosekunde, mikrosekunden"),
        ("ns", "1e-9", "ns, nanosecond, nanoseconds, nanosekunde, nanosekunden"),
        ("min", 60, "min, mins, minute, minutes, minuten"),
        ("h", _HOUR, "h, hr, hrs, hour, hours, stunde, stunden"),
        ("d", _DAY, "d, day, days, tag, tage, tagen"),
        ("weeks", 7 * _DAY, "wk, week, weeks, woche, wochen"),
        ("months", Fraction("365.2425") * _DAY / 12, "month, months, monat, monate, monaten"),
        ("years", Fraction("365.2425") * _DAY, "yr, yrs, year, years, jahr, jahre, jahren"),
        ("decades", Fraction("3652.425") * _DAY, "decade, decades, jahrzehnt, jahrzehnte"),
        ("centuries", Fraction("36524.25") * _DAY, "century, centuries, jahrhundert, jahrhunderte"),
    ),
    "data": (
        ("B", 1, "b, byte, bytes"),
        ("kB", 10**3, "kb, kilobyte, kilobytes"),
        ("MB", 10**6, "mb, megabyte, megabytes"),
        ("GB", 10**9, "gb, gigabyte, gigabytes"),
        ("TB", 10**12, "tb, terabyte, terabytes"),
        ("PB", 10**15, "pb, petabyte, petabytes"),
        ("EB", 10**18, "exabyte, exabytes"),
        ("KiB", 2**10, "kib, kibibyte, kibibytes"),
        ("MiB", 2**20, "mib, mebibyte, mebibytes"),
        ("GiB", 2**30, "gib, gibibyte, gibibytes"),
        ("TiB", 2**40, "tib, tebibyte, tebibytes"),
        ("PiB", 2**50, "pib, pebibyte, pebibytes"),
        ("bit", Fraction(1, 8), "bit, bits"),
        ("kbit", Fraction(10**3, 8), "kbit, kilobit, kilobits"),
        ("Mbit", Fraction(10**6, 8), "mbit, megabit, megabits"),
        ("Gbit", Fraction(10**9, 8), "gbit, gigabit, gigabits"),
    ),
    "data rate": (
        ("B/s", 1, "b/s, bytes per second"),
        ("kB/s", 10**3, "kb/s, kilobytes per second"),
        ("MB/s", 10**6, "mb/s, megabytes per second"),
        ("GB/s", 10**9, "gb/s, gigabytes per second"),
        ("MiB/s", 2**20, "mib/s"),
        ("bit/s", Fraction(1, 8), "bit/s, bps, bits per second"),
        ("kbit/s", Fraction(10**3, 8), "kbit/s, kbps, kilobits per second"),
        ("Mbit/s", Fraction(10**6, 8), "mbit/s, mbps, megabits per second"),
        ("Gbit/s", Fraction(10**9, 8), "gbit/s, gbps, gigabits per second"),
    ),
    "energy": (
        ("J", 1, "j, joule, joules"),
        ("kJ", 10**3, "kj, kilojoule, kilojoules"),
        ("MJ", 10**6, "mj, megajoule, megajoules"),
        ("cal", "4.184", "cal, calorie, calories, kalorie, kalorien"),  # thermochemical calorie
        ("kcal", 4_184, "kcal, kilocalorie, kilocalories, kilokalorien"),
        ("Wh", _HOUR, "wh, watt hour, watt hours, wattstunden"),
        ("kWh", 1_000 * _HOUR, "kwh, kilowatt hour, kilowatt hours, kilowattstunde, kilowattstunden"),
        ("MWh", 10**6 * _HOUR, "mwh, megawatt hour, megawatt hours"),
        ("BTU", "1055.05585262", "btu, btus"),  # International Table, ISO 31-4
        ("eV", "1.602176634e-19", "ev, electronvolt, electronvolts"),  # SI brochure, exact since 2019
        ("ft⋅lbf", _FOOT * _POUND * _GRAVITY, "ft lb, ft lbs, foot pound, foot pounds"),
    ),
    "power": (
        ("W", 1, "w, watt, watts"),
        ("kW", 10**3, "kw, kilowatt, kilowatts"),
        ("MW", 10**6, "mw, megawatt, megawatts"),
        ("GW", 10**9, "gw, gigawatt, gigawatts"),
        ("hp", _FOOT * _POUND * _GRAVITY * 550, "hp, horsepower, bhp"),  # 550 foot-pounds per second
        ("PS", _GRAVITY * 75, "ps, metric horsepower, pferdestärke, pferdestärken"),  # 75 m·kgf per second
        ("BTU/h", Fraction("1055.05585262") / _HOUR, "btu/h, btu per hour"),
    ),
    "pressure": (
        ("Pa", 1, "pa, pascal, pascals"),
        ("hPa", 100, "hpa, hectopascal, hectopascals, hektopascal"),
        ("kPa", 10**3, "kpa, kilopascal, kilopascals"),
        ("MPa", 10**6, "mpa, megapascal, megapascals"),
        ("bar", 10**5, "bar, bars"),
        ("mbar", 100, "mbar, millibar, millibars"),
        ("psi", _POUND * _GRAVITY / _INCH**2, "psi, pounds per square inch"),
        ("atm", 101_325, "atm, atmosphere, atmospheres"),  # CGPM 1954
        ("mmHg", "133.322387415", "mmhg, millimeters of mercury"),
        ("Torr", Fraction(101_325, 760), "torr"),
    ),
    "angle": (
        ("°", Fraction(PI) / 180, "°, deg, degree, degrees, grad"),
        ("rad", 1, "rad, radian, radians, radiant"),
        ("turns", Fraction(PI) * 2, "turn, turns, revolution, revolutions"),
        ("gon", Fraction(PI) / 200, "gon, gradian, gradians"),
        ("arcmin", Fraction(PI) / 10_800, "arcmin, arcminute, arcminutes, bogenminuten"),
        ("arcsec", Fraction(PI) / 648_000, "arcsec, arcsecond, arcseconds, bogensekunden"),
    ),
    "frequency": (
        ("Hz", 1, "hz, hertz"),
        ("kHz", 10**3, "khz, kilohertz"),
        ("MHz", 10**6, "mhz, megahertz"),
        ("GHz", 10**9, "ghz, gigahertz"),
        ("rpm", Fraction(1, 60), "rpm, revolutions per minute"),
    ),
}  # fmt: skip
_US_ROWS: tuple[_Row, ...] = (
    ("gal", _GALLON, "gal, gallon, gallons, us gal, us gallon, us gallons"),
    ("qt", _GALLON / 4, "qt, quart, quarts, us quart, us quarts"),
    ("pt", _GALLON / 8, "pt, pint, pints, us pint, us pints"),
    ("cups", _GALLON / 16, "cup, cups, us cup, us cups"),
    ("fl oz", _GALLON / 128, "fl oz, floz, fluid ounce, fluid ounces, us fl oz, oz, ounce, ounces"),
    ("tbsp", _GALLON / 256, "tbsp, tablespoon, tablespoons"),
    ("tsp", _GALLON / 768, "tsp, teaspoon, teaspoons"),
)
_OTHERS: tuple[tuple[Unit, str], ...] = (
    (Unit("K", TEMPERATURE, Fraction(1)), "k, kelvin"),
    (
        Unit("°C", TEMPERATURE, Fraction(1), Fraction("273.15")),
        "c, °c, celsius, degrees celsius, degree celsius, degrees c, deg c, grad celsius, centigrade",
    ),
    (
        Unit("°F", TEMPERATURE, Fraction(5, 9), Fraction("459.67") * 5 / 9),
        "f, °f, fahrenheit, degrees fahrenheit, degree fahrenheit, degrees f, deg f, grad fahrenheit",
    ),
    (Unit("km/L", FUEL, Fraction(1)), "km/l, kilometers per liter, kilometres per litre"),
    (
        Unit("L/100 km", FUEL, Fraction(1, 100), is_inverse=True),
        "l/100km, l/100 km, liters per 100 km, litres per 100 km, liter auf 100 km",
    ),
    (Unit("mpg", FUEL, _MILE / 1_000 / _GALLON, note=_US), "mpg, miles per gallon, us mpg, mpg us"),
    (
        Unit("imp mpg", FUEL, _MILE / 1_000 / _IMPERIAL_GALLON, note=_UK),
        "imperial mpg, uk mpg, imp mpg, mpg uk, mpg imperial",
    ),
)


def _note(symbol: str) -> str:
    if symbol.startswith("imp "):
        return _UK
    return _YEAR if symbol in {"months", "years", "decades", "centuries"} else ""


def _named() -> dict[str, tuple[Unit, ...]]:
    """The units by their names; an ounce is a mass, or else a volume."""
    rows = [(dimension, row, _note(row[0])) for dimension, group in _ROWS.items() for row in group]
    rows += [(_VOLUME, row, _US) for row in _US_ROWS]
    units = [(Unit(row[0], dimension, Fraction(row[1]), note=note), row[2]) for dimension, row, note in rows]
    named: dict[str, tuple[Unit, ...]] = {}
    for unit, names in (*units, *_OTHERS):
        for name in names.casefold().split(","):
            named[name.strip()] = (*named.get(name.strip(), ()), unit)
    return named


UNITS = _named()
