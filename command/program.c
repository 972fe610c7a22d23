// SPDX-License-Identifier: MIT
/* program.c - see program.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../common/path.h"
#include "program.h"

#define SHELL "/bin/sh"

bool program_find(const char *name, char *ret)
{
	const char *path = getenv("PATH");
	struct stat st;

	if (strchr(name, '/'))
		return snprintf(ret, PATH_MAX, "%s", name) < PATH_MAX &&
		       (!access(ret, F_OK) || errno != ENOENT);
	for (path = path ? path : "/bin:/usr/bin"; path; path = strchr(path, ':')) {
		path += *path == ':';
		int len = strcspn(path, ":");

		if (snprintf(ret, PATH_MAX, "%.*s/%s", len ? len : 1, len ? path : ".", name) <
			    PATH_MAX &&
		    !access(ret, X_OK) && !stat(ret, &st) && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

/* True if a dynamic linker is glibc's, by its name or by that of the file it stands for. */
static bool linker_is_glibc(const char *linker)
{
	char real[PATH_MAX];

	return strstr(linker, "ld-linux") || (realpath(linker, real) && strstr(real, "ld-linux"));
}

static const char *elf_refusal(int fd, const Elf64_Ehdr *header)
{
	char linker[PATH_MAX] = "";
	Elf64_Phdr segment;

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
		return "is for another machine than the library";
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment)) !=
		    sizeof(segment))
			break;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz >= sizeof(linker) ||
		    pread(fd, linker, segment.p_filesz, segment.p_offset) <= 0)
			break;
		return linker_is_glibc(linker) ? NULL : "uses another C library than glibc";
	}
	return "is linked statically";
}

/* True if the kernel would give the file's rights to the program, and so ignore LD_PRELOAD. */
static bool gives_rights(int fd, const struct stat *st)
{
	if (st->st_mode & (S_ISUID | S_ISGID))
		return true;
	/* Last, since a filter may end the process for prctl(2). */
	return getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0 &&
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/* Looks into a regular file: see file_refusal. */
static const char *content_refusal(int fd, const struct stat *st, char *interpreter)
{
	/* For an ELF file the rest of them is more than a header. */
	union {
		Elf64_Ehdr header;
		char line[SCRIPT_LINE];
	} begin = {};

	if (pread(fd, begin.line, sizeof(begin.line) - 1, 0) < 2)
		return NULL;
	/* A script's own rights count for nothing. */
	if (script_interpreter(begin.line, interpreter))
		return NULL;
	if (gives_rights(fd, st))
		return "runs with more rights than yours (set-user-ID, set-group-ID or "
		       "capabilities)";
	if (!memcmp(begin.header.e_ident, ELFMAG, SELFMAG))
		return elf_refusal(fd, &begin.header);
	strcpy(interpreter, SHELL);
	return NULL;
}

/* Checks one file.  Sets `interpreter` if the kernel would run that instead, else empties it. */
static const char *file_refusal(const char *path, char *interpreter)
{
	const char *why = NULL;
	struct stat st;
	/* Do not wait for a FIFO's writer: it is no program, and execve will report that. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	*interpreter = 0;
	/* A missing file cannot be run either, and execve will report that. */
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? NULL
									     : "cannot be read";
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		why = content_refusal(fd, &st, interpreter);
	close(fd);
	return why;
}

const char *program_refusal(const char *path, char *refused)
{
	char interpreter[PATH_MAX];
	const char *why;

	snprintf(refused, PATH_MAX, "%s", path);
	why = file_refusal(refused, interpreter);
	for (int i = 0; i < MAX_SCRIPTS && !why && *interpreter; i++) {
		strcpy(refused, interpreter);
		why = file_refusal(refused, interpreter);
	}
	return why;
}

void program_exec(const char *path, char **arguments)
{
	size_t count = 1;
	char **again;

	execv(path, arguments);
	if (errno != ENOEXEC)
		return;
	/* A script without a first line that names its interpreter is the shell's. */
	while (arguments[count - 1])
		count++;
	again = calloc(count + 1, sizeof(*again));
	if (!again)
		return;
	again[0] = (char *)SHELL;
	again[1] = (char *)path;
	memcpy(again + 2, arguments + 1, (count - 1) * sizeof(*again));
	execv(SHELL, again);
	free(again);
	errno = ENOEXEC;
}
