# SPDX-License-Identifier: MIT
"""Files as Python's library reads them: unbuffered, buffered, mapped, in threads and by children."""

import csv
import hashlib
import json
import linecache
import mmap
import os
import pickle
import shelve
import shutil
import sqlite3
import subprocess
import tarfile
import threading
import zipfile

descriptor = os.open("small", os.O_RDONLY)
total = 0
while byte := os.read(descriptor, 1):
    total += byte[0]
print(total, os.lseek(descriptor, 0, os.SEEK_CUR), os.read(descriptor, 9))

raw = open("text", "rb", buffering=0)
x = 1
for _ in range(3000):
    x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    raw.seek(x % 200000)
    x += raw.read(1 + x % 300)[0]
print(x, raw.tell())

os.lseek(descriptor, 0, os.SEEK_SET)
for _ in range(100):
    os.read(descriptor, 3)
print(subprocess.run(["head", "-c", "50"], stdin=descriptor, capture_output=True).stdout)
print(os.lseek(descriptor, 0, os.SEEK_CUR), os.preadv(descriptor, [bytearray(9)], 5))
with os.fdopen(os.dup(descriptor), "rb") as stream:
    print(stream.readline(), stream.tell())

totals = []


def read_all(fd: int) -> None:
    n = 0
    while part := os.read(fd, 10):
        n += sum(part)
    totals.append(n)


shared = os.open("text", os.O_RDONLY)
threads = [threading.Thread(target=read_all, args=(shared,)) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sum(totals))

with open("text", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
    print(mapping.find(b"some words", 5000), os.pread(shared, 10, 30))
    mapping[30:34] = b"XXXX"
    print(os.pread(shared, 10, 30), file.read(40))
os.truncate("text", 30000)
print(os.pread(shared, 10, 29995), os.lseek(shared, 0, os.SEEK_END))

pickle.dump({i: str(i) * 3 for i in range(2000)}, open("p", "wb"))
with open("p", "rb", buffering=0) as file:
    print(len(pickle.load(file)), file.tell())
with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for name in sorted(os.listdir("many")):
        archive.write(f"many/{name}")
with zipfile.ZipFile("z.zip") as archive:
    print(archive.testzip(), hashlib.sha256(archive.read("many/44")).hexdigest())
with tarfile.open("t.tar", "w") as archive:
    archive.add("many")
with tarfile.open("t.tar") as archive:
    print(len(archive.getmembers()), archive.extractfile("many/7").read(20))
with shelve.open("shelf", "n") as shelf:
    for i in range(200):
        shelf[str(i)] = i
    print(sum(shelf.values()))
for left in os.listdir("."):
    if left.startswith("shelf"):
        os.unlink(left)
print(sum(int(row[0]) for row in csv.reader(open("table.csv"))), linecache.getline("text2", 77))
print(len(json.load(open("values.json"))), shutil.copyfile("bytes", "copy"), os.path.getsize("copy"))
base = sqlite3.connect("t.db")
base.execute("update t set v = v || k where k % 3 = 0")
base.commit()
print(base.execute("select count(*), sum(length(v)) from t where k < 1500").fetchone())
