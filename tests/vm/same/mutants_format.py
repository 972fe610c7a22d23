# SPDX-License-Identifier: MIT
"""Guards of the operation `format`: the room that a text has, and the end of what is reached alike."""

from mutant import Mutant

MUTANTS = [
    Mutant(
        "format-plain-room",
        "kmod/memory/memory_format.c",
        "\ttext.room = min(text.room, r[2]);\n",
        "",
        by="kmod_format",
    ),
    Mutant(
        "format-word-room",
        "kmod/memory/memory_format.c",
        "\tif (likely(length <= out->room && length <= out->place.above))\n\t\treturn word_write",
        "\tif (likely(length <= out->place.above))\n\t\treturn word_write",
        by="kmod_format",
    ),
    Mutant(
        "format-string-room",
        "kmod/memory/memory_format.c",
        "\t\tnow = min(min(now, out->room), min_t(u64, most, COSY_SLICE));\n",
        "\t\tnow = min_t(u64, now, min_t(u64, most, COSY_SLICE));\n",
        by="kmod_format",
    ),
    Mutant(
        "format-string-most",
        "kmod/memory/memory_format.c",
        "\t\tnow = min(min(now, out->room), min_t(u64, most, COSY_SLICE));\n",
        "\t\tnow = min_t(u64, min(now, out->room), COSY_SLICE);\n",
        by="kmod_format",
    ),
]
