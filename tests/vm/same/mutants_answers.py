# SPDX-License-Identifier: MIT
"""Guards of what the module learns of kernel and processor, of descriptors, and of who and when it is."""

from mutant import Mutant

_PROCESSOR = "kmod/load/processor.c"
_TYPES = "kmod/kernel/types.c"
_IDENTITY = "kmod/fast/identity.c"
_DESCRIPTOR = "kmod/fast/descriptor.c"
_ACCESS = "kmod/memory/access.h"
_LATER_WORD = "a page's first word is read before: it has to go, or to have a memory error, within the operation"

MUTANTS = [
    # Processors
    Mutant("processor-refuse", _PROCESSOR, "if (likely(!weakness_name) ||", "if (1 ||", by="processor-MDS"),
    Mutant("processor-allow", _PROCESSOR, " || READ_ONCE(allow_processor))", ")", by="processor-MDS"),
    Mutant(
        "processor-mds",
        _PROCESSOR,
        '\t{ X86_FEATURE_CLEAR_CPU_BUF, X86_BUG_MDS, "MDS", BUFFERS },\n',
        "",
        by="processor-MDS",
    ),
    Mutant(
        "processor-tsa",
        _PROCESSOR,
        '\t{ X86_FEATURE_CLEAR_CPU_BUF, X86_BUG_TSA, "TSA", BUFFERS },\n',
        "",
        by="processor-TSA",
    ),
    Mutant(
        "processor-retbleed",
        _PROCESSOR,
        '\t{ X86_FEATURE_UNRET, X86_BUG_RETBLEED, "Retbleed", RETURNS },\n',
        "",
        by="processor-Retbleed",
    ),
    # The kernel's types
    Mutant(
        "types-none",
        _TYPES,
        "\tif (!kernel_btf)\n\t\treturn NULL;\n",
        "",
        by="types",
        harmless="the kernel finds nothing in types that are not there",
    ),
    Mutant("types-structure", _TYPES, "\tif (!structure)\n\t\treturn -ENOENT;\n", "", by="types"),
    Mutant("types-unnamed", _TYPES, "if (!member_name || strcmp", "if (strcmp", by="types"),
    Mutant("types-name", _TYPES, "|| strcmp(member_name, name))", ")", by="filter"),
    Mutant("types-bits", _TYPES, "return bit / BITS_PER_BYTE;", "return bit;", by="filter"),
    Mutant("types-cache", "kmod/run/filter.c", "\tif (outer < 0)\n\t\treturn outer;\n", "", by="types"),
    Mutant("types-bitmap", "kmod/run/filter.c", "\tif (inner < 0)\n\t\treturn inner;\n", "", by="types"),
    Mutant("types-filter", "kmod/run/filter.c", "\tif (offset < 0) {", "\tif (0) {", by="types"),
    Mutant("types-mount", "kmod/fast/mount.c", "if (public >= 0 && number >= 0)", "if (1)", by="types"),
    # Who and when
    Mutant("identity-user", _IDENTITY, "likely(ns == &init_user_ns) ? __kuid", "1 ? __kuid", by="identity"),
    Mutant("identity-group", _IDENTITY, "likely(ns == &init_user_ns) ? __kgid", "1 ? __kgid", by="identity"),
    Mutant("identity-thread", _IDENTITY, "task_pid_vnr(current)", "task_tgid_vnr(current)", by="identity"),
    Mutant("identity-parent", _IDENTITY, "task_tgid_vnr(rcu", "task_tgid_nr(rcu", by="identity"),
    Mutant("identity-uid", _IDENTITY, "user_number(current_uid())", "user_number(current_euid())", by="identity"),
    Mutant("identity-euid", _IDENTITY, "user_number(current_euid())", "user_number(current_uid())", by="identity"),
    Mutant("identity-gid", _IDENTITY, "group_number(current_gid())", "group_number(current_egid())", by="identity"),
    Mutant("identity-egid", _IDENTITY, "group_number(current_egid())", "group_number(current_gid())", by="identity"),
    Mutant(
        "clock-namespace",
        _IDENTITY,
        "\t\tktime_get_ts64(&time);\n\t\ttimens_add_monotonic(&time);\n",
        "\t\tktime_get_ts64(&time);\n",
        by="identity",
    ),
    Mutant(
        "clock-coarse-namespace",
        _IDENTITY,
        "\t\tktime_get_coarse_ts64(&time);\n\t\ttimens_add_monotonic(&time);\n",
        "\t\tktime_get_coarse_ts64(&time);\n",
        by="identity",
    ),
    Mutant(
        "clock-other",
        _IDENTITY,
        "\t\treturn cosy_guard_failed(run, COSY_GUARD_LIMITED);\n\t}\n",
        "\t\tktime_get_real_ts64(&time);\n\t}\n",
        by="identity",
    ),
    Mutant("time-zone", _IDENTITY, "if (!r[1] || r[2])", "if (!r[1])", by="identity"),
    Mutant("time-store", _IDENTITY, "return r[1] ? cosy_guard_failed", "return 0 ? cosy_guard_failed", by="identity"),
    # Descriptors
    Mutant("descriptor-none", _DESCRIPTOR, "\tif (!fd_file(fd)) {", "\tif (0) {", by="fast_read"),
    Mutant("descriptor-cached", _DESCRIPTOR, "if (!cosy_cached_file(fd_file(fd))) {", "if (0) {", by="fast_read"),
    Mutant("descriptor-borrowed", _DESCRIPTOR, "if (cosy_fd_is_borrowed(fd)) {", "if (1) {", by="fast_read"),
    Mutant(
        "descriptor-forget",
        "kmod/run/call.S",
        "\tmovq\t$KNOWN_NONE, RUN_KNOWN(%r11)\n\tmovq\t$KNOWN_NONE, RUN_KNOWN + 8(%r11)\n",
        "",
        by="fast_read",
    ),
    Mutant(
        "descriptor-forget-ordinary",
        "kmod/run/ordinary.c",
        "\tcosy_descriptors_forget(&run->descriptors);\n\tresult = static_call",
        "\tresult = static_call",
        by="fast_read",
    ),
    # Loads and stores that may fault
    Mutant(
        "access-match",
        _ACCESS,
        "COSY_FAULTS(4b)\n\t\t     : [hits]",
        "\n\t\t     : [hits]",
        out_of_reach=_LATER_WORD,
    ),
    Mutant(
        "access-strides",
        _ACCESS,
        "COSY_FAULTS(7b) COSY_FAULTS(8b)\n\n",
        "COSY_FAULTS(7b)\n\n",
        out_of_reach=_LATER_WORD,
    ),
    Mutant(
        "access-difference",
        _ACCESS,
        "COSY_FAULTS(8b)\n\t\t     : [bits]",
        "\n\t\t     : [bits]",
        out_of_reach=_LATER_WORD,
    ),
    Mutant(
        "access-word",
        _ACCESS,
        "\t\t     COSY_FAULTS(1b)\n\t\t     : [word]",
        "\t\t     : [word]",
        by="kmod_memory",
    ),
    Mutant(
        "access-byte",
        _ACCESS,
        "\t\t     COSY_FAULTS(1b)\n\t\t     : [byte]",
        "\t\t     : [byte]",
        by="kmod_memory",
    ),
    Mutant(
        "access-int",
        _ACCESS,
        "\t\t     COSY_FAULTS(1b)\n\t\t     : [value]",
        "\t\t     : [value]",
        by="kmod_memory",
    ),
    Mutant(
        "access-zeroes", _ACCESS, "(word - COSY_ONES) & ~word & COSY", "(word - COSY_ONES) & COSY", by="kmod_memory"
    ),
    Mutant("access-zeroes-exactly", _ACCESS, "| word | ~COSY_HIGHS", "| ~COSY_HIGHS", by="kmod_memory"),
]
