"""The words around place names in queries, and the ordinary words that are also names of places.

All words are normalised: lower case, without accents.
"""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


WEATHER = _set(
    "weather forecast temperature temperatures wetter wettervorhersage wetterbericht temperatur meteo previsions "
    "temperature clima tiempo pronostico temperatura previsao tempo previsioni weer weerbericht pogoda pocasi vader "
    "vejr vær vejret været saa idojaras vreme погода температура καιρος 天気 天气 天氣 날씨 طقس مزاج"
)
TIME = _set("time timezone uhrzeit uhr zeit zeitzone spat heure hora horas ora ore orario tijd klokken время 時間 时间")

# A script that has no spaces: the word may follow the name directly.
UNSPACED = ("天気", "天气", "天氣", "時間", "时间", "날씨")

# Say that a place follows.
CONNECTORS = _set("in at for near of im fur en em a au aux pour para de di da do w we i pa на в во")

# May stand before the place, besides an asked word.
BEFORE = CONNECTORS | _set(
    "what whats is it the like how hows will be todays current currently local now right live today tomorrow tonight "
    "this week weekend day days daily hourly weekly hour 3 5 7 10 14 15 exact zone report outlook "
    "wie wird ist das es der die am wochenende aktuelle aktuell heute morgen jetzt viel vorhersage "
    "quel quelle fait est il temps la le les aujourdhui demain actuelle maintenant du jours "
    "que cual es el hoy manana ahora actual son previsao tempo "
    "che fa sono oggi domani adesso hava durumu wat hoe laat nu погода сейчас"
)
AFTER = _set(
    "today tomorrow tonight now right this week weekend next day days hourly 3 5 7 10 14 15 forecast report outlook "
    "local current zone please heute morgen jetzt aktuell tage woche wochenende aujourdhui demain maintenant jours "
    "hoy manana ahora semana oggi domani hava durumu сегодня завтра сейчас current live radar"
)

# Phrases of two words that ask for the weather or the time, as one word.
PHRASES = {"hava durumu": "weather", "temps fait": "weather", "time zone": "time", "local time": "time"}

# After "weather", these are not names of places, although there are places with these names.
NOT_AFTER_WEATHER = _set(
    "man men girl map maps app apps api channel station stations balloon radar underground report vane stripping strip "
    "proof news widget time times bug nation day days ball ops kit tech live online service services change pattern patterns"
)

# May follow a name as a word of its own: such an abbreviation of a country or region needs a comma before it, unless
# the query asks for weather or time.
QUALIFIER_WORDS = _set(
    "in or me hi oh ok id co al de la pa on no is it at be so my to as do am an us et es se un mi ne ms md ai io sh tv "
    "fm pm st bi by li lu py rs hr cs ca va vi il ps pc re sc sd th mv vic act sa ni he be sl"
)

# Ordinary words of English, German, French and Spanish, first names, surnames and products. A query that is only such
# a word gets no box.
ORDINARY = _set(
    """
    aba agro alexandra alexandria alamar amarillo americana amida anchorage anda angers angora arad aran armenia archway
    arrecife as assis astrakhan august aurora bade badin baise balsas banda bandera barking bari bata batavia bath
    batman bec bello bender berline best bida billings bimbo bin bison bole bor boulder brandon brest breves brossa
    brusque buda buffalo burs bursa bursae bush cali canoas canon cansa canton capas caracol carolina carrefour cary
    cayenne caza cebo centennial central centurion cerro chandler chaman chico chihuahua chin china chita chu clinton
    cobra codo colina cologne colonia columbia columbus commonwealth concord concordia coral cork coro corona coronel
    cos cuenca cypress damas damask davenport deal deli delis delta derby diadema dinar dual durango eden ejido elche
    emerita enterprise erode esse essen eugene ferrara fes fez florence fontana franca franklin fresno ganja garland
    gary gaya genes gent gilbert gold golfe goma gracia hail halle hamm hang harrow henderson hilla himes hims hit homo
    honcho hub hue hull humus hums imus independence ica jackson java jingling joliet kan kali kent klang kiel kota koto
    kure labe lampa lander latina laval leiden lens leon leonora levis liberia libertad liege lime limerick limo lincoln
    lion lira log logos lone loja lome lund luz macon madison mage male malaga man manas mango manning manos mansa manta
    mantilla march maria marica marino mary mascara may mecca medan medina melville mercedes merida merlo mesa mesquite
    metro midland milagro milan minga miramar mito mobile modesto mons mora morena moreno moro mosca mosco murray muscat
    nada nancy naples natal nelson nice nine norman oral oran orange ojo ora orlando ordu oslo palma paradise para paras
    pare pari parla pasto pelotas perm pest peste pesto pet plano plata playas potsdam posen providence pristine pueblo
    pun puna python queens rast reading real regina reno rest rice richmond rio riverside rivera roma rome romo rom rosario
    roseau ruse saga sala sale salem salinas salta salto salvador samba san sana sano santa santos sari saint serra
    shaping siegen simmering slough sol soledad solo soul split springs sterling sucre sues sui surprise sun surrey tango
    tarsus tema tempe terminus thane timon tours trier troy tub tuba tula tunes tyler union valence van vegas vena
    vernon victoria vienne vin vine virginia vista vitoria wan warder warren washington waterloo wean white woodlands
    york zaria zion april june july mobil madre norte sur este oeste centro
    """
) - _set("oslo rome roma milan naples malaga potsdam orlando chihuahua")

# Names of large places in other languages, which alone name the place.
OTHER_NAMES = _set(
    """
    wien munchen muenchen koln koeln hannover nurnberg nuernberg zuerich basle geneve genf ginevra bern lausanne roma
    milano napoli torino firenze florenz venezia venedig venise rom mailand neapel turin lisboa lissabon lisbonne
    sevilla saragossa zaragoza bruxelles brussel bruessel brussel antwerpen anvers gent den londres londra londen
    edimbourg paryz parigi pariz praha prag prague warszawa warschau varsovie varsovia krakow krakau wroclaw breslau
    gdansk danzig moskau moscou moscu moskva kiew kiev odessa petersburg beograd belgrad bucuresti bukarest bucarest
    athen athenes atenas kobenhavn kopenhagen copenhague goteborg gothenburg helsingfors reykjavik tokio pekin peking
    pekin seul bombay calcutta madras bangalore saigon rangoon nyc kairo caire habana havanna
    """
) | {"new york", "nueva york", "nova york", "washington dc", "den haag"}
