# SPDX-License-Identifier: MIT
"""Marks of coreutils: du and chmod (by gnulib's fts, which find has as well), wc, ls, cp."""

from __future__ import annotations

from packages.edit import Edit, after, before

# gnulib's fts reads a directory's names first and asks for attributes later, one entry at a time.
# The region asks for those of all entries once the names are there.
_STAT_AHEAD = r"""
static void
fts_stat_ahead (FTS *sp, FTSENT *head)
{
  int fd = sp->fts_cwd_fd;

  COSY_START;
  for (FTSENT *p = head; p; p = p->fts_link)
    {
      struct stat *st = p->fts_statp;
      if (p->fts_info != FTS_NSOK || st->st_size != FTS_STAT_REQUIRED)
        continue;
      if (fstatat (fd, p->fts_accpath, st, AT_SYMLINK_NOFOLLOW) == 0)
        p->fts_info = (S_ISDIR (st->st_mode) ? FTS_D : S_ISLNK (st->st_mode) ? FTS_SL
                       : S_ISREG (st->st_mode) ? FTS_F : FTS_DEFAULT);
    }
  COSY_END;
}

"""
_FTS_BUILD = "static FTSENT *\ninternal_function\nfts_build (register FTS *sp, int type)\n{"


def fts(file: str) -> tuple[Edit, ...]:
    """Returns the marks of that copy of gnulib's fts."""
    return (
        after(file, "#include <config.h>\n", "#include <cosy/cosy.h>\n"),
        Edit(file, _FTS_BUILD, _STAT_AHEAD + _FTS_BUILD),
        Edit(
            file,
            "                head = fts_sort(sp, head, nitems);\n        return (head);",
            "                head = fts_sort(sp, head, nitems);\n"
            "        if (type == BREAD && ISSET(FTS_PHYSICAL) && ISSET(FTS_CWDFD) && !ISSET(FTS_NOCHDIR))\n"
            "                fts_stat_ahead (sp, head);\n"
            "        return (head);",
        ),
    )


# du has fts ask for the attributes of directories only, and then asks for those of each file that no
# --exclude names.
_DU = Edit("src/du.c", "  int bit_flags = FTS_NOSTAT;\n", "  int bit_flags = 0;\n")

