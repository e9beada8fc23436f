"""Reads the words in the name of an image or video file, unless a camera or a program chose the name."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

_LONGEST = 100  # characters
_READ = 400  # characters of a name that are split
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_FILE = re.compile(r".*/([^/]+\.(?:png|jpe?g|gif|webp|avif|svg|mp4|webm|ogv|m4v|mov))(?=/|$)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_LANGUAGE_FOLDER = re.compile(
    r"(?<=[^/:]/)(?:ar|bg|ca|cs|da|de|el|en|eo|es|et|eu|fa|fi|fr|gl|he|hi|hr|hu|id|it|ja|ko|lt|lv|nb|nl|nn|no|pl|pt|ro|"
    r"ru|sk|sl|sr|sv|ta|th|tr|uk|vi|zh)(?:[-_][A-Za-z]{2,4})?(?=/)"
)
_TELLING = 4  # letters; a name of shorter words alone is an abbreviation
# fmt: off
_GENERIC = frozenset({
    "background", "banner", "bg", "bild", "bilder", "bildschirmfoto", "blank", "capture", "clip", "copy", "cover",
    "crop", "cropped", "default", "download", "dsc", "dscn", "email", "embed", "embedded", "facebook", "favicon",
    "feature", "featured", "file", "files", "final", "foto", "fotos", "full", "graphic", "header", "hero", "icon",
    "image", "imagem", "imagen", "images", "img", "immagine", "index", "instagram", "large", "latest", "linkedin",
    "logo", "main", "media", "medium", "movie", "original", "page", "photo", "photos", "pic", "pics", "pict",
    "picture", "pictures", "pinterest", "pixel", "placeholder", "player", "poster", "px", "resized", "rss", "scaled",
    "screenshot", "small", "spacer", "teaser", "telegram", "thumb", "thumbnail", "thumbs", "tiktok", "twitter",
    "unnamed", "untitled", "upload", "uploads", "video", "videos", "vimeo", "whatsapp", "xing", "youtube",
})
# fmt: on


def telling_words(text: str) -> list[str]:
    """The words of a name or label, without numbers and words such as "image"; 400 characters are read."""
    name = _EXTENSION.sub("", unicodedata.normalize("NFC", text[:_READ].strip()))
    return [word for word in _SEPARATORS.split(name) if word.isalpha() and word.lower() not in _GENERIC]


def file_name_words(url: str) -> str:
    """The words of the file name in a URL, separated by spaces; empty when the name tells nothing."""
    path = url.partition("?")[0]
    file = _FILE.match(path)  # some sites add folders such as `/revision/latest` after the name
    words = telling_words(unquote((file[1] if file else path.rpartition("/")[2])[:_READ]))
    if not any(len(word) >= _TELLING or not word.isascii() for word in words):
        return ""
    joined = " ".join(words)
    return joined if len(joined) <= _LONGEST else joined[:_LONGEST].rstrip()


def without_language(url: str) -> str:
    """The URL without folders named like a language: translations of a page show the same image in other folders."""
    path, mark, query = url.partition("?")
    return _LANGUAGE_FOLDER.sub("*", path) + mark + query
