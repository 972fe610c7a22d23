# SPDX-License-Identifier: MIT
"""The module's accesses of user memory, as its exception table has them.

A memory error (a machine check) in a user's page that a system call reads costs that process a SIGBUS, since the
kernel recovers where the exception table names a type made for that; for any other type it panics. No processor
here has such errors to show, so the built module's table is looked at.
"""

from __future__ import annotations

import os
import struct
import unittest

import kernels
import module

KERNEL = os.environ.get("COSY_TEST_KERNEL", "6.12")
# <asm/extable_fixup_types.h>, the same in all kernels since 5.16.
RECOVERABLE = {"UACCESS": 3, "COPY": 4, "DEFAULT_MCE_SAFE": 14, "FAULT_MCE_SAFE": 15, "UCOPY_LEN": 19}
KERNELS_OWN_MEMORY = {"ZEROPAD": 20}
OURS = (14, 15)


def section(data: bytes, wanted: str) -> bytes:
    """Returns the contents of an ELF file's section."""
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        end = data.index(b"\0", strings + name)
        if data[strings + name : end].decode() == wanted:
            return data[offset : offset + length]
    raise KeyError(wanted)


class ExceptionTable(unittest.TestCase):
    def test_a_memory_error_in_a_users_page_is_survived(self) -> None:
        table = section(module.build(kernels.find(KERNEL)).read_bytes(), "__ex_table")
        # The place of the fault and the place to go on (both relocated), the type and its register.
        types = [data & 0xFF for _, _, data in struct.iter_unpack("<iii", table)]
        self.assertEqual(set(types) - {*RECOVERABLE.values(), *KERNELS_OWN_MEMORY.values()}, set(), "types that panic")
        # Check that our own assembly is there: thunks and the operations on memory.
        self.assertGreater(sum(kind in OURS for kind in types), 50)


if __name__ == "__main__":
    unittest.main()
