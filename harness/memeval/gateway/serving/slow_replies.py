"""Replies that take minutes, as from a model on a slow machine: blanks are sent first, so that no client gives up."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from aiohttp import web

from memeval.records.call import Call

BLANK_SECONDS = 30.0
"""Seconds of waiting after which a blank is sent. Official clients give up after minutes without a byte."""

JSON = "application/json"

BLANKS = {JSON: b" ", "text/event-stream": b": waiting\n\n"}
"""What a client skips before the body, by content type. Other types wait in silence."""


class SlowReply:
    """A reply that begins with blanks if its body takes long. After the first blank, its status is 200.

    ``patient``: whether blanks are sent at all.
    """

    def __init__(self, request: web.BaseRequest, content_type: str, *, patient: bool) -> None:
        self._request, self._type = request, content_type
        self._blank = BLANKS.get(content_type) if patient else None
        self._begun: web.StreamResponse | None = None

    async def awaited(self, made: Coroutine[Any, Any, Call]) -> Call:
        """Return the call when it is made, and send blanks until then."""
        task = asyncio.ensure_future(made)
        try:
            while not (await asyncio.wait({task}, timeout=BLANK_SECONDS))[0]:
                with suppress(OSError):  # the client is gone; the reply is recorded all the same
                    await self._send_blank()
            return task.result()
        finally:
            task.cancel()

    async def finished(self, body: bytes) -> web.StreamResponse:
        if self._begun is None:
            return web.Response(body=body, content_type=self._type, charset="utf-8")
        with suppress(OSError):
            await self._begun.write(body)
            await self._begun.write_eof()
        return self._begun

    def broken_off(self) -> web.StreamResponse | None:
        """Cut the connection of a reply that has begun, since its status cannot change; ``None`` if it has not."""
        if self._begun is not None and self._request.transport is not None:
            self._request.transport.abort()
        return self._begun

    async def _send_blank(self) -> None:
        if self._blank is None:
            return
        if self._begun is None:
            begun = web.StreamResponse(headers={"Content-Type": f"{self._type}; charset=utf-8"})
            await begun.prepare(self._request)
            self._begun = begun
        await self._begun.write(self._blank)
