"""Names whose letters look like those of another name."""

import unicodedata

_LATIN = dict(
    zip(
        "аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅԌԚԜӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρՏսոօ",
        "aeopcyxijshdqwlABEKMHOPCTYXIJSGQWIABEZHIKMNOPTYXovpSuno",
        strict=True,
    )
)
"""Letters of other scripts, and the Latin letter that they look like: those of Unicode's list of confusable characters
(UTS 39) that look alike in common typefaces."""


def reading(name: str) -> str:
    """Return a name as it looks: Latin letters for those that look like them, and no invisible characters beside them.

    Invisible characters between signs, as in emoji, are part of these.
    """
    return "".join(
        _LATIN.get(sign) or (unicodedata.normalize("NFKC", sign) if _is_styled(sign) else sign)
        for before, sign, after in zip(f" {name}", name, f"{name[1:]} ", strict=False)
        if sign.isascii() or unicodedata.category(sign) != "Cf" or not (before.isalnum() or after.isalnum())
    )


def looks_like(name: str) -> str | None:
    """Return the Latin name that a name looks like, or has a word that looks like; ``None`` if it is what it looks.

    Names in other scripts are left alone: they have letters that look like no Latin ones.
    """
    if name.isascii():
        return None
    read = reading(name)
    words = zip(name.split(), read.split(), strict=False)
    if read != name and _is_latin(read) and not _is_one_letter(read):
        return read
    return read if any(word != shown and _is_latin(shown) and _has_latin(word) for word, shown in words) else None


def _is_styled(sign: str) -> bool:
    """Return whether a sign is a letter or digit in a style of its own: full width, or mathematical."""
    return "\uff01" <= sign <= "\uff5e" or "\U0001d400" <= sign <= "\U0001d7ff"


def _is_latin(text: str) -> bool:
    letters = [sign for sign in text if sign.isalpha()]
    return bool(letters) and all("LATIN" in unicodedata.name(sign, "") for sign in letters)


def _has_latin(text: str) -> bool:
    return any("LATIN" in unicodedata.name(sign, "") for sign in text if sign.isalpha())


def _is_one_letter(text: str) -> bool:
    return sum(sign.isalpha() for sign in text) < 2
