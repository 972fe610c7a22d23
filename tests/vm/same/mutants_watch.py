# SPDX-License-Identifier: MIT
"""Guards of metadata windows: hooks, registrations, admission and the checks of a READ."""

from mutant import Mutant

MUTANTS = [
    # Hooks: what the self-test notices leaves no watchers
    Mutant("watch-setattr", "kmod/watch/hooks.c", '\ttrace(DENTRY, op->setattr, "setattr");\n', "", by="watch_guard"),
    Mutant(
        "watch-link",
        "kmod/watch/hooks.c",
        "HOOK(hook_link, { note_entry(ARGUMENT(1, struct inode *), ARGUMENT(0, struct dentry *)); })",
        "HOOK(hook_link, { cosy_watch_note(ARGUMENT(1, struct inode *), COSY_WATCH_CONTENTS); })",
        by="watch_guard",
    ),
    Mutant("watch-number", "kmod/watch/hooks.c", "\t\tcosy_watch_note_numbers();\n", "\t\t;\n", by="watch_guard"),
    Mutant(
        "watch-unshare",
        "kmod/watch/hooks.c",
        '\ttrace_named(PROCESS, "__x64_sys_unshare", false);\n',
        "",
        by="watch_guard",
    ),
    Mutant("watch-clone", "kmod/watch/hooks.c", "\tif (likely(!shared))", "\tif (1)", by="watch_attack"),
    Mutant(
        "watch-seccomp",
        "kmod/watch/hooks.c",
        "(u32)CALL_ARGUMENT(di) <= SECCOMP_SET_MODE_FILTER",
        "(u32)CALL_ARGUMENT(di) < SECCOMP_SET_MODE_FILTER",
        by="watch_attack",
    ),
    Mutant(
        "watch-seccomp-half",
        "kmod/watch/hooks.c",
        "(u32)CALL_ARGUMENT(di) <= SECCOMP_SET_MODE_FILTER",
        "CALL_ARGUMENT(di) <= SECCOMP_SET_MODE_FILTER",
        by="watch_attack",
    ),
    Mutant(
        "watch-thread",
        "kmod/watch/watcher.c",
        "if (task_tgid(current) != watcher->process)",
        "if (0)",
        by="watch_attack",
    ),
    Mutant(
        "watch-prctl",
        "kmod/watch/hooks.c",
        "(int)CALL_ARGUMENT(di) == PR_SET_SECCOMP",
        "(int)CALL_ARGUMENT(di) == PR_GET_SECCOMP",
        by="watch_attack",
    ),
    Mutant(
        "watch-close_range",
        "kmod/watch/hooks.c",
        "CALL_ARGUMENT(dx) & CLOSE_RANGE_UNSHARE",
        "CALL_ARGUMENT(dx) & CLOSE_RANGE_CLOEXEC",
        by="watch_attack",
    ),
    # Registrations
    Mutant(
        "watch-directory",
        "kmod/watch/watcher.c",
        "\tword_change(watcher, COSY_WATCH_WAY);\n\tif (current->fs",
        "\tif (current->fs",
        by="watch_guard",
    ),
    Mutant("watch-own-slot", "kmod/watch/watcher.c", "\tif (own) {\n", "\tif (0) {\n", by="watch_attack"),
    Mutant("watch-bucket", "kmod/watch/watcher.c", "if (bucket_has_room(bucket, slot->watcher))", "if (1)", by="watch_attack"),
    Mutant("watch-share", "kmod/watch/watcher.c", "return own < BUCKET_SHARE &&", "return", by="watch_attack"),
    Mutant(
        "watch-silent",
        "kmod/watch/watcher.c",
        "return READ_ONCE(slot->watcher->tick) - slot->tick >= COSY_WATCH_TICKS;",
        "return false;",
        by="watch_attack",
    ),
    Mutant(
        "watch-way-kept",
        "kmod/watch/watcher.c",
        "ways[i].reading == watcher->readings;",
        "steps > COSY_WATCH_WAYS;",
        harmless="way_check gives up, and the next READ registers it",
    ),
    Mutant(
        "watch-word-first",
        "kmod/watch/watcher.c",
        "\t\tword_change(slot->watcher, slot->word);\n"
        "\t\tsmp_mb__after_atomic();\n\t\tbucket_drop(bucket, slot);\n",
        "\t\tbucket_drop(bucket, slot);\n"
        "\t\tsmp_mb__after_atomic();\n\t\tword_change(slot->watcher, slot->word);\n",
        out_of_reach="another processor's change between two instructions",
    ),
    # A READ's checks
    Mutant(
        "watch-mount-point",
        "kmod/watch/children.c",
        "if (follow_up(&at) && cosy_watch_mount_is_own(at.mnt))\n\t\t\t\terror = visit(r, d_inode(at.dentry));",
        "if (follow_up(&at) && cosy_watch_mount_is_own(at.mnt))\n\t\t\t\terror = 0;",
        by="watch_attack",
    ),
    Mutant(
        "watch-listed",
        "kmod/watch/children.c",
        "watcher->listed_word == read->dir_word && watcher->listed_value == read->dir_value &&",
        "watcher->listed_word == read->dir_word &&",
        by="watch_attack",
    ),
    Mutant(
        "watch-may-list",
        "kmod/watch/children.c",
        "\terror = path_permission(&r->dir, MAY_READ | MAY_OPEN);\n",
        "\terror = 0;\n",
        by="watch_attack",
    ),
    Mutant(
        "watch-may-search",
        "kmod/watch/children.c",
        "\terror = path_permission(&r->dir, MAY_EXEC);\n",
        "\terror = 0;\n",
        by="watch_attack",
    ),
    Mutant(
        "watch-no-event",
        "kmod/compat/compat.h",
        "O_RDONLY | O_DIRECTORY | __FMODE_NONOTIFY",
        "O_RDONLY | O_DIRECTORY",
        by="watch_attack",
    ),
    Mutant(
        "watch-listener",
        "kmod/watch/children.c",
        "if (cosy_may_be_denied(r->dir.mnt->mnt_sb))",
        "if (0)",
        by="watch_attack",
    ),
    Mutant(
        "watch-observed",
        "kmod/watch/process.c",
        "if (work || thread_group_empty(current))\n\t\treturn work;",
        "return false;",
        by="watch_attack",
    ),
    Mutant(
        "watch-observed-thread",
        "kmod/watch/process.c",
        "\t\twork |= READ_ONCE(task_thread_info(thread)->syscall_work);\n",
        "\t\t;\n",
        by="watch_attack",
    ),
    Mutant("watch-maps", "kmod/watch/process.c", "if (!ids_are_mapped())", "if (0)", by="watch_attack"),
    Mutant(
        "watch-child",
        "kmod/watch/descriptor.c",
        "fault->vma->vm_mm == watcher->mm ?",
        "fault->vma->vm_mm ?",
        by="watch_attack",
    ),
    # Admission
    Mutant("watch-readers", "kmod/watch/admit.c", "atomic_read(&inode->i_readcount) > 0", "0", by="watch_guard"),
    Mutant("watch-writers", "kmod/watch/admit.c", "atomic_read(&inode->i_writecount) > 0", "0", by="watch_guard"),
    Mutant(
        "watch-holes",
        "kmod/watch/admit.c",
        "blocks << SECTOR_SHIFT >= (u64)i_size_read(inode)",
        "true",
        by="watch_guard",
    ),
    Mutant(
        "watch-dirty",
        "kmod/watch/admit.c",
        "!mapping_tagged(mapping, PAGECACHE_TAG_DIRTY)",
        "true",
        by="watch_guard",
        disk=True,
    ),
    Mutant(
        "watch-link-kind",
        "kmod/watch/admit.c",
        "stable = S_ISDIR(inode->i_mode) && cosy_hooks_see_directory(inode);",
        "stable = true;",
        by="watch_guard",
    ),
]
