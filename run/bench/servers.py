# SPDX-License-Identifier: MIT
"""PostgreSQL and squid under load on the loopback: two of each, one plain and one under `cosy run`, in turn.

Each server runs as a user of its own and is ended by its process number; what makes the load
runs outside `cosy run`.  CPU time is the server's, with its children's, for each transaction
or request.
"""

from __future__ import annotations

import glob
import hashlib
import http.client
import http.server
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installed import Installed
from lines import Lines

TICKS = os.sysconf("SC_CLK_TCK")
OBJECTS = 400  # that squid's cache has


def _fields(pid: int) -> list[str]:
    """/proc/PID/stat behind the name."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def _cpu(pid: int) -> float:
    """Seconds that a process and its children have used, those that ended and those that live."""
    fields = _fields(pid)
    total = sum(map(int, fields[11:15]))
    for entry in glob.glob("/proc/[0-9]*"):
        child = int(entry.removeprefix("/proc/"))
        try:
            fields = _fields(child)
            if int(fields[1]) == pid:
                total += sum(map(int, fields[11:15]))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total / TICKS


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError(f"{server.args} ended with {server.returncode}")
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise RuntimeError(f"{server.args} does not listen")


@contextmanager
def _server(command: list[str], user: str, directory: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    with open(directory / "log", "wb") as log:
        process = subprocess.Popen(
            command,
            cwd=directory,
            user=user,
            group=pwd.getpwnam(user).pw_gid,
            extra_groups=[],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )
    try:
        _wait_for(port, process)
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _directory(parent: Path, name: str, user: str) -> Path:
    made = parent / name
    made.mkdir(mode=0o700)
    shutil.chown(made, user, pwd.getpwnam(user).pw_gid)
    return made


class Postgres:
    """Read-mostly pgbench: nine look-ups to one update, more data than PostgreSQL's own buffers hold."""

    user = "postgres"
    unit = "transaction"

    def __init__(self, parent: Path, name: str, prefix: list[str]) -> None:
        self.bin = Path(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]).parent
        self.directory = _directory(parent, f"postgres-{name}", self.user)
        self.port = _free_port()
        self.command = [*prefix, str(self.bin / "postgres"), "-D", "data"]
        self.seed = 0
        subprocess.run(
            [self.bin / "initdb", "-D", "data", "-A", "trust", "--no-sync"],
            cwd=self.directory,
            user=self.user,
            group=pwd.getpwnam(self.user).pw_gid,
            extra_groups=[],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        settings = {
            "port": self.port,
            "listen_addresses": "'127.0.0.1'",
            "unix_socket_directories": "''",
            "shared_buffers": "'4MB'",
            "synchronous_commit": "off",
            "autovacuum": "off",
            "checkpoint_timeout": "'1h'",
        }
        with open(self.directory / "data" / "postgresql.conf", "a") as out:
            out.writelines(f"{key} = {value}\n" for key, value in settings.items())

    def _client(self, *words: str | Path) -> str:
        command = [*words, "-h", "127.0.0.1", "-p", str(self.port), "-U", self.user]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def prepare(self) -> None:
        self._client(self.bin / "pgbench", "-i", "-q", "-s", "5", "postgres")

    def load(self, amount: int) -> tuple[int, str]:
        """Transactions made, and what is in the database then."""
        self.seed += 1
        # A thread for each client: those of one thread draw from one sequence, in any order.
        mix = ["-b", "select-only@9", "-b", "simple-update@1", "--random-seed", str(self.seed)]
        said = self._client(self.bin / "pgbench", "-n", "-c", "2", "-j", "2", "-t", str(amount), *mix, "postgres")
        done = re.search(r"actually processed: (\d+)", said)
        query = "select sum(abalance), count(*) from pgbench_accounts"
        state = self._client(self.bin / "psql", "-At", "-c", query, "postgres")
        return int(done[1]) if done else 0, state

    amount = 5000
    warm_up = 500

    @staticmethod
    def version() -> str:
        server = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]
        return subprocess.run([server, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()

    @staticmethod
    def missing() -> str:
        return "" if glob.glob("/usr/lib/postgresql/*/bin/postgres") else "postgresql is not installed"


def _body(name: str) -> bytes:
    """What the origin server has: 1 to 64 KB."""
    number = int(name)
    return (hashlib.sha256(name.encode()).hexdigest() * 16 * (1 + number * number % 64)).encode()


class _Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 17  # header and body at once

    def do_GET(self) -> None:
        body = _body(self.path.rsplit("/", 1)[-1])
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Squid:
    """A proxy whose cache is on disk alone; nine requests of ten are for what it has."""

    user = "proxy"
    unit = "request"
    amount = 2000
    warm_up = OBJECTS
    origin: http.server.ThreadingHTTPServer | None = None

    def __init__(self, parent: Path, name: str, prefix: list[str]) -> None:
        self.directory = _directory(parent, f"squid-{name}", self.user)
        self.port = _free_port()
        self.asked = 0
        self.fresh = OBJECTS
        if not Squid.origin:
            Squid.origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Origin)
            threading.Thread(target=Squid.origin.serve_forever, daemon=True).start()
        settings = f"""
http_port 127.0.0.1:{self.port}
http_access allow localhost
visible_hostname localhost
pid_filename {self.directory}/pid
cache_log {self.directory}/cache.log
access_log none
cache_store_log none
coredump_dir {self.directory}
cache_mem 0
memory_cache_mode disk
maximum_object_size 1 MB
cache_dir ufs {self.directory}/cache 200 4 16
pinger_enable off
shutdown_lifetime 0 seconds
"""
        (self.directory / "squid.conf").write_text(settings)
        squid = shutil.which("squid", path="/usr/sbin:/usr/bin:/bin") or "squid"
        self.command = [*prefix, squid, "-N", "-f", str(self.directory / "squid.conf")]
        subprocess.run(
            [squid, "-N", "-z", "-f", str(self.directory / "squid.conf")],
            user=self.user,
            group=pwd.getpwnam(self.user).pw_gid,
            extra_groups=[],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )

    def _get(self, names: list[str], hits: list[int], wrong: list[str]) -> None:
        assert Squid.origin
        origin = f"http://127.0.0.1:{Squid.origin.server_port}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        for name in names:
            connection.request("GET", f"{origin}/{name}")
            answer = connection.getresponse()
            if answer.read() != _body(name):
                wrong.append(name)
            if "HIT" in (answer.getheader("X-Cache") or ""):
                hits.append(1)
        connection.close()

    def _ask(self, names: list[str]) -> str:
        hits: list[int] = []
        wrong: list[str] = []
        askers = [threading.Thread(target=self._get, args=(names[at::2], hits, wrong)) for at in range(2)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        return f"{len(wrong)} wrong" if wrong else "right" if len(hits) >= len(names) * 0.8 else f"{len(hits)} hits"

    def prepare(self) -> None:
        self._ask([str(name) for name in range(OBJECTS)])
        # What it has got goes to disk behind the answer.
        time.sleep(1)

    def load(self, amount: int) -> tuple[int, str]:
        """Requests made, and whether the answers were right."""
        names = []
        for _ in range(amount):
            self.asked += 1
            if self.asked % 10:
                names.append(str(self.asked * 7919 % OBJECTS))
            else:
                self.fresh += 1
                names.append(str(self.fresh))
        return amount, self._ask(names)

    @staticmethod
    def version() -> str:
        squid = shutil.which("squid", path="/usr/sbin:/usr/bin:/bin") or "squid"
        said = subprocess.run([squid, "-v"], stdout=subprocess.PIPE, text=True).stdout
        return said.splitlines()[0] if said else ""

    @staticmethod
    def missing() -> str:
        return "" if shutil.which("squid", path="/usr/sbin:/usr/bin:/bin") else "squid is not installed"


def _measure(kind: type[Postgres] | type[Squid], cosy: Installed, lines: Lines, parent: Path, rounds: int) -> list[str]:
    plain, fast = kind(parent, "plain", []), kind(parent, "cosy", [cosy.command, "run", "--"])
    cpu: list[list[float]] = [[], []]
    rate: list[list[float]] = [[], []]
    wrong = []
    with (
        _server(plain.command, kind.user, plain.directory, plain.port) as first,
        _server(fast.command, kind.user, fast.directory, fast.port) as second,
    ):
        for one in (plain, fast):
            one.prepare()
            one.load(kind.warm_up)
        contenders = [(0, plain, first), (1, fast, second)]
        for turn in range(rounds):
            states = ["", ""]
            # Each is first as often as the other.
            for at, one, process in contenders[:: -1 if turn % 2 else 1]:
                used, start = _cpu(process.pid), time.perf_counter()
                done, state = one.load(kind.amount)
                clock = time.perf_counter() - start
                # A backend that has ended is counted when its parent has waited for it.
                time.sleep(0.1)
                cpu[at].append(1e6 * (_cpu(process.pid) - used) / max(done, 1))
                rate[at].append(done / clock)
                states[at] = state
            if states[0] != states[1]:
                wrong.append(f"{kind.__name__}: {states[1]} under cosy run, {states[0]} without")
    parameters: dict[str, str | int] = {"server": kind.__name__}
    lines.pair("servers", parameters, f"CPU per {kind.unit}", "us", *cpu, version=kind.version())
    lines.pair(
        "servers", parameters, f"{kind.unit}s per second", "1/s", *rate, version=kind.version(), more_is_better=True
    )
    return wrong


def measure(cosy: Installed, lines: Lines, parent: Path, rounds: int) -> list[str]:
    """What was wrong."""
    wrong = []
    kinds: tuple[type[Postgres] | type[Squid], ...] = (Postgres, Squid)
    for kind in kinds:
        missing = kind.missing() or ("" if os.geteuid() == 0 else "only root can start it as its own user")
        if missing:
            print(f"bench: left out: {kind.__name__}: {missing}", file=sys.stderr)
            continue
        try:
            wrong += _measure(kind, cosy, lines, parent, rounds)
        except (RuntimeError, subprocess.CalledProcessError, OSError) as error:
            wrong.append(f"{kind.__name__}: {error}")
    return wrong