# wc asks for the attributes of all operands before it reads the first.  It opens, reads and closes
# each in turn; when only lines and bytes are counted the marked one reads up to 64 small files in one
# region, and counts them from there.
_WC_AHEAD = r"""
#define AHEAD 64

/* Operands that are read before their turn.  */
static struct
{
  size_t first, count;
  char const *name[AHEAD];
  size_t size[AHEAD];           /* 0: it is not to be read */
  char const *data[AHEAD];      /* null: it was not read */
  char space[64 << 10];         /* small, since its pages are touched first here */
  char const *at;               /* what the counting goes on with, and how much it is */
  size_t left;
} ahead;

/* Like safe_read.  Set *FROM to where the bytes are; if FROM is null, they are in BUF.  */
extern size_t
wc_read (int fd, void *buf, size_t size, char const **from)
{
  if (from)
    *from = fd < 0 ? ahead.at : buf;
  if (0 <= fd)
    return safe_read (fd, buf, size);
  if (ahead.left < size)
    size = ahead.left;
  if (! from)
    memcpy (buf, ahead.at, size);
  ahead.at += size;
  ahead.left -= size;
  return size;
}

/* Read operands from number FIRST on.  */
static void
ahead_read (char *const *file, struct fstatus const *fstatus, size_t first, size_t nfiles)
{
  size_t left = sizeof ahead.space, i;
  char *data = ahead.space;

  for (i = 0; i < AHEAD && first + i < nfiles; i++)
    {
      struct fstatus const *f = &fstatus[first + i];
      ahead.name[i] = file[first + i];
      ahead.data[i] = NULL;
      ahead.size[i] = 0;
      if (! f->failed && (! S_ISREG (f->st.st_mode) || STREQ (file[first + i], "-")))
        {
          /* Its writer may change what comes after it.  */
          i += i == 0;
          break;
        }
      if (f->failed || sizeof ahead.space / 4 < f->st.st_size)
        continue;
      if (left < f->st.st_size)
        break;
      ahead.size[i] = f->st.st_size;
      left -= f->st.st_size;
    }
  ahead.first = first;
  ahead.count = i;

  COSY_START;
  for (i = 0; i < ahead.count; i++)
    {
      size_t size = ahead.size[i];
      if (size == 0)
        continue;
      int fd = open (ahead.name[i], O_RDONLY);
      if (fd < 0)
        continue;
      char end;
      bool good = read (fd, data, size) == size && read (fd, &end, 1) == 0;
      if (close (fd) == 0 && good)
        {
          ahead.data[i] = data;
          data += size;
        }
    }
  COSY_END;
}

/* Return true if operand NUMBER was read, and is to be counted next.  */
static bool
ahead_take (char *const *file, struct fstatus const *fstatus, size_t number, size_t nfiles)
{
  if (nfiles < 2 || ! print_lines || print_words || print_chars || print_linelength)
    return false;
  if (ahead.first + ahead.count <= number)
    ahead_read (file, fstatus, number, nfiles);
  number -= ahead.first;
  ahead.at = ahead.data[number];
  ahead.left = ahead.size[number];
  return ahead.at;
}

"""
_WC_READ = "extern size_t wc_read (int fd, void *buf, size_t size, char const **from);\n"
_WC = (
    after("src/wc.c", "#include <config.h>\n", "#include <cosy/cosy.h>\n"),
    Edit(
        "src/wc.c",
        "      for (size_t i = 0; i < nfiles; i++)\n        fstatus[i].failed = (! file[i]",
        "      COSY_START;\n      for (size_t i = 0; i < nfiles; i++)\n        fstatus[i].failed = (! file[i]",
    ),
    Edit(
        "src/wc.c",
        "                             : stat (file[i], &fstatus[i].st));\n",
        "                             : stat (file[i], &fstatus[i].st));\n      COSY_END;\n",
    ),
    before(
        "src/wc.c",
        "static bool\nwc_lines (char const *file, int fd, uintmax_t *lines_out, uintmax_t *bytes_out)\n{",
        _WC_AHEAD.lstrip("\n"),
    ),
    Edit(
        "src/wc.c",
        "safe_read (fd, buf, BUFFER_SIZE)) > 0)\n    {\n\n      if (bytes_read == SAFE_READ_ERROR)",
        "wc_read (fd, buf, BUFFER_SIZE, NULL)) > 0)\n    {\n\n      if (bytes_read == SAFE_READ_ERROR)",
    ),
    after("src/wc_avx2.c", '#include "safe-read.h"\n', _WC_READ),
    after("src/wc_avx2.c", "  __m256i *datap;\n", "  char const *from;\n"),
    Edit(
        "src/wc_avx2.c", "safe_read (fd, avx_buf, sizeof (avx_buf))", "wc_read (fd, avx_buf, sizeof (avx_buf), &from)"
    ),
    Edit(
        "src/wc_avx2.c",
        "      datap = avx_buf;\n      char *end = ((char *)avx_buf) + bytes_read;\n",
        "      datap = (__m256i *)from;\n      char const *end = from + bytes_read;\n",
    ),
    Edit("src/wc_avx2.c", "_mm256_load_si256 (datap);", "_mm256_loadu_si256 (datap);"),
    Edit("src/wc_avx2.c", "_mm256_load_si256 (datap + 1);", "_mm256_loadu_si256 (datap + 1);"),
    Edit(
        "src/wc.c",
        "  if (!count_bytes || count_chars || print_lines || count_complicated)\n",
        "  if (0 <= fd && (!count_bytes || count_chars || print_lines || count_complicated))\n",
    ),
    Edit(
        "src/wc.c",
        "      else\n        ok &= wc_file (file_name, &fstatus[nfiles ? i : 0]);\n",
        "      else if (ahead_take (files, fstatus, i, nfiles))\n"
        "        ok &= wc (-1, file_name, &fstatus[i], 0);\n"
        "      else\n        ok &= wc_file (file_name, &fstatus[nfiles ? i : 0]);\n",
    ),
)

