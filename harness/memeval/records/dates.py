"""Days and times as records hold them: text that is a real date."""

from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from pydantic_core import PydanticCustomError


def _a_date(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError("no_date", "{text} is not a date", {"text": ascii(text)}) from None
    return text


Day = Annotated[str, StringConstraints(pattern=r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_a_date)]
"""A day in UTC, such as ``2026-11-23``."""


def _a_time(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment.astimezone(UTC)
            return text
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("no_time", "{text} is not a time with an offset from UTC", {"text": ascii(text)})


Moment = Annotated[str, AfterValidator(_a_time)]
"""A time with its offset from UTC, ISO 8601, such as ``2026-11-23T10:00:00+00:00``."""
