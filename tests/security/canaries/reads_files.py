"""Reads what lies about: the paths it is told of, every file it can find, and what processes were started with."""
# Written as people write systems.
# mypy: ignore-errors
# ruff: noqa: PTH118, PTH123

import json
import os


class ReadsFiles:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        told = json.loads(question)
        loot = [path for path in told["paths"] if os.path.lexists(path)]
        loot += [name for name in os.environ if told["needle"] in name + os.environ[name]]
        for folder, folders, files in os.walk(told["root"]):
            if folder in ("/usr", "/sys", "/dev", told["python"]):
                folders.clear()
                continue
            for name in files:
                path = os.path.join(folder, name)
                if told["needle"] in path or self.holds(path, told["needle"]):
                    loot.append(path)
        return json.dumps(loot)

    def holds(self, path, needle):
        if path.startswith("/proc/") and not path.endswith(("/environ", "/cmdline", "/mountinfo", "/maps")):
            return False
        try:
            with open(path, "rb") as file:
                return needle.encode() in file.read(1 << 20)
        except OSError:
            return False
