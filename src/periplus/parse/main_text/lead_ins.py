"""Finds the lines that lead away from a page: "Read also: ...", "Mehr zum Thema", "Share this", "Photo by ...".

Such lines stand between the paragraphs of an article, often without a name that `main_text/parts.py` could classify.
"""

from __future__ import annotations

# The first words of a line that leads to other pages, in the languages of the web; "|" separates them.
_OPENINGS = """
    about the author|also read|also see:|be sociable|click here to|comments are closed|continue reading|don't miss
    email this|filed under|follow me on|follow us|image credit|image source|join our|last updated|leave a comment
    leave a reply|like this:|listen to this article|more articles|more by|more from|more news|more on this|more stories
    most popular|most read|next article|photo by|photo credit|photo:|photograph by|photos:|post a comment|posted by
    posted in|posted on|previous article|print this|read also|read more|read next|recommended for you
    recommended reading|related articles|related content|related news|related posts|related stories|related:
    report an error|share on|share this|share via|share:|sign up for|subscribe now|subscribe to our|support us|tags:
    this entry was posted|this post contains|view comments|watch:|written by|you may also like|you might also
    anmelden und|artikel teilen|auch interessant|autor:|autorin:|beitrag teilen|bild:|bilder:|bildquelle|das könnte dich
    das könnte euch|das könnte ihnen|das könnte sie|das thema könnte|diesen artikel|diesen beitrag|erstellt am
    externer inhalt|folge uns|folgen sie uns|foto:|fotos:|grafik:|hier lesen sie|jetzt abonnieren|jetzt anmelden
    jetzt lesen|kategorie:|kategorien:|kommentar hinterlassen|kommentar schreiben|lesen sie auch|lesen sie dazu
    lesen sie hier|lesen sie mehr|lesen sie weiter|letzte änderung|lies auch|mehr aus|mehr dazu|mehr lesen|mehr über den
    mehr über die|mehr zu diesem|mehr zu:|mehr zum thema|melden sie sich|meistgelesen|passend dazu|passend zum thema
    quelle:|schlagwort|schlagworte|schlagwörter|schreiben sie einen|stichworte|teilen sie|unterstütze|veröffentlicht am
    veröffentlicht in|veröffentlicht von|veröffentlichung:|video:|weitere artikel|weitere beiträge|weitere meldungen
    weitere nachrichten|weitere news|weitere pressemitteilungen|weitere themen|weiterlesen|zum thema
    zuletzt aktualisiert|zurück zu|zurück zum|zurück zur
    ähnliche artikel|ähnliche beiträge|ähnliche themen|über den autor|über die autorin
    abonnez-vous|articles liés|articles similaires|crédit photo|lire aussi|lire la suite|lire également|laisser un
    mis à jour|mots clés|mots-clés|partager cet|permalien|publié le|sur le même sujet|vos réactions|voir aussi
    à lire aussi|à lire également|à voir aussi
    artículos relacionados|compartir en|etiquetas|le puede interesar|lea también|lea tambien|lee también|leer también
    leer más|mira también|mire:|más noticias|más sobre|noticias relacionadas|publicado el|puede interesarte|siga leyendo
    suscríbase|suscríbete|síguenos|también puede|también te puede|te puede interesar|vea también|ver también
    compartilhe|inscreva-se|leia mais|leia também|matérias relacionadas|nos siga|notícias relacionadas|saiba mais
    veja também|veja mais
    articoli correlati|guarda anche|iscriviti|leggi anche|leggi tutto|potrebbe interessarti|potrebbero interessarti
    seguici|ti potrebbe interessare
    deel dit|gerelateerd|lees meer|lees ook|lees verder|meer over|schrijf je in
    czytaj także|czytaj też|czytaj więcej|inne artykuły|przeczytaj także|udostępnij|więcej informacji|zobacz również
    zobacz także|zobacz też|źródło:
    les mer|les også|läs mer|läs också|läs även|læs også|lue myös|katso myös
    поделиться|смотрите также|читайте также|читать далее|источник:
"""
_LABELS = """
    advertisement|anzeige|compartir|condividi|drucken|kontakt|newsletter|partager|permalink|publicidad|publicité
    pressekontakt|reklama|share|teilen|tweet|werbung
"""
_LONGEST = 120  # characters: a longer line is text, whatever its first words
_KEY = 5  # characters at the start of a line that find its openings
_MARKS = "»→▶►>([*•+-—|# "


def _phrases(table: str) -> list[str]:
    return [phrase.strip() for phrase in table.replace("\n", "|").split("|") if phrase.strip()]


_LABEL_SET = frozenset(_phrases(_LABELS))
_OPENINGS_BY_KEY: dict[str, list[str]] = {}
for _opening in _phrases(_OPENINGS):
    _OPENINGS_BY_KEY.setdefault(_opening[:_KEY], []).append(_opening)
_KEYS = {*_OPENINGS_BY_KEY, *(label[:_KEY] for label in _LABEL_SET)}
_STARTS = frozenset(write(key) for key in _KEYS for write in (str.lower, str.capitalize, str.title, str.upper))


def lead_ins(lines: list[str]) -> list[int]:
    """The numbers of the lines that lead away from the page."""
    starts, key, marks = _STARTS, _KEY, _MARKS
    found = [number for number, line in enumerate(lines) if line[:key] in starts or line[0] in marks]
    return [number for number in found if len(lines[number]) <= _LONGEST and _is_lead_in(lines[number])]


def _is_lead_in(line: str) -> bool:
    words = line.lstrip(_MARKS).lower()
    return words.rstrip(" :") in _LABEL_SET or any(
        words.startswith(opening) and not words[len(opening) : len(opening) + 1].isalnum()
        for opening in _OPENINGS_BY_KEY.get(words[:_KEY], ())
    )
