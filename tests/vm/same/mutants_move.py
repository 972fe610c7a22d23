# SPDX-License-Identifier: MIT
"""Guards of moving pages."""

from mutant import Mutant

MUTANTS = [
    # Pages that move
    Mutant("move-protect", "kmod/move/slots.c", "\tcosy_slots_write_protect(s, count);\n", "", by="move"),
    Mutant(
        "move-exclusive",
        "kmod/move/slots.c",
        "if (!(*slot & COSY_SLOT_HUGE) && page_count(page) == 1 + (page == s->held)) {",
        "if (!(*slot & COSY_SLOT_HUGE) && page_count(page) <= 2) {",
        by="move",
    ),
    Mutant(
        "move-written",
        "kmod/move/slots.c",
        "\tif (*slot & COSY_SLOT_MAPPED)\n\t\tcosy_slots_unmap_pages(s, k, k + 1);\n\tcosy_slot_put(*slot);",
        "\tcosy_slot_put(*slot);",
        by="move",
    ),
    Mutant("move-export", "kmod/move/slots.c", "\tcosy_slots_write_protect(s, s->count);\n", "", by="move_parcel"),
    Mutant(
        "move-donated",
        "kmod/move/slots.c",
        "\tcosy_slots_unmap_pages(s, 0, s->count);\n\tsome_stay",
        "\tsome_stay",
        by="move_parcel",
    ),
    Mutant(
        "move-twice",
        "kmod/move/parcel.c",
        "\tif (parcel_is_donation(parcel))\n\t\tparcel_empty(parcel);\n",
        "",
        by="move_parcel",
    ),
    Mutant(
        "port-busy",
        "kmod/move/port.c",
        "\telse if (!places_are_free(port, m))\n\t\tret = -EAGAIN;\n",
        "",
        by="move_port",
    ),
    Mutant(
        "port-fits",
        "kmod/move/port.c",
        "if (message_at(&m) + (message_pages(&m) << PAGE_SHIFT) > move->length)",
        "if (message_at(&m) > move->length)",
        by="move_port",
    ),
    Mutant(
        "port-shows",
        "kmod/move/port.c",
        "\tfor (i = 0; i < places; i++)\n\t\tport->contents[m->first + i] = COSY_SLOT_EMPTY;\n",
        "",
        by="move_port",
    ),
    Mutant(
        "port-alone",
        "kmod/move/huge.c",
        "\t\tif (huge && atomic_read(&huge->holders) != 1)\n\t\t\treturn false;\n",
        "",
        by="move_huge",
    ),
    Mutant(
        "port-divides",
        "kmod/move/port.c",
        "\t\tif (m->huge && !cosy_huge_fits(&s))\n\t\t\tmessage_divide(port, m);\n",
        "",
        by="move_huge",
    ),
    Mutant("move-shared", "kmod/move/slots.c", "\t\tslot[k] |= COSY_SLOT_SHARED;\n", "", by="move_parcel"),
    Mutant(
        "move-fork",
        "kmod/move/slots.c",
        "\tcosy_slots_unmap(s, s->count);\n\twhile (cosy_piece_next(s->arena",
        "\twhile (cosy_piece_next(s->arena",
        by="move",
    ),
    Mutant(
        "move-flush",
        "kmod/move/entries.c",
        "\twhile (++pte < last) {\n\t\taddress += PAGE_SIZE;\n",
        "\tfor (; pte <= last; pte++, address += PAGE_SIZE) {\n",
        by="move_random",
    ),
    Mutant("pin-lent", "kmod/move/slots.c", "\t\tif (page_count(page) != 1) {\n", "\t\tif (0) {\n", by="move_pin"),
    Mutant(
        "pin-donated",
        "kmod/move/slots.c",
        "cosy_page_has_mark(page) || page_count(page) == 1)\n\t\treturn false;",
        "cosy_page_has_mark(page) || true)\n\t\treturn false;",
        by="move_pin",
    ),
    Mutant("pin-write", "kmod/move/arena.c", "\t.page_mkwrite = arena_write_fault,\n", "", by="move_pin"),
    Mutant(
        "pin-fork",
        "kmod/move/arena.c",
        "vma->vm_pgoff, count, arena->pinnable, __GFP_NOFAIL",
        "vma->vm_pgoff, count, false, __GFP_NOFAIL",
        by="move_pin",
    ),
    Mutant(
        "move-alias",
        "kmod/move/pipe.c",
        "return buffer_is_written(buffer) && page_count(page) == 1 && !page->mapping;",
        "return true;",
        by="move",
    ),
    Mutant(
        "move-tee",
        "kmod/move/pipe.c",
        "buffer_is_written(buffer) && page_count(page) == 1",
        "buffer_is_written(buffer)",
        by="move",
    ),
]
