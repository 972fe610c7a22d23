# SPDX-License-Identifier: MIT
"""The guards of the module that mutants.py breaks, one after the other.

A place is a piece of a file that is there once.  `by` is the test that is to notice, which is asked
first.  A mutant that is `harmless` changes no result of any call; why is said there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One place of one file, changed."""

    name: str
    file: str
    old: str
    new: str
    by: str = ""  # the test that is to notice
    disk: bool = False  # it shows on ext4 rather than tmpfs
    disk_block: int = 4096  # of that ext4
    raced: bool = False  # only what happens at the same time shows it
    harmless: str = ""  # why no result changes

    @property
    def block(self) -> int:
        """The bytes of a block of the file system that it shows on; 0: tmpfs."""
        return self.disk_block if self.disk else 0


MUTANTS = [
    # Guards that fail each time
    Mutant(
        "site-passed",
        "kmod/fast/fast.c",
        "if (!most || READ_ONCE(sites->missed[site]) < most)",
        "if (true)",
        by="fast_passed",
    ),
    Mutant(
        "site-again",
        "kmod/fast/fast.c",
        "if (passed < MAX_PASSED) {",
        "if (true) {",
        by="fast_passed",
    ),
    # Guards of reads
    Mutant("fs_constant", "kmod/fast/page_cache.h", "(file->f_flags & O_DIRECT) ||", "", by="fast_read", disk=True),
    Mutant(
        "no_fp_share",
        "kmod/fast/page_cache.h",
        "FMODE_ATOMIC_POS) || file_count(file) == 1",
        "FMODE_ATOMIC_POS) || true",
        by="held",
    ),
    Mutant(
        "no_holes-mapping",
        "kmod/fast/page_cache.h",
        "if (unlikely(READ_ONCE(folio->mapping) != mapping))",
        "if (0)",
        by="held",
    ),
    Mutant(
        "no_holes-uptodate",
        "kmod/fast/page_cache.h",
        "== BIT(PG_uptodate);",
        "== 0 || true;",
        by="fast_ahead",
        disk=True,
        raced=True,
    ),
    Mutant(
        "read_only",
        "kmod/fast/folio_cursor.h",
        "return i_size_read(mapping->host);",
        "return LLONG_MAX;",
        by="fast_write",
    ),
    Mutant(
        "read_only-view",
        "kmod/view/view_read.c",
        "if (unlikely(position >= size))",
        "size = LLONG_MAX;\n\tif (0)",
        by="view",
    ),
    Mutant(
        "readahead",
        "kmod/fast/page_cache.h",
        "return folio_test_readahead(folio) ? COSY_GUARD_READAHEAD : COSY_GUARDS_HOLD;",
        "return COSY_GUARDS_HOLD;",
        by="fast_ahead",
        disk=True,
        harmless="the file system reads ahead later than it would",
    ),
    Mutant(
        "fresh",
        "kmod/fast/page_cache.h",
        "if (likely(run->fresh[0] == sb) || run->fresh[1] == sb)",
        "if (1)",
        by="view",
        disk=True,
        harmless="what a file system that is shut down says is not heard; none is here",
    ),
    Mutant(
        "limited-mode",
        "kmod/fast/read.c",
        "!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_CAN_READ) ||",
        "",
        by="fast_read",
    ),
    Mutant("memory", "kmod/fast/read.c", "!access_ok((void __user *)buffer, count)", "0", by="fast_read"),
    # Names and attributes
    Mutant("name-link", "kmod/fast/lookup.h", "follow && data_race(d_is_symlink(child))", "0", by="fast_stat"),
    Mutant(
        "cached-negative",
        "kmod/fast/lookup.h",
        "if (unlikely(data_race(d_is_negative(child))))",
        "if (0)",
        by="fast_stat",
    ),
    Mutant(
        "plain_dentry",
        "kmod/fast/lookup.h",
        "DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE",
        "DCACHE_OP_REVALIDATE",
        by="fast_stat",
    ),
    Mutant("search", "kmod/fast/lookup.h", "result = cosy_may_search(ret->dir);", "result = 0;", by="fast_stat"),
    Mutant(
        "scan-search",
        "kmod/fast/getdents.c",
        "scan->allowed = cosy_may_search(scan->dir);",
        "scan->allowed = 0;",
        by="fast_scan",
    ),
    Mutant(
        "scan-room",
        "kmod/fast/getdents.c",
        "listing.room = size;\n\tresult = cosy_call_result",
        "listing.room = size * 3 / 4;\n\tresult = cosy_call_result",
        by="scan_tree",
    ),
    # Trees of directories
    Mutant("tree-link", "core/scan_tree.h", "O_DIRECTORY | O_NOFOLLOW |", "O_DIRECTORY |", by="scan_tree_change"),
    Mutant(
        "tree-device",
        "core/scan_tree.h",
        "if (!error && identity[0] != w->t.device && !(w->t.flags & COSY_TREE_CROSS))",
        "if (0)",
        by="scan_tree",
    ),
    Mutant(
        "tree-mounted",
        "core/scan_tree.h",
        "(entry->stat[0] == w->t.device || (w->t.flags & COSY_TREE_CROSS));",
        "1;",
        by="scan_tree",
    ),
    Mutant("tree-moved", "core/scan_tree.h", "|| identity[1] != below.inode)", ")", by="scan_tree_change"),
    Mutant("tree-shed", "core/scan_tree.h", "else if (w->t.open >= COSY_TREE_OPEN)", "else if (0)", by="scan_tree"),
    Mutant(
        "tree-depth",
        "core/scan_tree.h",
        "w->here.depth + 1 >= w->t.max_depth",
        "w->here.depth >= w->t.max_depth",
        by="scan_tree",
    ),
    Mutant(
        "tree-room",
        "core/scan_tree.h",
        "if (!tree_reaches(w, w->t.top, length + 2))\n\t\treturn -ENOBUFS;",
        "",
        by="scan_tree",
    ),
    # Attributes taken from the inode, and names found as neighbours
    Mutant("agreed", "kmod/fast/guard.c", "run->held &= ~COSY_HELD_AGREED;", "", by="fast_list"),
    Mutant("agreed-other", "kmod/fast/attributes.c", "&& run->agreed == inode->i_sb;", ";", by="fast_next"),
    Mutant(
        "inode-getattr",
        "kmod/fast/attributes.c",
        "(const void *)inode->i_op->getattr != tmpfs_getattr || is_idmapped_mnt",
        "is_idmapped_mnt",
        by="fast_list",
        harmless="all inodes of tmpfs have the same getattr since Linux 6.0",
    ),
    Mutant("inode-device", "kmod/fast/attributes.c", "likely(!inode->i_rdev)", "1", by="fast_list"),
    Mutant(
        "inode-huge",
        "kmod/fast/attributes.c",
        "!((const struct shmem_sb_info *)inode->i_sb->s_fs_info)->huge",
        "1",
        by="fast_next",
    ),
    Mutant("inode-pages", "kmod/fast/attributes.c", "READ_ONCE(info->swapped) ==", "READ_ONCE(info->swapped) + 1 !="),
    Mutant("next-dirfd", "kmod/fast/lookup.h", "|| run->child_dirfd != dirfd ||", "||", by="fast_next"),
    Mutant(
        "next-prefix",
        "kmod/fast/lookup.h",
        "found->dir == &run->prefix.dir ? COSY_NO_DIRFD : dirfd",
        "dirfd",
        by="fast_next",
    ),
    Mutant("next-pwd", "kmod/fast/lookup.h", "(dirfd == AT_FDCWD && !cosy_pwd_is_kept(run))", "0", by="fast_statx"),
    Mutant(
        "next-name",
        "kmod/fast/lookup.h",
        ": cosy_name_is(next->d_name.name, at, next->d_name.len + 1))",
        ": cosy_name_is(next->d_name.name, at, next->d_name.len))",
        by="fast_next",
    ),
    Mutant(
        "next-user-name",
        "kmod/fast/lookup.h",
        "? cosy_user_name_is(next->d_name.name, at, next->d_name.len + 1)",
        "? cosy_user_name_is(next->d_name.name, at, next->d_name.len)",
        by="fast_next",
    ),
    Mutant(
        "next-parent",
        "kmod/fast/lookup.h",
        "child->d_parent != dir || !cosy_dentry_has_siblings(child)",
        "!cosy_dentry_has_siblings(child)",
        by="race",
        raced=True,
    ),
    Mutant(
        "next-unhashed",
        "kmod/fast/lookup.h",
        "again ? !d_unhashed(next) : cosy_entry_get(next)",
        "again ? true : cosy_entry_get(next)",
        by="fast_next",
    ),
    Mutant(
        "next-refused",
        "kmod/fast/lookup.h",
        "cosy_child_refused(next, follow) != COSY_GUARDS_HOLD",
        "0",
        by="fast_list",
    ),
    Mutant(
        "next-search", "kmod/fast/lookup.h", "error = cosy_may_search(run->child_dir);", "error = 0;", by="fast_list"
    ),
    Mutant("next-changed", "kmod/fast/lookup.h", "read_seqcount_retry(&next->d_seq, seq)", "0", by="held"),
    Mutant(
        "next-mounted",
        "kmod/fast/lookup.h",
        "READ_ONCE(next->d_flags) & DCACHE_MANAGED_DENTRY)",
        "0)",
        by="held",
    ),
    Mutant(
        "scan-asked",
        "kmod/fast/getdents.c",
        "(READ_ONCE(d_inode(scan->dir->dentry)->i_mode) != scan->mode ||\n\t\t     jiffies != scan->asked)",
        "(0)",
        by="held",
    ),
    Mutant("child-drop", "kmod/fast/guard.c", "cosy_child_drop(run);", "", by="fast_list"),
    Mutant("pwd", "kmod/fast/lookup.h", "kept = path_equal(&fs->pwd, &run->pwd);", "kept = true;", by="fast_stat"),
    Mutant("pwd-drop", "kmod/fast/guard.c", "cosy_pwd_drop(run);", "", by="fast_list"),
    # Names of several components
    Mutant(
        "prefix-changed",
        "kmod/fast/prefix.c",
        "!read_seqcount_retry(&entry->d_seq, prefix->seq[i]) &&",
        "",
        by="fast_path",
    ),
    Mutant(
        "prefix-mounted",
        "kmod/fast/prefix.c",
        "&&\n\t       !(READ_ONCE(entry->d_flags) & PREFIX_CARE);",
        ";",
        by="fast_path",
    ),
    Mutant("prefix-search", "kmod/fast/prefix.c", "error = cosy_may_search(&dir);", "error = 0;", by="fast_path"),
    Mutant("prefix-base", "kmod/fast/prefix.c", "!path_equal(&prefix->base, base)", "0", by="fast_path"),
    Mutant("prefix-same", "kmod/fast/prefix.c", "prefix->end[i] < same", "prefix->end[i] <= same", by="fast_path"),
    Mutant("prefix-drop", "kmod/fast/guard.c", "cosy_prefix_drop(run);", "", by="fast_path"),
    # Names that are not there, and those that begin at the root
    Mutant(
        "missing-uncached", "kmod/fast/lookup.h", "d_inode(dir)->i_op->lookup == simple_lookup", "1", by="fast_missing"
    ),
    Mutant(
        "missing-served", "kmod/fast/lookup.h", "d_inode(dir)->i_op->lookup == simple_lookup", "0", by="fast_missing"
    ),
    Mutant(
        "missing-on-way",
        "kmod/fast/prefix.c",
        "return cosy_not_cached(run, dir);",
        "return COSY_ORDINARY;",
        by="fast_missing",
    ),
    Mutant(
        "missing-reached",
        "kmod/fast/lookup.h",
        "found->dir == &run->prefix.dir && !cosy_prefix_holds(run)",
        "0",
        by="held",
    ),
    Mutant("missing-left", "kmod/fast/prefix.c", "error == -ENOENT && !cosy_prefix_holds(run)", "0", by="held"),
    Mutant(
        "root", "kmod/fast/prefix.c", "kept = path_equal(&fs->root, &run->root);", "kept = true;", by="fast_missing"
    ),
    Mutant("root-drop", "kmod/fast/guard.c", "cosy_root_drop(run);", "", by="fast_missing"),
    Mutant("passed", "kmod/fast/fast.c", "#define MISS 2", "#define MISS 0", by="fast_passed"),
    # statx and extended attributes
    Mutant("statx-mask", "kmod/fast/attributes.c", "run->asked == (mask | COSY_ASKED) &&", "", by="fast_statx"),
    Mutant(
        "statx-flags",
        "kmod/fast/attributes.c",
        "return !container_of(inode, struct shmem_inode_info, vfs_inode)->fsflags &&",
        "return",
        by="fast_statx",
    ),
    Mutant(
        "statx-device",
        "kmod/fast/attributes.c",
        "if (unlikely(S_ISBLK(inode->i_mode)))",
        "if (0)",
        harmless="today's kernels ask the device only for fields that are not served",
    ),
    Mutant("statx-served", "kmod/fast/stat.c", "(mask & ~STATX_SERVED) ||", "", by="fast_statx"),
    Mutant("xattr-name", "kmod/fast/xattr.c", "!length || length == MAX_NAME", "0", by="fast_statx"),
    Mutant(
        "xattr-list",
        "kmod/fast/xattr.c",
        "posix_acl_release(acl);\n\treturn cosy_guard_failed(run, COSY_GUARD_CACHED);",
        "posix_acl_release(acl);\n\treturn -ENODATA;",
        harmless="a list that is there is known before: this one was set since",
    ),
    Mutant(
        "xattr-known",
        "kmod/fast/xattr.c",
        "if (unlikely(IS_POSIXACL(inode) && acl))",
        "if (0)",
        harmless="the kernel's own function finds the list, and the security module is asked twice",
    ),
    # Views
    Mutant(
        "view-write",
        "kmod/view/view_write.c",
        "view = cosy_views_write_back_file(",
        "if (0) view = cosy_views_write_back_file(",
        by="view",
    ),
    Mutant("view-read", "kmod/fast/fast.c", "cosy_views_write_back_memory(run, r[2], r[3]);", ";", by="view"),
    Mutant(
        "view-call", "kmod/fast/fast.c", "\telse\n\t\tcosy_views_write_back(run);", "\telse\n\t\treturn;", by="view"
    ),
    Mutant("view-lent-stores", "kmod/view/lend.c", "if (!view || view->stores)", "if (!view)", by="view_lend"),
    Mutant("peer", "kmod/view/lend.c", "if (unlikely(socket->type != SOCK_STREAM))", "if (0)", by="view_lend"),
    # Descriptors
    Mutant(
        "descriptors-call",
        "kmod/run/call.S",
        "\tmovq\t$KNOWN_NONE, RUN_KNOWN(%r11)\n\tmovq\t$KNOWN_NONE, RUN_KNOWN + 8(%r11)\n",
        "",
        by="fast_read",
    ),
    # Effects of a call beside its work
    Mutant(
        "access-time",
        "kmod/fast/page_cache.c",
        "\tif (!access_is_recent(",
        "\tif (0 && !access_is_recent(",
        by="fast_read",
    ),
    Mutant(
        "event",
        "kmod/fast/read.c",
        "\t\tfsnotify_access(file);\n\t\tadd_rchar(current, result);\n\t}\n\tinc_syscr",
        "\t\tadd_rchar(current, result);\n\t}\n\tinc_syscr",
        by="fast_watched",
    ),
    Mutant("accounting", "kmod/fast/page_cache.c", "add_rchar(current, count);", ";", by="fast_read"),
    Mutant(
        "permission-event",
        "kmod/fast/read.c",
        "ssize_t result = rw_verify_area(READ, file, pos, count);",
        "ssize_t result = 0;",
        by="fast_watched",
    ),
    Mutant(
        "held-drop",
        "kmod/fast/guard.c",
        "\tif (run->held)\n\t\tcosy_held_drop(run);\n\tcosy_descriptors_forget",
        "\tcosy_descriptors_forget",
        by="view",
    ),
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
    # Writes into the page cache
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
        "write-largest", "kmod/view/cached_write.c", "rlimit(RLIMIT_FSIZE) == RLIM_INFINITY &&", "", by="fast_write"
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
        by="fast_write",
        disk=True,
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
    # Whole files
    Mutant(
        "file-mode",
        "kmod/fast/whole_file.c",
        "COSY_OP_write_file, 0666)",
        "COSY_OP_write_file, 0600)",
        by="fast_resume",
    ),
    Mutant(
        "file-leave",
        "kmod/fast/whole_file.c",
        "if (run->status != COSY_DONE || cosy_between_many_calls(run, operation))",
        "if (run->status != COSY_DONE)",
        by="fast_resume",
    ),
    Mutant(
        "file-stay",
        "kmod/run/limits.h",
        "return unlikely(cosy_stay_is_over(run)) && cosy_leave_stay(run);",
        "return false;",
        by="fast_resume",
    ),
    Mutant("file-error", "kmod/fast/whole_file.c", "\t\tif (result < 0)\n\t\t\tr[2] = result;\n", "", by="fast_resume"),
    Mutant(
        "file-restart",
        "kmod/fast/whole_file.c",
        "\tif (unlikely(run->status != COSY_DONE))\n\t\treturn;\n",
        "",
        by="fast_resume",
    ),
    Mutant(
        "file-rest",
        "kmod/fast/whole_file.c",
        "while (r[4] && (s64)r[2] >= 0) {",
        "if (r[4] && (s64)r[2] >= 0) {",
        by="fast_resume",
    ),
    Mutant(
        "file-close",
        "kmod/fast/whole_file.c",
        "result < 0 || closed >= 0 ? result : closed",
        "result",
        by="fast_resume",
    ),
    # The walk's calls in the kernel
    Mutant(
        "tree-leave",
        "kmod/fast/scan_tree.c",
        "#define TREE_PAUSES(run)\t\t\t  cosy_between_many_calls(run, COSY_OP_scan_tree)",
        "#define TREE_PAUSES(run)\t\t\t  false",
        by="scan_tree",
    ),
    Mutant(
        "tree-portion",
        "kmod/fast/scan_tree.c",
        "type == DT_UNKNOWN || done >= portion)",
        "type == DT_UNKNOWN)",
        by="scan_tree",
    ),
    Mutant(
        "tree-again",
        "kmod/fast/scan_tree.c",
        "it does not start over. */\n\tif (unlikely(run->status == COSY_LEFT_CALL))",
        "it does not start over. */\n\tif (0)",
        by="scan_tree",
    ),
    Mutant(
        "tree-length",
        "kmod/fast/scan_tree.c",
        "\t\t\t     size > bytes - done)) {",
        "\t\t\t     0)) {",
        by="scan_tree_change",
    ),
    # Waiting and reading
    Mutant("epoll-marked", "core/epoll_read.h", "arrival->data & COSY_ARRIVAL_READ &&", "", by="epoll_read"),
    Mutant(
        "epoll-error", "core/epoll_read.h", "(EPOLL_READ_IN | EPOLL_READ_ERROR))", "EPOLL_READ_IN)", by="epoll_read"
    ),
    Mutant("epoll-share", "core/epoll_read.h", "sizeof(struct cosy_arrival) + 8)", "8)", by="epoll_read"),
    Mutant("epoll-many", "kmod/fast/epoll_read.c", "if ((u64)count > (u32)r[4])", "if (0)", by="epoll_read"),
    Mutant("epoll-next", "kmod/fast/epoll_read.c", "r[5] = COSY_UNDER_WAY | i;", "", by="handover"),
    Mutant(
        "epoll-leave",
        "kmod/fast/epoll_read.c",
        "if (called && cosy_between_many_calls(run, COSY_OP_epoll_read))",
        "if (0)",
        by="handover",
    ),
    Mutant(
        "epoll-writable",
        "kmod/fast/epoll_read.c",
        "if (unlikely(!arrivals_are_writable(run, r[2], r[4]))) {",
        "if (0) {",
        by="epoll_read",
    ),
    Mutant(
        "epoll-result",
        "kmod/fast/epoll_read.c",
        "cosy_memory_write(run, at + offsetof(struct cosy_arrival, result),\n"
        "\t\t\t\t       &arrival.result, sizeof(arrival.result))",
        "cosy_memory_write(run, at, &arrival, sizeof(arrival))",
        by="epoll_read",
    ),
    # Filters
    Mutant(
        "filter-run",
        "kmod/run/filter.c",
        "SYSCALL_WORK_SECCOMP || !cosy_filter_allows(__NR_ioctl)) {",
        "SYSCALL_WORK_SECCOMP) {",
        by="filter",
        harmless="until cosy_leave_filtered changes what leaves, only calls are made that are let through",
    ),
    Mutant(
        "filter-traced",
        "kmod/run/filter.c",
        "if ((work & COSY_TRACED) != SYSCALL_WORK_SECCOMP || ",
        "if (",
        by="trace_event",
    ),
    Mutant(
        "filter-call",
        "kmod/run/filter.c",
        "return cosy_filter_allows(number) ? -1 : (s64)number;",
        "return -1;",
        by="filter",
    ),
    Mutant(
        "filter-part", "kmod/run/filter.c", "if (!cosy_filter_allows(operation_calls[op][i]))", "if (0)", by="filter"
    ),
    Mutant(
        "filter-left",
        "kmod/run/filter.c",
        "if (likely(!(work & SYSCALL_WORK_SECCOMP)) || cosy_filter_allows(__NR_ioctl))",
        "if (1)",
        by="filter",
    ),
    Mutant(
        "filter-read",
        "kmod/run/filter.c",
        "if (!(READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_SECCOMP))",
        "if (1)",
        by="filter",
    ),
    Mutant(
        "filter-number",
        "kmod/run/filter.c",
        "return allowed && number < cosy_filter_calls && test_bit(",
        "return allowed && test_bit(",
        by="filter",
        harmless="LOAD knows no number above 511, and from the kernel's last call to there the bits are zeros",
    ),
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