# ls -l asks for the attributes of each name that it reads and whether there is an access control list.
# The marked one reads up to 128 names first.
_LS_AHEAD = r"""
#define AHEAD 128

/* Entries of a directory whose attributes are asked for together.  */
static struct
{
  size_t count;
  size_t at;                    /* the one that gobble_file adds */
  bool on;                      /* gobble_file adds one of these */
  bool no_acls;                 /* the file system has none */
  char *space;                  /* their names */
  size_t used, size;
  size_t full_name[AHEAD];      /* from the beginning of space */
  size_t name[AHEAD];
  enum filetype type[AHEAD];
  ino_t inode[AHEAD];
  int failed[AHEAD];
  int no_acl[AHEAD];
  struct statx stx[AHEAD];
} ahead;

static void
ahead_ask (void)
{
  unsigned int mask = calc_req_mask ();
  char const *space = ahead.space;
  bool acls = !ahead.no_acls;

  COSY_START;
  for (size_t i = 0; i < ahead.count; i++)
    {
      char const *name = space + ahead.full_name[i];
      ahead.no_acl[i] = 0;
      if (statx (AT_FDCWD, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, &ahead.stx[i]) != 0)
        {
          ahead.failed[i] = errno;
          continue;
        }
      ahead.failed[i] = 0;
      unsigned int type = ahead.stx[i].stx_mode & S_IFMT;
      if (acls && type != S_IFLNK && getxattr (name, "system.posix_acl_access", NULL, 0) < 0)
        {
          ahead.no_acl[i] = errno;
          if (type == S_IFDIR && errno == ENODATA
              && getxattr (name, "system.posix_acl_default", NULL, 0) >= 0)
            ahead.no_acl[i] = 0;
        }
    }
  COSY_END;
}

/* Like do_lstat of the entry that gobble_file adds.  */
static int
ahead_lstat (struct stat *st)
{
  if (ahead.failed[ahead.at])
    {
      errno = ahead.failed[ahead.at];
      return -1;
    }
  statx_to_stat (&ahead.stx[ahead.at], st);
  return 0;
}

static void
ahead_add (char const *dirname, char const *name, enum filetype type, ino_t inode)
{
  size_t dirlen = STREQ (dirname, ".") ? 0 : strlen (dirname), size = strlen (name) + 1;
  while (ahead.size - ahead.used < dirlen + 1 + size)
    ahead.space = x2realloc (ahead.space, &ahead.size);
  size_t i = ahead.count++;
  ahead.full_name[i] = ahead.used;
  memcpy (ahead.space + ahead.used, dirname, dirlen);
  ahead.used += dirlen;
  if (dirlen && dirname[dirlen - 1] != '/')
    ahead.space[ahead.used++] = '/';
  ahead.name[i] = ahead.used;
  memcpy (ahead.space + ahead.used, name, size);
  ahead.used += size;
  ahead.type[i] = type;
  ahead.inode[i] = inode;
}

/* Add what was read to the table of files; return its blocks.  */
static uintmax_t
ahead_gobble (char const *dirname)
{
  uintmax_t blocks = 0;

  ahead_ask ();
  ahead.on = true;
  for (ahead.at = 0; ahead.at < ahead.count; ahead.at++)
    blocks += gobble_file (ahead.space + ahead.name[ahead.at], ahead.type[ahead.at],
                           ahead.inode[ahead.at], false, dirname);
  ahead.on = false;
  ahead.count = ahead.used = 0;
  return blocks;
}

"""
_LS = (
    after("src/ls.c", "#include <config.h>\n", "#include <cosy/cosy.h>\n"),
    after("src/ls.c", '#include "statx.h"\n', "#include <sys/xattr.h>\n"),
    before("src/ls.c", "/* Read directory NAME, and list the files in it.\n", _LS_AHEAD.lstrip("\n")),
    Edit(
        "src/ls.c",
        "              total_blocks += gobble_file (next->d_name, type,",
        "              if (format == long_format && dereference != DEREF_ALWAYS\n"
        "                  && !print_hyperlink && time_type != time_btime && *name)\n"
        "                {\n"
        "                  ahead_add (name, next->d_name, type, RELIABLE_D_INO (next));\n"
        "                  if (ahead.count == AHEAD)\n"
        "                    total_blocks += ahead_gobble (name);\n"
        "                  process_signals ();\n"
        "                  continue;\n"
        "                }\n"
        "              total_blocks += gobble_file (next->d_name, type,",
    ),
    before("src/ls.c", "  if (closedir (dirp) != 0)\n", "  total_blocks += ahead_gobble (name);\n\n"),
    Edit(
        "src/ls.c",
        "      if (name[0] == '/' || dirname[0] == 0)\n        full_name = (char *) name;\n",
        "      if (ahead.on)\n        full_name = ahead.space + ahead.full_name[ahead.at];\n"
        "      else if (name[0] == '/' || dirname[0] == 0)\n        full_name = (char *) name;\n",
    ),
    Edit(
        "src/ls.c",
        "          err = do_lstat (full_name, &f->stat);\n          do_deref = false;",
        "          err = ahead.on ? ahead_lstat (&f->stat) : do_lstat (full_name, &f->stat);\n"
        "          do_deref = false;",
    ),
    Edit(
        "src/ls.c",
        "  int n = file_has_acl (file, &f->stat);\n",
        "  int n = 0;\n"
        "  if (ahead.on && ahead.no_acl[ahead.at] == ENODATA)\n"
        "    errno = ENODATA;\n"
        "  else\n"
        "    n = file_has_acl (file, &f->stat);\n",
    ),
    Edit(
        "src/ls.c",
        "  if (n <= 0 && errno_unsupported (errno))\n    unsupported_device = f->stat.st_dev;\n  return n;",
        "  if (n <= 0 && errno_unsupported (errno))\n    {\n      unsupported_device = f->stat.st_dev;\n"
        "      ahead.no_acls = true;\n    }\n  return n;",
    ),
)

