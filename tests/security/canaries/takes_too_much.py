"""Takes what there is: memory, processes, space."""
# Written as people write systems.
# mypy: ignore-errors
# ruff: noqa: PTH123

import json
import os
import subprocess
import sys
import time


class TakesTooMuch:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        return json.dumps(getattr(self, question)())

    def space(self):
        written = 0
        for number, folder in enumerate(("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/", os.environ["HOME"])):
            try:
                with open(f"{folder}/much{number}", "wb", buffering=0) as file:
                    while True:
                        written += file.write(bytes(1 << 16))
            except OSError:
                pass
        return written >> 20

    def memory(self):
        for _ in range(8):
            subprocess.Popen([sys.executable, "-S", "-c", "import time; kept = b'x' * (50 << 20); time.sleep(60)"])
        time.sleep(60)

    def processes(self):
        while True:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
