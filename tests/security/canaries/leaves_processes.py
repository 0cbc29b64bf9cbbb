"""Leaves processes behind that have a session and a parent of their own, and ignore polite signals."""
# Written as people write systems.
# mypy: ignore-errors

import json
import os
import signal
import time


class LeavesProcesses:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        for _ in range(3):
            self.leave(question)
        if question.startswith("hang"):
            time.sleep(60)
        return json.dumps([])

    def leave(self, mark):
        if os.fork():
            os.wait()
            return
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.execv("/bin/sh", ["sh", "-c", "while :; do sleep 1; done", mark])
