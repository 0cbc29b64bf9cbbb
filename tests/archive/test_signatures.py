"""Signatures are checked by the real ssh-keygen, with the signers file of whoever verifies."""

from pathlib import Path

import pytest

from memeval.archive.signatures import LEDGER_NAMESPACE, RELEASE_NAMESPACE, SignatureState, Signers, sign, signers_of
from memeval.records.errors import BadInput
from tests.support.signing import make_key, needs_ssh_keygen, signer

pytestmark = needs_ssh_keygen

DATA = b'{"event":"accepted"}'
NOW = "2026-11-22T12:00:00+00:00"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("keys")
    return {name: make_key(folder, name) for name in ("ada", "eve")}


@pytest.fixture(scope="module")
def signature(keys: dict[str, Path]) -> str:
    return sign(DATA, keys["ada"], LEDGER_NAMESPACE)


def checked(tmp_path: Path, lines: str, signature: str | None, data: bytes = DATA, at: str = NOW) -> tuple[str, str]:
    path = tmp_path / "allowed_signers"
    path.write_text(lines)
    result = Signers(path).check(data, signature, LEDGER_NAMESPACE, at)
    return result.state, str(result)


def test_a_good_signature_names_its_signer(tmp_path: Path, keys: dict[str, Path], signature: str) -> None:
    lines = "# maintainers\n\n" + signer("eve", keys["eve"]) + signer("ada@example.org", keys["ada"])
    assert checked(tmp_path, lines, signature) == ("good", "signed by ada@example.org")


def test_a_missing_signature_is_no_good_one(tmp_path: Path, keys: dict[str, Path]) -> None:
    assert checked(tmp_path, signer("ada", keys["ada"]), None) == ("not signed", "not signed")


@pytest.mark.parametrize("listed", ["", "# no key\n", "eve"])
def test_a_key_that_the_signers_file_lacks_is_unknown(
    tmp_path: Path, keys: dict[str, Path], signature: str, listed: str
) -> None:
    lines = signer("eve", keys["eve"]) if listed == "eve" else listed
    assert checked(tmp_path, lines, signature) == ("signed by an unknown key", "signed by an unknown key")


def test_a_key_for_another_purpose_is_unknown(tmp_path: Path, keys: dict[str, Path], signature: str) -> None:
    lines = signer("ada", keys["ada"], 'namespaces="memeval-release"')
    state, shown = checked(tmp_path, lines, signature)
    assert (state, shown) == ("signed by an unknown key", f"{state} (its key is listed for another purpose)")


@pytest.mark.parametrize(
    ("at", "state"),
    [
        ("2026-06-30T23:59:59+00:00", "good"),
        ("2026-07-01T01:30:00+02:00", "good"),
        ("2026-07-01T00:00:01+00:00", "key expired"),
        (NOW, "key expired"),
    ],
)
def test_a_key_counts_up_to_its_last_day_in_utc(
    tmp_path: Path, keys: dict[str, Path], signature: str, monkeypatch: pytest.MonkeyPatch, at: str, state: str
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    lines = signer("ada", keys["ada"], 'valid-before="20260701"')
    assert checked(tmp_path, lines, signature, at=at)[0] == state


def test_a_signature_of_other_bytes_is_bad(tmp_path: Path, keys: dict[str, Path], signature: str) -> None:
    lines = signer("ada", keys["ada"])
    for data in (DATA + b" ", b""):
        assert checked(tmp_path, lines, signature, data)[0] == "bad signature"
    assert checked(tmp_path, lines, signature, at="yesterday")[0] == "bad signature"


@pytest.mark.parametrize("damage", [lambda text: text[:-8], lambda text: "AAAA", lambda text: text[:200] + text[204:]])
def test_a_damaged_signature_is_bad(tmp_path: Path, keys: dict[str, Path], signature: str, damage: object) -> None:
    assert callable(damage)
    for lines in (signer("ada", keys["ada"]), ""):
        assert checked(tmp_path, lines, damage(signature))[0] == "bad signature"


def test_a_signature_for_another_purpose_is_bad(tmp_path: Path, keys: dict[str, Path]) -> None:
    other = sign(DATA, keys["ada"], RELEASE_NAMESPACE)
    assert checked(tmp_path, signer("ada", keys["ada"]), other)[0] == "bad signature"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("just words\n", "missing key|invalid key"),
        ("eve ssh-ed25519 AAAAnonsense\n", "invalid key"),
        ('ada valid-befor="20260101" KEY', "bad options"),
        ('ada valid-before="2025-99" KEY', "bad options"),
    ],
)
def test_a_syntax_error_of_the_signers_file_is_named_with_its_line(
    tmp_path: Path, keys: dict[str, Path], line: str, said: str
) -> None:
    path = tmp_path / "allowed_signers"
    bad = line.replace("KEY", signer("", keys["eve"]).strip() + "\n")
    path.write_text("# maintainers\n\n" + signer("ada", keys["ada"]) + bad + signer("eve", keys["eve"]))
    with pytest.raises(BadInput, match=rf"allowed_signers:4: syntax error \(({said}).*\)\. Write a line as: NAME"):
        Signers(path).refuse_syntax_errors()


def test_a_missing_signers_file_is_refused_with_a_sentence(tmp_path: Path, signature: str) -> None:
    with pytest.raises(BadInput, match=r"nowhere: the signers file cannot be read .* Name another with --signers\."):
        Signers(tmp_path / "nowhere").check(DATA, signature, LEDGER_NAMESPACE, NOW)


def test_the_projects_own_signers_file_has_no_syntax_error() -> None:
    signers_of(None).refuse_syntax_errors()


def test_without_ssh_keygen_nothing_is_good_and_nothing_is_signed(
    tmp_path: Path, keys: dict[str, Path], signature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    state, shown = checked(tmp_path, signer("ada", keys["ada"]), signature)
    assert (state, shown) == (SignatureState.NOT_CHECKED, "signature not checked (ssh-keygen is not installed)")
    with pytest.raises(BadInput, match=r"cannot sign: ssh-keygen is not installed\. Install OpenSSH's client"):
        sign(DATA, keys["ada"], LEDGER_NAMESPACE)


def test_a_key_that_cannot_sign_is_refused_with_a_sentence(tmp_path: Path, keys: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match="nowhere: there is no signing key here"):
        sign(DATA, tmp_path / "nowhere", LEDGER_NAMESPACE)
    (tmp_path / "junk").write_text("no key")
    with pytest.raises(BadInput, match=r"junk: the key cannot sign \("):
        sign(DATA, tmp_path / "junk", LEDGER_NAMESPACE)