# cp -r without options copies each regular file of a directory by the same calls.  The marked one
# copies up to 64 in one region, and leaves to the code as it was what is not a plain file or fails.
_CP_AHEAD = r"""
#define AHEAD 64

/* Regular files of a directory that are copied together.  */
static struct
{
  size_t count;
  char const *src[AHEAD];
  char const *dst_relname[AHEAD];
  bool done[AHEAD];
  struct stat st[AHEAD];
  char space[32 << 10];         /* the names */
  size_t used;
} ahead;

/* Add the name of ENTRY in a directory, whose own name with a slash is the first SIZE bytes of DIR.  */
static char const *
ahead_name (char const *dir, size_t size, char const *entry)
{
  char *name = ahead.space + ahead.used;
  size_t length = strlen (entry) + 1;

  memcpy (name, dir, size);
  memcpy (name + size, entry, length);
  ahead.used += size + length;
  return name;
}

static void
ahead_copy (int dst_dirfd, bool follow)
{
  int follow_flag = follow ? 0 : AT_SYMLINK_NOFOLLOW, open_flag = follow ? 0 : O_NOFOLLOW;

  COSY_START;
  for (size_t i = 0; i < ahead.count; i++)
    {
      struct stat *st = &ahead.st[i], opened;
      ahead.done[i] = false;
      if (fstatat (AT_FDCWD, ahead.src[i], st, follow_flag) != 0)
        continue;
      mode_t mode = st->st_mode;
      off_t size = st->st_size, left = size;
      if (!S_ISREG (mode) || size == 0 || st->st_blocks < size / 512)
        continue;
      int in = openat (AT_FDCWD, ahead.src[i], O_RDONLY | open_flag);
      if (in < 0)
        continue;
      bool good = fstat (in, &opened) == 0 && opened.st_ino == st->st_ino && opened.st_dev == st->st_dev;
      int out = good ? openat (dst_dirfd, ahead.dst_relname[i], O_WRONLY | O_CREAT | O_EXCL, mode & 0777) : -1;
      if (out >= 0)
        {
          if (ioctl (out, _IOW (0x94, 9, int), in) == 0)
            left = 0;
          else if (fstat (out, &opened) == 0)
            {
              ssize_t copied;
              posix_fadvise (in, 0, 0, POSIX_FADV_SEQUENTIAL);
              while ((copied = copy_file_range (in, NULL, out, NULL, 1 << 30, 0)) > 0)
                left -= copied;
              if (copied < 0)
                left = size;
            }
          ahead.done[i] = (close (out) == 0) & (left <= 0) & (in > 2) & (out > 2);
          if (!ahead.done[i])
            unlinkat (dst_dirfd, ahead.dst_relname[i], 0);
        }
      close (in);
    }
  COSY_END;
}

"""
_CP = (
    after("src/copy.c", "#include <config.h>\n", "#include <cosy/cosy.h>\n"),
    after(
        "src/copy.c",
        "#include <selinux/selinux.h>\n",
        "#include <fcntl.h>\n#include <limits.h>\n#include <stdbool.h>\n#include <string.h>\n"
        "#include <sys/stat.h>\n#include <unistd.h>\n" + _CP_AHEAD,
    ),
    Edit(
        "src/copy.c",
        """  bool new_first_dir_created = false;
  namep = name_space;
  while (*namep != '\\0')
    {
      bool local_copy_into_self;
      char *src_name = file_name_concat (src_name_in, namep, NULL);
      char *dst_name = file_name_concat (dst_name_in, namep, NULL);
""",
        """  bool new_first_dir_created = false;
  bool plain = (new_dst && !x->move_mode && x->backup_type == no_backups && !x->hard_link
                && !x->symbolic_link && !x->preserve_ownership && !x->preserve_mode
                && !x->preserve_timestamps && !x->explicit_no_preserve_mode && !x->preserve_links
                && !x->preserve_xattr && !x->preserve_security_context && !x->set_security_context
                && !x->set_mode && !x->update && !x->verbose && x->data_copy_required
                && x->reflink_mode == REFLINK_AUTO && x->sparse_mode == SPARSE_AUTO);
  char *src_dir = file_name_concat (src_name_in, ".", NULL);
  char *dst_dir = file_name_concat (dst_name_in, ".", NULL);
  size_t src_size = strlen (src_dir) - 1, dst_size = strlen (dst_dir) - 1;
  size_t most = src_size + dst_size + 2 * (NAME_MAX + 1);
  plain &= most <= sizeof ahead.space;
  char const *end = name_space;
  bool done[AHEAD];
  size_t at = 0;
  namep = name_space;
  while (*namep != '\\0')
    {
      if (plain && end <= namep)
        {
          ahead.count = ahead.used = 0;
          for (end = namep; *end && ahead.count < AHEAD && most <= sizeof ahead.space - ahead.used;
               end += strlen (end) + 1)
            {
              ahead.src[ahead.count] = ahead_name (src_dir, src_size, end);
              ahead.dst_relname[ahead.count++]
                = ahead_name (dst_dir, dst_size, end) + (dst_relname_in - dst_name_in);
            }
          ahead_copy (dst_dirfd, non_command_line_options.dereference != DEREF_NEVER);
          memcpy (done, ahead.done, sizeof done);
          at = 0;
        }
      if (plain && done[at++])
        {
          new_first_dir_created |= *first_dir_created_per_command_line_arg;
          namep += strlen (namep) + 1;
          continue;
        }
      bool local_copy_into_self;
      char *src_name = file_name_concat (src_name_in, namep, NULL);
      char *dst_name = file_name_concat (dst_name_in, namep, NULL);
""",
    ),
    before(
        "src/copy.c",
        "  free (name_space);\n  *first_dir_created_per_command_line_arg = new_first_dir_created;\n",
        "  free (dst_dir);\n  free (src_dir);\n",
    ),
)

