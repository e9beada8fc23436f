"""The words around place names in queries, and the ordinary words that are also names of places.

All words are normalised: lower case, without accents.
"""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


WEATHER = _set(
    "clima forecast idojaras meteo pocasi pogoda previsao previsioni previsions pronostico saa temperatur "
    "temperatura temperature temperatures tempo tiempo vader vadret vejr vejret vreme vær været weather weer "
    "weerbericht wetter wetterbericht wettervorhersage καιρος погода температура طقس 天气 天気 天氣 날씨"
)
TIME = _set("time timezone uhrzeit uhr zeit zeitzone spat heure hora horas ora ore orario tijd klokken время 時間 时间")

# A script that has no spaces: the word may follow the name directly.
UNSPACED = ("天気", "天气", "天氣", "時間", "时间", "날씨")

# Say that a place follows.
CONNECTORS = _set("in at for near of im fur en em a au aux pour para de di da do w we i pa на в во")

# May stand before the place, besides an asked word.
BEFORE = CONNECTORS | _set(
    "10 14 15 3 5 7 actual actuelle adesso ahora aktuell aktuelle am aujourdhui be che cual current currently "
    "daily das day days demain der die domani du durumu el es est exact fa fait hava heute hoe hour hourly how "
    "hows hoy il is ist it jetzt jours la laat le les like live local maintenant manana morgen now nu oggi "
    "outlook previsao que quel quelle report right son sono tempo temps the this today todays tomorrow tonight "
    "viel vorhersage wat week weekend weekly what whats wie will wird wochenende zone погода сейчас"
)
AFTER = _set(
    "10 14 15 3 5 7 ahora aktuell aujourdhui current day days demain domani durumu forecast hava heute hourly hoy "
    "jetzt jours live local maintenant manana morgen next now oggi outlook please radar report right semana tage "
    "this today tomorrow tonight week weekend woche wochenende zone завтра сегодня сейчас"
)

# Phrases that ask for the weather or the time, and a name that is written in several ways, as one word.
PHRASES = {
    "hava durumu": "weather",
    "temps fait": "weather",
    "how (?:cold|hot|warm)": "weather",
    "(?:is|will) it (?:rain|raining|snow|snowing|sunny|cloudy|windy)": "weather",
    "time zone": "time",
    "local time": "time",
    "d c": "dc",
}

# After "weather", these are not names of places, although there are places with these names.
NOT_AFTER_WEATHER = _set(
    "api app apps ball balloon bug change channel day days girl kit live man map maps men nation news online ops "
    "pattern patterns proof radar report service services station stations strip stripping tech time times "
    "underground vane widget"
)

# Better known as an island, a county, a region, a month or a programming language: these names mean a place only with
# its country or region.
BETTER_KNOWN = _set("bali cornwall essex goa kent madeira man march orkney paradise rust tuscany")

# Codes that people use as the name of a country.
COUNTRY_CODES = _set("uk us")

# May follow a name as a word of its own: such an abbreviation of a country or region needs a comma before it, unless
# the query asks for weather or time.
QUALIFIER_WORDS = _set(
    "act ai al am an as at be bi by ca co cs de do es et fm he hi hr id il in io is it la li lu md me mi ms mv my "
    "ne ni no oh ok on or pa pc pm ps py re rs sa sc sd se sh sl so st th to tv un us va vi vic"
)

# Ordinary words of English, German, French and Spanish, first names, surnames and products. A query that is only such
# a word gets no box.
ORDINARY = _set(
    """
    aba agro alamar alexandra alexandria amarillo americana amida anchorage anda angers angora april arad aran
    archway armenia arrecife as assis astrakhan august aurora bade badin baise balsas banda bandera bari
    barking bata batavia bath batman bec bello bender berline best bida billings bimbo bin bison bole bor boulder
    brandon brest breves brossa brusque buda buffalo burs bursa bursae bush cali canoas canon cansa canton capas
    caracol carolina carrefour cary cayenne caza cebo centennial central centro centurion cerro chaman chandler
    chico chin china chinatown chita chu clinton cobra codo colina cologne colonia columbia columbus commonwealth
    concord concordia coral cork coro corona coronel cos cuenca cypress damas damask darwin davenport deal deli
    delis delta derby diadema dinar dual durango eden ejido elche emerita enterprise erode esse essen este eugene
    ferrara fes fez florence fontana franca franklin fresno ganja garland gary gaya genes gent gilbert gold golfe
    goma gracia hail halle hamm hang harrow henderson hilla himes hims hit hollywood homo honcho hub hue hull hums
    humus ica imus independence jackson java jingling joliet july june kali kan kent kiel klang kota koto kure labe
    lampa lander latina laval leiden lens leon leonora levis liberia libertad liege lime limerick limo lincoln lion
    lira log logos loja lome lone lund luz macon madison madre mage male man manas mango manning manos mansa manta
    mantilla march maria marica marino mary mascara may mecca medan medina melville mercedes merida merlo mesa
    mesquite metro midland milagro minga miramar mito mobil mobile modesto mons mora morena moreno moro mosca mosco
    murray muscat nada nancy natal nelson nice nine norman norte oeste ojo ora oral oran orange ordu palma para
    paradise paras pare pari parla pasto pelotas perm pest peste pesto pet plano plata playas posen preston pristine
    providence pueblo pun puna python queens rast reading real regina reno rest rice richmond rio rivera riverside
    rom romo rosario roseau ruse saga saint sakura sala sale salem salinas salta salto salvador samba san sana sano
    santa santos sari serra shaping siegen simmering slough sol soledad solo soul split springs sterling sucre sues
    sui sun sur surprise surrey tango tarsus tema tempe terminus thane timon tours trier troy tub tuba tula tunes
    tyler union valence van vegas vena vernon victoria vienne vin vine virginia vista vitoria vladimir wan warder
    warren washington waterloo wean white woodlands york zaria zion
    """
)

# Names of large places in other languages, which alone name the place.
OTHER_NAMES = _set(
    """
    antwerpen anvers atenas athen athenes bangalore basle belgrad beograd bern bombay breslau bruessel brussel
    bruxelles bucarest bucuresti bukarest caire calcutta copenhague danzig edimbourg filadelfia firenze florenz
    frankfurt gdansk geneve genf gent ginevra goteborg gothenburg habana hannover havanna helsingfors kairo kiev
    kiew kobenhavn koeln koln kopenhagen krakau krakow lausanne lisboa lisbonne lissabon londen londra londres
    madras mailand marsella medina milano moscou moscu moskau moskva muenchen munchen napoli neapel nuernberg
    nurnberg nyc odessa parigi pariz paryz pekin peking petersburg prag prague praha rangoon reykjavik rom roma
    saigon saragossa seul sevilla singapur tokio torino turin varsovia varsovie venedig venezia warschau warszawa
    wien wroclaw zuerich
    """
) | {
    "den haag",
    "new york",
    "nova york",
    "nueva york",
    "palma de mallorca",
    "quebec city",
    "santiago de chile",
    "st petersburg",
    "washington dc",
}
