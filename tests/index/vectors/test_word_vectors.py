"""Words that occur in similar company have similar vectors, and the same pages give the same vectors."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.damage import WAYS
from index.made_index import BARE, write_forward
from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import ForwardIndex, Rows
from periplus.index.vectors.word_vectors import DIMENSIONS, FOLDER, Vectors, open_vectors, write_vectors

ANIMALS = ("cat", "dog"), ("fur", "pet", "purr", "feed", "collar", "paw")
MACHINES = ("engine", "motor"), ("oil", "wheel", "fuel", "gear", "piston", "torque")


def pages() -> list[dict[str, Any]]:
    chooser = random.Random(1)
    found = []
    for number in range(120):
        names, company = (ANIMALS, MACHINES)[number % 2]
        words = [word for _ in range(20) for word in (chooser.choice(names), *chooser.sample(company, 2))]
        found.append(BARE | {"text": "the 2024 " + " ".join(words)})
    return found


def learned(folder: Path) -> Vectors:
    folder.mkdir(exist_ok=True)
    index = write_forward(folder, pages())
    write_vectors(folder, np.ones(len(index), np.float32))
    return Vectors(folder, index.lexicon)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Vectors, ForwardIndex]:
    folder = tmp_path_factory.mktemp("made")
    return learned(folder), ForwardIndex(folder)


def number(index: ForwardIndex, word: str) -> int:
    found = index.lexicon.number(word)
    assert found is not None
    return found


@pytest.mark.parametrize(("word", "twin"), [("cat", "dog"), ("dog", "cat"), ("engine", "motor"), ("motor", "engine")])
def test_the_nearest_word_is_used_in_the_same_company(made: tuple[Vectors, ForwardIndex], word: str, twin: str) -> None:
    (nearest, cosine), *others = made[0].nearest(word, 4)
    assert nearest == twin
    assert 1.01 > cosine > max(other for _, other in others)


def test_vectors_have_length_one(made: tuple[Vectors, ForwardIndex]) -> None:
    vectors, index = made
    vector = vectors.vector(number(index, "cat"))
    assert vector is not None
    assert vector.shape == (DIMENSIONS,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=0.01)


def test_words_with_the_same_stem_share_a_vector(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [*pages(), BARE | {"text": "cats motors"}])
    write_vectors(tmp_path, np.ones(len(index), np.float32))
    vectors = Vectors(tmp_path, index.lexicon)
    one, other = (vectors.vector(number(index, word)) for word in ("cat", "cats"))
    assert one is not None
    assert other is not None
    assert one.tolist() == other.tolist()


def test_stop_words_and_numbers_have_no_vector(made: tuple[Vectors, ForwardIndex]) -> None:
    vectors, index = made
    assert [vectors.vector(number(index, word)) for word in ("the", "2024")] == [None, None]
    assert vectors.nearest("the", 3) == vectors.nearest("absent", 3) == []


def test_the_mean_is_weighted(made: tuple[Vectors, ForwardIndex]) -> None:
    vectors, index = made
    words = np.array([number(index, word) for word in ("cat", "the", "motor")], np.uint32)
    cat, motor = vectors.vector(int(words[0])), vectors.vector(int(words[2]))
    assert cat is not None
    assert motor is not None
    found = vectors.mean(words, np.array([3.0, 9.0, 1.0], np.float32))
    assert found == pytest.approx((3 * cat + motor) / 4, abs=1e-5)
    assert not vectors.mean(words[1:2], np.ones(1, np.float32)).any()


def test_the_means_of_many_texts_equal_the_means_of_each(made: tuple[Vectors, ForwardIndex]) -> None:
    vectors, index = made
    some, starts = index.read(np.arange(10), "body")
    words, starts = np.append(some, some[:0]), np.append(starts, starts[-1])  # the last text is empty
    weights = np.linspace(1, 2, len(words), dtype=np.float32)
    found = vectors.means(Rows(words, starts), weights)
    for place, mean in enumerate(found):
        part = slice(starts[place], starts[place + 1])
        assert mean == pytest.approx(vectors.mean(words[part], weights[part]), abs=1e-5)
    assert not found[-1].any()


def test_the_same_pages_give_the_same_files(tmp_path: Path) -> None:
    learned(tmp_path / "one")
    learned(tmp_path / "other")
    names = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(names) > 10
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


@pytest.mark.parametrize("texts", [[], ["word"], ["word"] * 9], ids=["no page", "one page", "one word"])
def test_a_collection_with_too_little_text_has_no_vectors(tmp_path: Path, texts: list[str]) -> None:
    index = write_forward(tmp_path, [BARE | {"text": text} for text in texts])
    write_vectors(tmp_path, np.ones(len(texts), np.float32))
    vectors = open_vectors(tmp_path, index.lexicon)
    assert vectors is not None
    assert len(vectors) == 0
    assert not vectors.mean(np.array([0], np.uint32), np.ones(1, np.float32)).any()


def test_a_generation_without_vectors_opens(tmp_path: Path) -> None:
    assert open_vectors(tmp_path, write_forward(tmp_path, []).lexicon) is None


@pytest.mark.parametrize("way", ["deleted", "emptied", "zeroed", "cut in half"])
@pytest.mark.parametrize("name", ["terms", "words", "vectors"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, way: str) -> None:
    learned(tmp_path)
    WAYS[way](tmp_path / FOLDER / f"{name}.npy")
    with pytest.raises(DamagedFile, match=name):
        Vectors(tmp_path, ForwardIndex(tmp_path).lexicon)


def test_vectors_of_another_lexicon_are_damage(tmp_path: Path) -> None:
    learned(tmp_path)
    path = tmp_path / FOLDER / "words.npy"
    content = np.load(path)
    content[0] = 1 << 30
    np.save(path, content)
    with pytest.raises(DamagedFile, match="not in the lexicon"):
        Vectors(tmp_path, ForwardIndex(tmp_path).lexicon)