# chmod -R changes the mode of each entry when it comes.  The marked one notes up to 64 files of a
# directory and changes them together; folders change when they come, since the walk enters them then.
_CHMOD_AHEAD = r"""
#define AHEAD 64

/* Files whose modes are changed together.  */
static struct
{
  size_t count;
  int dir;
  char const *name[AHEAD];      /* the end of full_name */
  mode_t mode[AHEAD];
  int failed[AHEAD];
  char const *full_name[AHEAD];
  char space[32 << 10];         /* the names */
  size_t used;
} ahead;

/* Change the modes that were noted.  Return true if successful.  */
static bool
ahead_change (void)
{
  bool ok = true;
  int dir = ahead.dir;

  if (ahead.count == 0)
    return true;
  COSY_START;
  for (size_t i = 0; i < ahead.count; i++)
    ahead.failed[i] = fchmodat (dir, ahead.name[i], ahead.mode[i], 0) ? errno : 0;
  COSY_END;
  for (size_t i = 0; i < ahead.count; i++)
    if (ahead.failed[i])
      {
        if (! force_silent)
          error (0, ahead.failed[i], _("changing permissions of %s"), quoteaf (ahead.full_name[i]));
        ok = false;
      }
  ahead.count = ahead.used = 0;
  return ok;
}

/* Note the mode of a file.  Return false if it is to be changed at once.  */
static bool
ahead_note (FTS *fts, FTSENT *ent, mode_t mode)
{
  size_t length = ent->fts_pathlen, i = ahead.count;
  char *path = ahead.space + ahead.used;
  if (ent->fts_info != FTS_F || verbosity != V_off || diagnose_surprises || PATH_MAX <= length)
    return false;
  memcpy (path, ent->fts_path, length + 1);
  ahead.dir = fts->fts_cwd_fd;
  ahead.name[i] = path + length - (ent->fts_level ? ent->fts_namelen : length);
  ahead.mode[i] = mode;
  ahead.full_name[i] = path;
  ahead.used += length + 1;
  ahead.count++;
  return true;
}

"""
_CHMOD = (
    after("src/chmod.c", "#include <config.h>\n", "#include <cosy/cosy.h>\n"),
    before("src/chmod.c", "/* Change the mode of FILE.\n", _CHMOD_AHEAD.lstrip("\n")),
    Edit(
        "src/chmod.c",
        "      if (chmodat (fts->fts_cwd_fd, file, ch.new_mode) == 0)\n",
        "      if (ahead_note (fts, ent, ch.new_mode))\n"
        "        return true;\n"
        "      if (chmodat (fts->fts_cwd_fd, file, ch.new_mode) == 0)\n",
    ),
    Edit(
        "src/chmod.c",
        "      ok &= process_file (fts, ent);\n",
        "      if (ent->fts_info != FTS_F)\n"
        "        ok &= ahead_change ();\n"
        "      ok &= process_file (fts, ent);\n"
        "      /* fts closes the directory when it leaves it.  */\n"
        "      if (ahead.count == AHEAD || sizeof ahead.space - ahead.used < PATH_MAX || !ent->fts_link)\n"
        "        ok &= ahead_change ();\n",
    ),
    before("src/chmod.c", "  if (fts_close (fts) != 0)\n", "  ok &= ahead_change ();\n"),
)

EDITS = (*fts("lib/fts.c"), _DU, *_WC, *_CHMOD, *_LS, *_CP)
