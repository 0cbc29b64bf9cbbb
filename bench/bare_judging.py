"""The reference for judging again: the same calls from a bare asyncio loop over the same client, and nothing else.

    python bench/bare_judging.py REQUESTS.jsonl OUT URL CONCURRENCY create|post

``REQUESTS.jsonl`` holds the body of a chat request a line. Each call is appended to ``OUT`` as a line with request,
reply, tokens and seconds, and flushed; there is no fsync. With ``create`` calls are made as the client's documentation
makes them, with ``post`` below that, and the reply stays the text it came as.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient


async def main(requests: str, out: str, url: str, how: str, concurrency: int) -> None:
    """Make every call, so many at a time."""
    with open(requests, encoding="utf-8") as lines:  # noqa: PTH123
        bodies: list[dict[str, Any]] = [json.loads(line) for line in lines]
    places = asyncio.Semaphore(concurrency)
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=DefaultAioHttpClient())
    with open(out, "w", encoding="utf-8") as rows:  # noqa: PTH123

        async def call(body: dict[str, Any]) -> None:
            async with places:
                began = time.monotonic()
                if how == "create":
                    text = (await client.chat.completions.create(**body)).to_json(indent=None)
                else:
                    response = await client.post("/chat/completions", cast_to=httpx2.Response, body=body)
                    text = response.content.decode()
                usage = json.loads(text)["usage"]
            row = {"request": body, "reply": text, "usage": usage, "seconds": time.monotonic() - began}
            rows.write(json.dumps(row) + "\n")
            rows.flush()

        await asyncio.gather(*map(call, bodies))
    await client.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[5], int(sys.argv[4])))
