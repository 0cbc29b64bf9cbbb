"""What is pinned, and what a track says of it."""

import json
from pathlib import Path

import pytest

from memeval.local.catalogue import Kind, address_of, find_model, installed_engine, known_models
from memeval.records.errors import BadInput
from tests.support.tiny_model import NAME, gguf, pin, stand_in


def test_every_shipped_model_states_licence_digest_and_a_way_to_get_it() -> None:
    for model in known_models():
        assert model.ways
        assert model.licence and model.licence_stated.startswith("https://")
        assert model.template is not None or model.kind == "embeddings"
        packages = model.packages
        if packages is not None:
            first, last = packages.path(1), packages.path(packages.parts)
            assert "{" not in first + last + packages.package(1)
            assert packages.parts == 1 or first != last


def test_a_models_address_changes_with_all_that_decides_its_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def address(engine: str = "engine 1", weights: bytes = gguf(), **fields: int) -> str:
        pin(monkeypatch, tmp_path, weights, here=False, **fields)
        return address_of(NAME, find_model(NAME).setup(engine))

    usual = address()
    assert usual.startswith(f"local:{NAME}/")
    assert address() == usual
    others = {
        address(engine="engine 2"),
        address(weights=gguf(end=b"others")),
        address(context=8192),
        address(batch=64),
        address(threads=1),
        address(longest_answer=16),
    }
    assert len(others) == 6 and usual not in others
    assert address(reader_tokens=50) == usual, "the reader's limit is a limit of the track"


def test_the_setup_names_the_weights_and_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, gguf(), here=False)
    stand_in(monkeypatch)
    model = find_model(f"local:{NAME}")
    setup = json.loads(model.setup(installed_engine()))
    assert (setup["weights"], setup["template"], setup["engine"]) == (model.digest, model.template, "xllamacpp 1.0")


def test_an_unknown_name_gets_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, gguf(), here=False)
    with pytest.raises(BadInput, match="Did you mean 'tiny'"):
        find_model("tinny")
    with pytest.raises(BadInput, match="no local model 'gpt-4o'"):
        find_model("local:gpt-4o")


def test_an_engine_that_is_not_installed_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memeval.local.catalogue.ENGINES", dict.fromkeys(Kind, ("no-such-engine",)))
    with pytest.raises(BadInput, match=r"no-such-engine.*pip install"):
        installed_engine()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[model]]\nname = 'x'\n", "is missing"),
        ("[[model]", "models.toml"),
        ("[[model]]\nname = '../x'\n", "name"),
        ("models = 3\n", "models"),
    ],
)
def test_a_file_of_models_in_another_form_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str, problem: str
) -> None:
    pin(monkeypatch, tmp_path, gguf(), here=False)
    (tmp_path / "models.toml").write_text(content)
    with pytest.raises(BadInput, match=problem):
        known_models()
