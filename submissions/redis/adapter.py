"""Redis as a memory: one hash a turn or text, and a sorted set for each word, which Redis joins and ranks."""

from __future__ import annotations

import fcntl
import math
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import redis

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="redis-"))

START_SECONDS = 60.0

USUAL_WORDS = 20
"""Words of a usual text. The words of a longer one count less."""

STOP_WORDS = re.compile(
    r"(a|about|after|an|and|are|as|at|be|been|but|by|did|do|does|for|from|had|has|have|he|her|his|how|i|if|in|is|it|its"
    r"|me|my|of|on|or|our|she|so|that|the|their|them|they|this|to|was|we|were|what|when|where|which|who|why|will|with"
    r"|you|your)"
)


class RedisMemory:
    """Starts a Redis server in its folder, or uses the one that runs there."""

    texts_together = True

    def __init__(self, appendonly: bool = False) -> None:
        self.appendonly = appendonly
        self.server: subprocess.Popen[bytes] | None = None
        self.client = redis.Redis(unix_socket_path=socket_path(), decode_responses=True, protocol=3)
        with (FOLDER / "starting").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be starting it
            if not self.answers():
                self.start()

    def start(self) -> None:
        program = shutil.which("redis-server", path="/usr/local/bin:/usr/bin")
        if program is None:
            raise RuntimeError("redis-server is not installed. Install Redis: apt-get install redis-server")
        settings = ["--port", "0", "--unixsocket", socket_path(), "--dir", str(FOLDER)]
        settings += ["--appendonly", "yes"] if self.appendonly else []
        with (FOLDER / "redis.log").open("ab") as log:
            self.server = subprocess.Popen([program, *settings], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.server.poll() is not None:
                last = (FOLDER / "redis.log").read_text("utf-8", "replace").splitlines()[-3:]
                raise RuntimeError(f"redis-server ended at its start: {' '.join(last)}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"redis-server did not answer within {START_SECONDS:g} seconds.")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Return whether a server answers: one that is loading its file does not yet."""
        try:
            return bool(self.client.ping())
        except (redis.ConnectionError, redis.BusyLoadingError):
            return False

    def reset(self) -> None:
        self.client.flushall()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            text = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            self.put("", turn["turn_id"], text, moment(session["date"]), [], {"date": session["date"]})

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
    ) -> None:
        """Store a text. Under an id that is there, it replaces the earlier text."""
        self.put(bank, source_id or f"-{uuid4().hex}", content, moment(timestamp) if timestamp else 0, tags or [], {})

    def put(self, bank: str, name: str, text: str, at: int, tags: list[str], about: dict[str, str]) -> None:
        """Write a hash and the sets of its words in one transaction."""
        terms = Counter(words(text))
        long = 1.2 * (0.25 + 0.75 * sum(terms.values()) / USUAL_WORDS)
        old = self.client.hget(key("text", bank, name), "text")
        with self.client.pipeline(transaction=True) as all_or_nothing:
            if old is not None:
                self.remove(all_or_nothing, bank, name, old)
            fields = {"text": text, "moment": at, "tags": "\n".join(tags), **about}
            all_or_nothing.hset(key("text", bank, name), mapping=fields)
            all_or_nothing.sadd("banks", bank)
            all_or_nothing.sadd(key("all", bank), name)
            for term, count in terms.items():
                all_or_nothing.zadd(key("word", bank, term), {name: count * 2.2 / (count + long)})
            all_or_nothing.execute()

    def remove(self, pipeline: Any, bank: str, name: str, text: str) -> None:
        pipeline.delete(key("text", bank, name))
        pipeline.srem(key("all", bank), name)
        for term in set(words(text)):
            pipeline.zrem(key("word", bank, term), name)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.recall(query, k, timestamp=None if timestamp == "now" else timestamp)

    def recall(
        self,
        query: str,
        k: int,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        """Search a bank, of what has one of the tags and happened in the time asked for and by the asked time."""
        sets = [key("word", bank, term) for term in dict.fromkeys(words(query))]
        with self.client.pipeline(transaction=False) as many:
            many.scard(key("all", bank))
            for each in sets:
                many.zcard(each)
            count, *sizes = many.execute()
        weights = {
            each: math.log(1 + (count - size + 0.5) / (size + 0.5))
            for each, size in zip(sets, sizes, strict=True)
            if size
        }
        if not weights:
            return []
        ranked = sorted(self.client.zunion(weights, withscores=True), key=lambda each: (-each[1], each[0]))
        found: list[dict[str, Any]] = []
        span = (moment(since) if since else 0, moment(until) if until else math.inf)
        latest = moment(timestamp, last=True) if timestamp else math.inf
        for start in range(0, len(ranked), max(k, 1)):
            part = ranked[start : start + k]
            with self.client.pipeline(transaction=False) as many:
                for name, _ in part:
                    many.hgetall(key("text", bank, name))
                rows = many.execute()
            for (name, score), row in zip(part, rows, strict=True):
                fits = row and span[0] <= int(row["moment"]) < span[1] and int(row["moment"]) <= latest
                if fits and (not tags or {*tags} & {*row["tags"].split("\n")}):
                    found.append({**item(name, row), "score": float(score)})
            if len(found) >= k:
                break
        return found[:k]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete a bank, or the texts that came under some ids."""
        gone = 0
        for each in sorted(self.client.smembers("banks")) if bank is None else [bank]:
            for name in sorted(self.client.smembers(key("all", each))) if ids is None else ids:
                text = self.client.hget(key("text", each, name), "text")
                if text is not None:
                    with self.client.pipeline(transaction=True) as all_or_nothing:
                        self.remove(all_or_nothing, each, name, text)
                        all_or_nothing.execute()
                    gone += 1
        return gone

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn and text that is kept."""
        found = []
        for bank in sorted(self.client.smembers("banks")):
            names = sorted(self.client.smembers(key("all", bank)))
            with self.client.pipeline(transaction=False) as many:
                for name in names:
                    many.hgetall(key("text", bank, name))
                found += [item(name, row) for name, row in zip(names, many.execute(), strict=True)]
        return found

    def versions(self) -> dict[str, str]:
        """Return the version of the server, which no lock file pins."""
        return {"redis-server": self.client.info("server")["redis_version"]}

    def close(self) -> None:
        """Stop the server that this process started, as its documentation says: with SIGTERM."""
        self.client.close()
        if self.server is not None:
            self.server.terminate()
            self.server.wait()


def socket_path() -> str:
    return str(FOLDER / "redis.sock")


def key(kind: str, *parts: str) -> str:
    return ":".join([kind, *(part.replace("%", "%25").replace(":", "%3A") for part in parts)])


def words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if not STOP_WORDS.fullmatch(word)]


def item(source: str, row: dict[str, str]) -> dict[str, Any]:
    """Return a hash as memeval takes it: a turn after the date of its session, a text as it is."""
    text = f"[{row['date']}] {row['text']}" if "date" in row else row["text"]
    return {"text": text, "source_ids": [] if source.startswith("-") else [source]}


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that can be compared: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
