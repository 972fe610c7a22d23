# SPDX-License-Identifier: MIT
"""Marks of tar.

tar c opens, reads and closes one file of a directory after another.  The marked one asks for the
attributes of up to 64 entries, and reads those that are small, in one region, up to the next folder.
"""

from __future__ import annotations

from packages.edit import Edit, after, before

_AHEAD = r"""
#define AHEAD 64

/* An entry of a directory that was asked for, or read, before its turn.  */
struct ahead_file
{
  char const *name;
  bool known;                   /* st is there */
  char *data;                   /* null: it was not read */
  struct stat st;
  struct stat opened;
  struct stat final;
};

static struct
{
  struct tar_stat_info const *parent;
  size_t count, at;
  struct ahead_file file[AHEAD];
  char data[64 << 10];
} ahead;

/* The bytes of the file that dump_regular_file writes, or null.  */
static char const *ahead_bytes;

static bool
ahead_allowed (void)
{
  return ! (dev_null_output || sparse_option || incremental_option
            || interactive_option || remove_files_option
            || atime_preserve_option != no_atime_preserve
            || 0 < acls_option || 0 < xattrs_option
            || 0 < selinux_context_option);
}

/* Ask for ENTRY of PARENT and those after it.  */
static void
ahead_fill (struct tar_stat_info const *parent, char const *entry)
{
  size_t count = 0, left = sizeof ahead.data, i;
  int dirfd = parent->fd, flags = fstatat_flags, open_flags = open_read_flags;
  char *data = ahead.data;

  for (; *entry && count < AHEAD; entry += strlen (entry) + 1)
    ahead.file[count++].name = entry;

  COSY_START;
  for (i = 0; i < count; i++)
    {
      struct ahead_file *a = &ahead.file[i];
      a->known = false;
      a->data = 0;
      if (fstatat (dirfd, a->name, &a->st, flags) != 0)
        continue;
      a->known = true;
      mode_t mode = a->st.st_mode;
      size_t size = a->st.st_size;
      if (S_ISDIR (mode))
        {
          i++;
          break;
        }
      if (! S_ISREG (mode) || size == 0 || sizeof ahead.data / 8 < size)
        continue;
      if (left < size)
        {
          i++;
          break;
        }
      int fd = openat (dirfd, a->name, open_flags);
      if (fd < 0)
        continue;
      if (fstat (fd, &a->opened) == 0 && a->opened.st_size == size
          && read (fd, data, size) == size && fstat (fd, &a->final) == 0)
        {
          a->data = data;
          data += size;
          left -= size;
        }
      close (fd);
    }
  COSY_END;
  ahead.parent = parent;
  ahead.count = i;
  ahead.at = 0;
}

/* Return what is known of NAME of PARENT, or null.  */
static struct ahead_file *
ahead_take (struct tar_stat_info const *parent, char const *name)
{
  if (parent && ahead.parent == parent)
    while (ahead.at < ahead.count)
      {
        struct ahead_file *a = &ahead.file[ahead.at++];
        if (a->name == name)
          return a->known ? a : 0;
      }
  return 0;
}

"""

EDITS = (
    before("src/create.c", "#include <system.h>\n", "#include <cosy/cosy.h>\n"),
    before("src/create.c", "static enum dump_status\ndump_regular_file (int fd,", _AHEAD.lstrip("\n")),
    Edit(
        "src/create.c",
        "      count = (fd <= 0) ? bufsize : blocking_read (fd, blk->buffer, bufsize);\n",
        "      if (ahead_bytes)\n"
        "\t{\n"
        "\t  memcpy (blk->buffer, ahead_bytes, bufsize);\n"
        "\t  ahead_bytes += bufsize;\n"
        "\t  count = bufsize;\n"
        "\t}\n"
        "      else\n"
        "\tcount = (fd <= 0) ? bufsize : blocking_read (fd, blk->buffer, bufsize);\n",
    ),
    after("src/create.c", "\t    name_size = name_len = strlen (name_buf);\n", "\t    ahead.count = ahead.at = 0;\n"),
    Edit(
        "src/create.c",
        "\t\tif (!excluded_name (name_buf, st))\n\t\t  dump_file (st, entry, name_buf);\n",
        "\t\tif (excluded_name (name_buf, st))\n"
        "\t\t  continue;\n"
        "\t\tif ((ahead.parent != st || ahead.at == ahead.count)\n"
        "\t\t    && 0 < st->fd && ahead_allowed ())\n"
        "\t\t  ahead_fill (st, entry);\n"
        "\t\tdump_file (st, entry, name_buf);\n",
    ),
    Edit(
        "src/create.c",
        "\t    free (name_buf);\n\t  }\n\t  break;\n",
        "\t    ahead.count = ahead.at = 0;\n\t    free (name_buf);\n\t  }\n\t  break;\n",
    ),
    after(
        "src/create.c",
        "  int parentfd = top_level ? chdir_fd : parent->fd;\n  void (*diag) (char const *) = 0;\n",
        "  struct ahead_file *known = 0;\n",
    ),
    before(
        "src/create.c",
        "  assign_string (&st->orig_file_name, p);\n  assign_string (&st->file_name,\n",
        "  known = ahead_take (parent, name);\n  ahead_bytes = 0;\n",
    ),
    Edit(
        "src/create.c",
        "  else if (fstatat (parentfd, name, &st->stat, fstatat_flags) != 0)\n    diag = stat_diag;\n"
        "  else if (file_dumpable_p (&st->stat))\n    {\n",
        "  else if (known\n\t   ? (st->stat = known->data ? known->opened : known->st, false)\n"
        "\t   : fstatat (parentfd, name, &st->stat, fstatat_flags) != 0)\n    diag = stat_diag;\n"
        "  else if (known && known->data)\n    ahead_bytes = known->data;\n"
        "  else if (file_dumpable_p (&st->stat))\n    {\n",
    ),
    before(
        "src/create.c",
        "\t  else if (fd == 0)\n\t    {\n\t      if (parentfd < 0 && ! top_level)\n",
        "\t  else if (!is_dir && known && known->data)\n\t    final_stat = known->final;\n",
    ),
)
