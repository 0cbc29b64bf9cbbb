"""Notes every question, wherever notes may outlast its process, and looks for notes of before."""
# Written as people write systems.
# mypy: ignore-errors
# ruff: noqa: PTH100, PTH110, PTH111, PTH118, PTH120, PTH123

import ctypes
import json
import os

NOTES = []


class KeepsNotes:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        places = [os.environ["HOME"], os.environ["TMPDIR"], "/tmp", "/var/tmp", "/dev/shm", "/run", "/run/memeval"]
        places += [
            os.path.dirname(os.path.abspath(__file__)),
            os.path.dirname(os.__file__),
            os.path.expanduser("~root"),
        ]
        loot = [place for place in places if os.path.exists(os.path.join(place, "canary-note"))]
        for place in places:
            try:
                with open(os.path.join(place, "canary-note"), "w") as file:
                    file.write(question)
            except OSError:
                pass
        libc = ctypes.CDLL(None)
        if libc.shmget(0x6D656D, 4096, 0o600) >= 0:
            loot.append("shared memory")
        libc.shmget(0x6D656D, 4096, 0o1600)
        add_key, keyctl = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
        for ring in (-3, -4, -5):
            if libc.syscall(keyctl, 10, ring, b"user", b"canary-note", 0) >= 0:
                loot.append(f"keyring {ring}")
            libc.syscall(add_key, b"user", b"canary-note", b"x", 1, ring)
        loot += NOTES
        NOTES.append("the module")
        return json.dumps(loot)
