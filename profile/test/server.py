#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that reads a file byte by byte for whoever connects, and its load.

server.py foreground|background SOCKET FILE
server.py load SOCKET TIMES
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time


def serve(path: str, file: str) -> None:
    fd = os.open(file, os.O_RDONLY)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            client = listener.accept()[0]
            os.lseek(fd, 0, os.SEEK_SET)
            while os.read(fd, 1):
                pass
            client.close()


def load(path: str, times: int) -> None:
    for _ in range(times):
        for _ in range(10000):  # 500 s: for a server that hangs, not for a busy machine
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                assert client.recv(1) == b""
                break
            time.sleep(0.05)
        else:
            sys.exit("nobody listens")


if sys.argv[1] == "load":
    load(sys.argv[2], int(sys.argv[3]))
else:
    if sys.argv[1] == "background" and os.fork():
        os._exit(0)
    if sys.argv[1] == "background":
        os.setsid()
    serve(sys.argv[2], sys.argv[3])
