"""A real PostgreSQL server, run by `cargo xtask postgres`; tests can start, freeze and kill it, and speak to it as its
administrator."""

import os
import signal
import socket
import ssl
import struct
import threading
from pathlib import Path

import trustme

from . import paths
from .process import Process, children, free_port, freeze, gone
from .wait import until

SSL_REQUEST = struct.pack("!II", 8, 80877103)


class Session:
    """A connection as a role that needs no password. It speaks just enough of the protocol to run statements."""

    def __init__(self, port: int, role: str = "postgres", database: str = "postgres"):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        words = b"user\0%s\0database\0%s\0\0" % (role.encode(), database.encode())
        self._socket.sendall(struct.pack("!II", len(words) + 8, 196608) + words)
        self._until_ready()

    def run(self, statement: str) -> list[list[str]]:
        """Runs one statement; returns its rows."""
        text = statement.encode() + b"\0"
        self._socket.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
        return self._until_ready()

    def close(self):
        self._socket.close()

    def _until_ready(self) -> list[list[str]]:
        rows, error = [], None
        while True:
            kind, length = struct.unpack("!cI", self._read(5))
            body = self._read(length - 4)
            if kind == b"D":
                rows.append(_fields(body))
            elif kind == b"E":
                error = body.replace(b"\0", b" ").decode()
                assert b"SFATAL" not in body, error
            elif kind == b"Z":
                assert error is None, error
                return rows

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            assert part, "the server has closed the connection"
            data += part
        return data


def _fields(body: bytes) -> list[str]:
    fields, place = [], 2
    for _ in range(*struct.unpack("!H", body[:2])):
        (length,) = struct.unpack("!i", body[place:place + 4])
        fields.append(body[place + 4:place + 4 + max(length, 0)].decode())
        place += 4 + max(length, 0)
    return fields


class Postgres:
    """A server with a data folder. It can be started again on the same port with the same data."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        self.runner: Process | None = None

    @property
    def config(self) -> dict:
        """memgate's configuration of this store."""
        return {"store": "postgres", "postgres": {"port": self.port}}

    def start(self) -> "Postgres":
        """Starts the server and returns when it answers."""
        command = [paths.xtask(), "postgres", "--port", self.port, "--data", self.folder]
        self.runner = Process("postgres", command)
        self.runner.wait_line("ready postgres", 120)
        return self

    def pid(self) -> int:
        """The process id of the server itself."""
        server, = children(self.runner.pid)
        return server

    def processes(self) -> list[int]:
        """The server with its own processes, one for each connection among them."""
        return [self.pid(), *children(self.pid())]

    def kill(self):
        """Kills the server, as a crash would; `cargo xtask postgres` ends with it."""
        pids = self.processes()
        os.kill(self.pid(), signal.SIGKILL)
        self.runner.wait_end()
        until(lambda: all(gone(pid) for pid in pids), "its other processes have noticed")

    def freeze(self):
        """Freezes the server and all its processes: connections stay open, and nothing answers."""
        # The server first, which starts the others. One that ends meanwhile is not reaped.
        freeze(self.pid(), "postgres")
        for pid in self.processes()[1:]:
            if not gone(pid):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self):
        for server in children(self.runner.pid):
            for pid in [server, *children(server)]:
                if not gone(pid):
                    os.kill(pid, signal.SIGCONT)

    def stop(self) -> int | None:
        """Stops the server, also a frozen one. Returns the exit status of `cargo xtask postgres`; None when it had to be
        killed."""
        if self.runner and not gone(self.runner.pid):
            # Frozen processes would stay behind.
            self.thaw()
        return self.runner.stop() if self.runner else None

    # -- as its administrator -----------------------------------------------------------------------------------

    def sql(self, statement: str, database: str = "postgres") -> list[list[str]]:
        session = Session(self.port, database=database)
        try:
            return session.run(statement)
        finally:
            session.close()

    def set(self, name: str, value: str):
        """Changes a setting for all sessions, also those that are open, unless it needs a restart."""
        with (self.folder / "data/postgresql.conf").open("a") as settings:
            settings.write(f"{name} = {value}\n")
        os.kill(self.pid(), signal.SIGHUP)


class TlsProxy:
    """PostgreSQL behind TLS, which demands a client certificate: the server of the tests is built without TLS."""

    def __init__(self, folder: Path, port: int, name: str = "db.example"):
        authority = trustme.CA()
        self.ca, self.certificate, self.key = (folder / file for file in ("ca.pem", "me.pem", "me.key"))
        authority.cert_pem.write_to_path(self.ca)
        own = authority.issue_cert("memgate")
        own.cert_chain_pems[0].write_to_path(self.certificate)
        own.private_key_pem.write_to_path(self.key)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(self._context)
        authority.configure_trust(self._context)
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.refused = 0
        self.served = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket):
        try:
            assert client.recv(8) == SSL_REQUEST, "the client asks for TLS first"
            client.sendall(b"S")
            client = self._context.wrap_socket(client, server_side=True)
        except (OSError, AssertionError):
            self.refused += 1
            client.close()
            return
        self.served += 1
        server = socket.create_connection(("127.0.0.1", self._server))
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source, sink):
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
