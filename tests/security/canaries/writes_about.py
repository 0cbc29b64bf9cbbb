"""Writes to whatever it can: results, its own folder and environment, memeval, programs of the machine."""
# Written as people write systems.
# mypy: ignore-errors
# ruff: noqa: PTH101, PTH105, PTH108, PTH118, PTH123

import contextlib
import json
import os


class WritesAbout:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        loot = []
        for path in json.loads(question):
            if not os.path.lexists(path):
                continue
            for step in (self.append, self.replace, self.remove, self.open_up, self.fill):
                with contextlib.suppress(OSError):
                    step(path)
                    loot.append(f"{step.__name__} {path}")
        return json.dumps(loot)

    def append(self, path):
        with open(path, "ab") as file:
            file.write(b"!")

    def replace(self, path):
        with open(path + ".new", "wb") as file:
            file.write(b"!")
        os.replace(path + ".new", path)

    def remove(self, path):
        os.unlink(path)

    def open_up(self, path):
        os.chmod(path, 0o777)

    def fill(self, path):
        with open(os.path.join(path, "new"), "wb") as file:
            file.write(b"!")
