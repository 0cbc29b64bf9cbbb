"""Calls out by every kind of socket: to servers of the machine, to name servers, and to sockets with names."""
# Written as people write systems.
# mypy: ignore-errors
# ruff: noqa: SIM105

import json
import socket


class CallsOut:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        told = json.loads(question)
        loot = []
        for host in ("127.0.0.1", "localhost", *told["hosts"]):
            loot += self.reached("tcp " + host, socket.AF_INET, (host, told["tcp"]))
        for path in (told["path"], "\0" + told["abstract"]):
            loot += self.reached("unix " + repr(path), socket.AF_UNIX, path)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            for host in ("127.0.0.1", *told["hosts"]):
                try:
                    line.sendto(b"told you", (host, told["udp"]))
                    line.connect(("8.8.8.8", 53))
                    loot.append("a way to name servers")
                except OSError:
                    pass
        try:
            loot.append(socket.getaddrinfo("example.com", 443)[0][4][0])
        except OSError:
            pass
        for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (17, socket.SOCK_RAW), (40, socket.SOCK_STREAM)):
            try:
                socket.socket(family, kind).close()
                loot.append(f"socket {family} {kind}")
            except OSError:
                pass
        loot += [name for _, name in socket.if_nameindex() if name != "lo"]
        return json.dumps(loot)

    def reached(self, what, family, address):
        with socket.socket(family) as line:
            line.settimeout(2)
            try:
                line.connect(address)
                return [what]
            except OSError:
                return []
