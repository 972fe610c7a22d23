# SPDX-License-Identifier: MIT
"""Guards of writes from the shared buffer, into the page cache and into pages of ext4."""

from mutant import Mutant

MUTANTS = [
    # Writes from the shared buffer
    Mutant(
        "write-memory",
        "kmod/view/view_write.c",
        "if (unlikely(offset >= prog->buffer_size || count > prog->buffer_size - offset ||",
        "if (unlikely(count > prog->buffer_size - offset ||",
        by="view_edges",
    ),
    Mutant(
        "write-memory-end",
        "kmod/view/view_write.c",
        "if (unlikely(offset >= prog->buffer_size || count > prog->buffer_size - offset ||",
        "if (unlikely(offset >= prog->buffer_size ||",
        by="view_edges",
    ),
    Mutant(
        "write-memory-gone",
        "kmod/view/view_write.c",
        "count > prog->buffer_size - offset ||\n\t\t     READ_ONCE(*prog->gone)))",
        "count > prog->buffer_size - offset))",
        out_of_reach="a buffer that goes between a safepoint and the next one",
    ),
    Mutant(
        "write-mode",
        "kmod/view/view_write.c",
        "if (unlikely(!(file->f_mode & FMODE_WRITE)))",
        "if (0)",
        by="view_edges",
    ),
    Mutant(
        "write-longest",
        "kmod/view/view_write.c",
        "if (unlikely(count - 1 >= COSY_MAX_WRITE))",
        "if (0)",
        by="view_edges",
    ),
    Mutant(
        "pwrite-longest",
        "kmod/view/view_write.c",
        "if (unlikely(count - 1 >= COSY_MAX_WRITE || (s64)position < 0))",
        "if (unlikely((s64)position < 0))",
        by="view_edges",
    ),
    Mutant(
        "pwrite-negative",
        "kmod/view/view_write.c",
        "count - 1 >= COSY_MAX_WRITE || (s64)position < 0",
        "count - 1 >= COSY_MAX_WRITE",
        harmless="it is looked at again, and rw_verify_area refuses it",
    ),
    Mutant(
        "write-lock", "kmod/view/view_write.c", "locked = cosy_position_lock(write.file);", "locked = false;", by="held"
    ),
    Mutant(
        "write-appending",
        "kmod/view/view_write.c",
        "unlikely(file->f_flags & O_APPEND) ? -1 : write->position,",
        "write->position,",
        by="view_watched",
    ),
    Mutant(
        "write-same",
        "kmod/view/view_write.c",
        "if (!view || same)",
        "if (!view)",
        harmless="the file system copies a page onto itself",
    ),
    Mutant("write-no-view", "kmod/view/view_write.c", "if (!view || same)", "if (same)", by="fast_write"),
    Mutant(
        "view-write-permission",
        "kmod/view/view_write.c",
        "ret = rw_verify_area(WRITE, file, &position, write->count);",
        "ret = 0;",
        by="held",
    ),
    Mutant(
        "view-write-frozen",
        "kmod/view/view_write.c",
        "if (unlikely(!file_start_write_trylock(file)))",
        "if (file_start_write_trylock(file), 0)",
        by="view_edges",
        disk=True,
    ),
    Mutant("view-write-position", "kmod/view/view_write.c", "\t\t*write->end = kiocb.ki_pos;\n", "\t\t;\n", by="view"),
    Mutant("view-write-told", "kmod/view/view_write.c", "\tcosy_write_done(file, ret);\n", "", by="view_edges"),
    # Writes into the page cache
    Mutant(
        "write-limits",
        "kmod/view/cached_write.c",
        "!(file->f_flags & (O_APPEND | __O_SYNC | O_DSYNC))",
        "!(file->f_flags & (__O_SYNC | O_DSYNC))",
        by="fast_write",
    ),
    Mutant(
        "write-times",
        "kmod/view/cached_write.c",
        "likely(!error) ? cached_update_time(file) : error",
        "error",
        by="fast_write",
    ),
    Mutant(
        "write-seal",
        "kmod/view/cached_write.c",
        "if (READ_ONCE(SHMEM_I(inode)->seals) & SEALED)",
        "if (0)",
        by="fast_write",
    ),
    Mutant(
        "write-sync",
        "kmod/view/cached_write.c",
        "(O_APPEND | __O_SYNC | O_DSYNC)",
        "(O_APPEND)",
        by="fast_write",
        disk=True,
    ),
    Mutant(
        "write-largest",
        "kmod/view/cached_write.c",
        " &&\n\t       rlimit(RLIMIT_FSIZE) == RLIM_INFINITY;",
        ";",
        by="fast_write",
    ),
    Mutant(
        "write-size",
        "kmod/view/cached_write.c",
        "position < 0 || position + write->count > i_size_read(",
        "0 && i_size_read(",
        by="fast_write",
        harmless="the size is looked at again under the inode's lock",
    ),
    Mutant(
        "write-privileges",
        "kmod/view/cached_write.c",
        "IS_NOSEC(file_inode(file)) ? 0 : file_remove_privs(file)",
        "0",
        by="fast_write",
    ),
    Mutant(
        "write-clean",
        "kmod/view/cached_write.c",
        "\t\tif (!folio_test_dirty(folio))\n\t\t\tfolio_mark_dirty(folio);\n",
        "",
        by="fast_write",
    ),
    Mutant(
        "write-told", "kmod/view/cached_write.c", "\t\t\tcosy_write_done(file, result);", "\t\t\t;", by="fast_write"
    ),
    Mutant(
        "write-sync-inode", "kmod/view/cached_write.c", "!IS_SYNC(file_inode(file)) &&", "", by="fast_write", disk=True
    ),
    Mutant(
        "write-swap",
        "kmod/view/cached_write.c",
        "return !IS_SWAPFILE(inode) && ",
        "return ",
        by="fast_write",
        disk=True,
    ),
    Mutant(
        "write-size-locked",
        "kmod/view/cached_write.c",
        "!IS_SWAPFILE(inode) && write->position + write->count <= i_size_read(inode);",
        "!IS_SWAPFILE(inode);",
        by="held",
    ),
    Mutant(
        "write-killed",
        "kmod/view/cached_write.c",
        "!tmpfs_folios_stay(write, folios) || fatal_signal_pending(current)))",
        "!tmpfs_folios_stay(write, folios)))",
        harmless="who is killed in a write may have written or not",
    ),
    Mutant(
        "write-stay",
        "kmod/view/cached_write.c",
        "\t\t     !tmpfs_folios_stay(write, folios) || fatal",
        "\t\t     fatal",
        by="held",
    ),
    Mutant(
        "write-permission",
        "kmod/view/cached_write.c",
        "result = rw_verify_area(WRITE, file, &position, write->count);",
        "result = 0;",
        by="held",
    ),
    Mutant(
        "write-frozen",
        "kmod/view/cached_write.c",
        "\tif (likely(file_start_write_trylock(file))) {\n"
        "\t\tresult = likely(owner == OWNER_TMPFS) ? tmpfs_write(run, write, &folios, address)\n"
        "\t\t\t\t\t\t      : ext4_write(run, write, &folios, address);\n"
        "\t\tif (likely(result != COSY_ORDINARY))\n"
        "\t\t\tcosy_write_done(file, result);\n"
        "\t\tfile_end_write(file);\n"
        "\t}\n",
        "\tif (1) {\n"
        "\t\tresult = likely(owner == OWNER_TMPFS) ? tmpfs_write(run, write, &folios, address)\n"
        "\t\t\t\t\t\t      : ext4_write(run, write, &folios, address);\n"
        "\t\tif (likely(result != COSY_ORDINARY))\n"
        "\t\t\tcosy_write_done(file, result);\n"
        "\t}\n",
        by="view_edges",
        disk=True,
    ),
    Mutant(
        "write-version",
        "kmod/view/cached_write.c",
        " &&\n\t\t   !(IS_I_VERSION(inode) && inode_iversion_need_inc((struct inode *)inode))))",
        "))",
        by="fast_write",
        disk=True,
        out_of_reach="a look at a file's version: only the NFS server and IMA take one",
    ),
    Mutant(
        "write-modified",
        "kmod/view/cached_write.c",
        "timespec64_equal(&modified, &now) &&",
        "",
        by="fast_write",
    ),
    Mutant(
        "write-changed",
        "kmod/view/cached_write.c",
        "timespec64_equal(&changed, &now) &&",
        "",
        out_of_reach="a time of writing that was set to the tick in which the file is written",
    ),
    Mutant(
        "write-other",
        "kmod/view/cached_write.c",
        "if (owner == OWNER_OTHER)",
        "if (0)",
        disk=True,
        out_of_reach="a disk with btrfs, or ext4 without delayed allocation",
    ),
    Mutant(
        "write-read-only",
        "kmod/view/cached_write.c",
        " ||\n\t\t   sb_rdonly(inode->i_sb)) {",
        ") {",
        disk=True,
        out_of_reach="a file system that errors have made read-only while files are open for writing",
    ),
    Mutant(
        "write-stay-locked",
        "kmod/view/cached_write.c",
        "if (unlikely(folio_test_locked(folio) ||\n\t\t\t     cosy_folio_guard",
        "if (unlikely(cosy_folio_guard",
        out_of_reach="reclaim that has begun with a page just before",
    ),
    Mutant(
        "write-end", "kmod/view/cached_write.c", "\t\t*write->end = position + result;\n", "\t\t;\n", by="fast_write"
    ),
    Mutant(
        "write-put",
        "kmod/view/cached_write.c",
        "\tcached_put_folios(&folios);\n\tif (likely(result > 0))",
        "\tif (likely(result > 0))",
        by="view_edges",
    ),
    Mutant(
        "write-failed-put",
        "kmod/view/cached_write.c",
        "\tcached_put_folios(ret);\n\treturn false;",
        "\treturn false;",
        by="view_edges",
    ),
    Mutant(
        "write-itself",
        "kmod/view/cached_write.c",
        "if (place->at != to)",
        "if (1)",
        by="view",
        harmless="bytes are copied onto themselves",
    ),
    # Writes into pages of ext4
    Mutant("ext4-immutable", "kmod/view/cached_write.c", "IS_IMMUTABLE(inode) ||", "", by="fast_write", disk=True),
    Mutant(
        "ext4-fresh",
        "kmod/view/cached_write.c",
        "if (owner == OWNER_EXT4 && unlikely(!cosy_is_fresh(",
        "if (0 && unlikely(!cosy_is_fresh(",
        by="fast_write",
        disk=True,
        harmless="what a file system that is shut down says is not heard; none is here",
    ),
    Mutant(
        "ext4-owner",
        "kmod/view/ext4_write.c",
        "return delayed && mapping->a_ops == delayed;",
        "return delayed;",
        disk=True,
        out_of_reach="pages of an ext4 that journals its data",
    ),
    Mutant(
        "ext4-known",
        "kmod/view/ext4_folio.h",
        "!folio_test_hwpoison(folio) && cosy_ext4_buffers_known(folio, begin, end) &&",
        "!folio_test_hwpoison(folio) &&",
        by="fast_write",
        disk=True,
    ),
    Mutant(
        "ext4-mapped",
        "kmod/view/ext4_folio.h",
        "(!buffer_mapped(buffer) || ",
        "(",
        by="fast_write",
        disk=True,
        disk_block=1024,
    ),
    Mutant(
        "ext4-dirty",
        "kmod/view/ext4_folio.h",
        "\tcosy_ext4_buffers_dirty(folio, begin, end);",
        "\t;",
        by="fast_write",
        disk=True,
    ),
    Mutant(
        "ext4-buffers",
        "kmod/view/ext4_folio.h",
        "offset + buffer->b_size > begin &&\n\t\t    unlikely",
        "offset > begin &&\n\t\t    unlikely",
        by="fast_write",
        disk=True,
    ),
    Mutant(
        "ext4-uptodate",
        "kmod/view/ext4_folio.h",
        "|| !buffer_uptodate(buffer) ||",
        "||",
        disk=True,
        by="fast_write",
        harmless="the buffers of a page that is up to date are",
    ),
    Mutant(
        "ext4-mapping",
        "kmod/view/ext4_folio.h",
        "if (likely(folio->mapping == mapping && folio_test_uptodate(folio) &&",
        "if (likely(folio_test_uptodate(folio) &&",
        disk=True,
        by="held",
        harmless="a page that has left the cache has no buffers any more",
    ),
    Mutant(
        "ext4-poison",
        "kmod/view/ext4_folio.h",
        "\t\t   !folio_test_hwpoison(folio) && cosy_ext4_buffers_known",
        "\t\t   cosy_ext4_buffers_known",
        disk=True,
        out_of_reach="memory that goes bad between the look-up and the lock",
    ),
    Mutant(
        "ext4-stable",
        "kmod/view/ext4_folio.h",
        " &&\n\t\t   !(folio_test_writeback(folio) && cosy_stable_writes(mapping))))",
        "))",
        disk=True,
        out_of_reach="a disk that wants pages to stay as they are while they are written",
    ),
]
