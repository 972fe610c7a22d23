# SPDX-License-Identifier: MIT
"""Guards of moving pages by descriptors: parcels, ports, pipes and sockets, and of requests."""

from mutant import Mutant

MUTANTS = [
    # Parcels
    Mutant(
        "parcel-charge", "kmod/move/parcel.c", " || cosy_locked_charge(&parcel->locked, count)", "", by="move_arena"
    ),
    Mutant(
        "parcel-uncharge",
        "kmod/move/parcel.c",
        "\tWRITE_ONCE(parcel->count, 0);\n\tcosy_locked_uncharge(&parcel->locked);\n",
        "\tWRITE_ONCE(parcel->count, 0);\n",
        by="move_arena",
    ),
    Mutant(
        "parcel-read-once",
        "kmod/move/parcel.c",
        "\tif (donation && !*left)\n\t\tparcel_drop(parcel);\n",
        "",
        by="move_arena",
    ),
    Mutant(
        "parcel-read-taken",
        "kmod/move/parcel.c",
        "\t\treturn now ? done : 0;\n",
        "\t\treturn done;\n",
        by="move_stalled",
    ),
    Mutant(
        "parcel-source",
        "kmod/move/parcel.c",
        "rights, &s);\n\tif (!ret && s.count < parcel->count)\n\t\tret = -EFAULT;\n",
        "rights, &s);\n",
        by="move_parcel",
    ),
    Mutant(
        "parcel-place",
        "kmod/move/parcel.c",
        "VM_READ | VM_WRITE, &s);\n\tif (!ret && s.count < parcel->count)\n\t\tret = -EFAULT;\n",
        "VM_READ | VM_WRITE, &s);\n",
        by="move_arena",
    ),
    Mutant(
        "parcel-place-rights",
        "kmod/move/parcel.c",
        "parcel->count, VM_READ | VM_WRITE, &s)",
        "parcel->count, VM_READ, &s)",
        by="move_parcel",
    ),
    Mutant(
        "parcel-get", "kmod/move/parcel.c", "\t\t\tget_page(cosy_slot_page(content));\n", "\t\t\t;\n", by="move_parcel"
    ),
    Mutant(
        "parcel-pages-alone",
        "kmod/move/parcel.c",
        "if (huge && atomic_read(&huge->holders) > 1)",
        "if (0)",
        by="move_huge",
    ),
    Mutant(
        "parcel-pages-frozen",
        "kmod/move/parcel.c",
        "\t\tif (!parcel_is_donation(parcel))\n\t\t\tcosy_page_freeze(copy);\n",
        "",
        by="move_huge",
    ),
    Mutant(
        "parcel-fits",
        "kmod/move/parcel.c",
        "parcel->huge && !cosy_huge_fits(s) ? parcel_to_pages(parcel) : 0",
        "0",
        by="move_huge",
    ),
    Mutant(
        "parcel-split-frozen",
        "kmod/move/parcel.c",
        "k < COSY_HUGE_SLOTS && !parcel_is_donation(parcel); k++)\n\t\tcosy_page_freeze",
        "0; k++)\n\t\tcosy_page_freeze",
        by="move_huge",
    ),
    Mutant(
        "parcel-source-rights",
        "kmod/move/parcel.c",
        "parcel->how == COSY_MOVE_COPY ? VM_READ : VM_READ | VM_WRITE;",
        "VM_READ;",
        by="move_arena",
    ),
    Mutant(
        "parcel-kind", "kmod/move/parcel.c", "\tif (fd_file(f)->f_op == &parcel_fops)\n", "\tif (1)\n", by="move_arena"
    ),
    Mutant(
        "parcel-read-whole",
        "kmod/move/parcel.c",
        "\tif (donation && position + iov_iter_count(to) < length) {",
        "\tif (0) {",
        by="move_arena",
    ),
    # Ports
    Mutant(
        "port-taker", "kmod/move/port.c", "\tif (port->no_taker)\n\t\tret = -EPIPE;\n\telse if", "\tif", by="move_port"
    ),
    Mutant(
        "port-several",
        "kmod/move/port.c",
        "\treturn find_next_bit(port->busy, end, m->first) >= end;\n",
        "\treturn end;\n",
        by="move_port",
    ),
    Mutant("port-within", "kmod/move/port.c", " || length > size - at)", ")", by="move_port"),
    Mutant("port-kind", "kmod/move/port.c", "\tif (fd_file(f)->f_op == &port_fops)\n", "\tif (1)\n", by="hostile_port"),
    Mutant(
        "port-source",
        "kmod/move/port.c",
        "\tret = cosy_slots_find(address, count, rights, &s);\n\tif (!ret && s.count < count)\n\t\tret = -EFAULT;\n",
        "\tret = cosy_slots_find(address, count, rights, &s);\n",
        by="move_port",
    ),
    Mutant(
        "port-place", "kmod/move/port.c", "\tif (!ret && s.count < pages)\n\t\tret = -EFAULT;\n", "", by="move_port"
    ),
    Mutant(
        "port-how",
        "kmod/move/port.c",
        "\tif (move->how != COSY_MOVE_COPY && move->how != COSY_MOVE_DONATE &&\n",
        "\tif (0 && move->how != COSY_MOVE_DONATE &&\n",
        by="hostile_port",
    ),
    Mutant(
        "port-charge",
        "kmod/move/port.c",
        "||\n\t    cosy_locked_charge(&port->locked, count)) {",
        ") {",
        by="hostile_port",
    ),
    Mutant(
        "port-read-divides",
        "kmod/move/port.c",
        "\tmessage_divide(port, &m);\n\tret = message_copy",
        "\tret = message_copy",
        by="move_huge",
    ),
    Mutant(
        "port-end-drops",
        "kmod/move/port.c",
        "\twhile (message_peek(port, &m) > 0 && message_pop(port, &m))\n\t\tport_drop(port, &m);\n",
        "",
        by="move_arena",
    ),
    Mutant(
        "port-first",
        "kmod/move/port.c",
        "is_first = first->first == m->first && first->length == m->length;",
        "is_first = true;",
        by="move_stalled",
    ),
    Mutant("port-first-huge", "kmod/move/port.c", "\t\tm->huge = first->huge;\n", "", by="move_stalled"),
    Mutant("port-lost", "kmod/move/port.c", "\tlost = port->no_taker;\n", "\tlost = false;\n", by="move_stalled"),
    Mutant(
        "port-returns",
        "kmod/move/port.c",
        "\tif (ret < 0)\n\t\tmessage_return(port, &m);\n\telse\n",
        "",
        by="move_arena",
    ),
    Mutant(
        "port-source-rights",
        "kmod/move/port.c",
        "how == COSY_MOVE_COPY ? VM_READ : VM_READ | VM_WRITE;",
        "VM_READ;",
        by="move_arena",
    ),
    # Pipes
    Mutant(
        "pipe-mark",
        "kmod/move/pipe.c",
        "\t\treturn cosy_page_has_mark(page);\n",
        "\t\treturn true;\n",
        by="move_socket",
    ),
    Mutant("pipe-direct", "kmod/move/pipe.c", "!(file->f_flags & O_DIRECT) && ", "", by="move_arena"),
    Mutant(
        "pipe-watched",
        "kmod/move/pipe.c",
        "!(file->f_flags & O_DIRECT) && !pipe_has_watch_queue(pipe)",
        "!(file->f_flags & O_DIRECT)",
        out_of_reach="Debian's cloud kernels have no CONFIG_WATCH_QUEUE, so no pipe has messages of the kernel's",
    ),
    # Requests
    Mutant(
        "loan-give-rights",
        "kmod/move/move.c",
        "loan->flags & COSY_MOVE_GIVE ? VM_READ | VM_WRITE : VM_READ;",
        "VM_READ;",
        by="move_arena",
    ),
    Mutant("loan-left", "kmod/move/move.c", "\tpages_put(pages, max(went, 0L), count);\n", "", by="move_arena"),
    Mutant("transfer-left", "kmod/move/move.c", "\tpages_put(pages, done, count);\n", "", by="move_arena"),
    Mutant("local-rights", "kmod/move/move.c", "flush || write ? VM_WRITE : VM_READ", "0", by="move_arena"),
    # Operations of compounds
    Mutant(
        "region-how",
        "kmod/move/region.c",
        "\tif (how > COSY_MOVE_DONATE_ZERO - COSY_MOVE_SHARE)\n\t\treturn region_leave(run);\n",
        "",
        harmless="cosy_port_pass knows no such way, either, and libcosy makes the operation then",
    ),
    Mutant(
        "region-forget",
        "kmod/move/region.c",
        "\tcosy_descriptors_forget(run);\n",
        "",
        harmless="of a table that others share none are known, and no loan changes the task's own",
    ),
]
