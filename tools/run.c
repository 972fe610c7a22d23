// SPDX-License-Identifier: MIT
/*
 * run.c - `cosy run`: starts a program with libcosy-read.so before its C library, or without it
 * where that cannot be done.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../preload/file/policy.h"
#include "command.h"
#include "overlays.h"
#include "policy.h"

/* Exit statuses that shells use: found but cannot be run, and not found. */
enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* The second does all that the first does; it is taken when something is relaxed. */
#define LIBRARY		"libcosy-read.so"
#define RELAXED_LIBRARY "libcosy-relax.so"

static void usage(void)
{
	fputs("usage: cosy run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
	      "\n"
	      "Run PROGRAM, and what it starts, with small file reads served from user space.\n"
	      "\n"
	      "  --stats                when a process ends, print how its files were read, or\n"
	      "                         why nothing was served\n"
	      "  --explain FILE         print what becomes of descriptors of FILE, and why\n"
	      "  --memory=SIZE          let windows take SIZE bytes in each process (32M)\n"
	      "  --alone[=PATTERN,...]  start matching programs, or all, without the library\n"
	      "  --policy FILE          take the rules from FILE, see cosy-run.conf(5)\n"
	      "  --no-daemon            do without the leases that cosyd takes\n"
	      "  --relax=KIND,...       give up something that other processes could observe:\n"
	      "                         trunc, coalesce, reflink\n"
	      "  --help                 print this\n"
	      "\n"
	      "See cosy(1).\n",
	      stdout);
}

/* Looks beside this command, in the build tree or as installed, and where it was configured. */
static bool find_library(const char *name, char *ret)
{
	static const char *const places[] = {"../preload", "../" COSY_LIBDIR, "../lib"};
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len > 0) {
		self[len] = 0;
		slash = strrchr(self, '/');
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(slash - self), self,
				 places[i], name);
			if (realpath(path, ret) && !access(ret, R_OK))
				return true;
		}
	}
	snprintf(path, sizeof(path), COSY_FULL_LIBDIR "/%s", name);
	return realpath(path, ret) && !access(ret, R_OK);
}

/* Finds the file that execvp would run. */
static bool find_program(const char *name, char *ret)
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

/* Says why the dynamic linker of an ELF file would not preload the library; NULL: it would. */
static const char *elf_refusal(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr segment;
	char linker[64] = "";

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
		return "is for another machine than " LIBRARY;
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment)) !=
		    sizeof(segment))
			break;
		if (segment.p_type != PT_INTERP)
			continue;
		if (pread(fd, linker, sizeof(linker) - 1, segment.p_offset) <= 0)
			break;
		return strstr(linker, "ld-linux") ? NULL : "uses another C library than glibc";
	}
	return "is linked statically";
}

/* Does the same for any program; a script is its interpreter's matter. */
static const char *refusal(const char *path)
{
	Elf64_Ehdr header;
	struct stat st;
	const char *why = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		why = "cannot be read";
	else if (st.st_mode & (S_ISUID | S_ISGID))
		why = "runs with its owner's rights (set-user-ID or set-group-ID)";
	else if (pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
		 !memcmp(header.e_ident, ELFMAG, SELFMAG))
		why = elf_refusal(fd, &header);
	if (fd >= 0)
		close(fd);
	return why;
}

/* Appends the library to those preloaded already, which may want to be first. */
static bool preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	bool alone = !others || !*others, done;
	char *list;

	if (asprintf(&list, "%s%s%s", alone ? "" : others, alone ? "" : ":", library) < 0)
		return false;
	done = !setenv("LD_PRELOAD", list, 1);
	free(list);
	return done;
}

/*
 * Keeps a copy of standard error, since statistics come when the program may have closed its own.
 */
static void ask_for_stats(void)
{
	char value[40];
	int fd = fcntl(STDERR_FILENO, F_DUPFD, 1000);

	/* Without a standard error, one of the program's own files may get that number. */
	if (fd < 0 && errno == EBADF)
		return;
	/* The program will be this process. */
	snprintf(value, sizeof(value), "%d,%d", fd < 0 ? STDERR_FILENO : fd, (int)getpid());
	setenv("COSY_READ_STATS", value, 1);
}

static bool relax(const char *list)
{
	size_t good;

	if (policy_relax_list(list, strlen(list), &good) >= 0)
		return !setenv("COSY_READ_RELAX", list, 1);
	fprintf(stderr,
		"cosy run: --relax=%s: at character %zu: it takes trunc, coalesce and reflink, "
		"with commas between\n",
		list, good + 1);
	return false;
}

/* The user's rules come before the administrator's: for each setting the first one counts. */
static bool read_policies(const char *only, struct policy_text *rules)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool has_config = config && *config == '/';
	const char *where = has_config ? config : home ? home : "/";
	char path[PATH_MAX];

	if (only)
		return policy_read(only, false, rules);
	snprintf(path, sizeof(path), "%s%s/cosy/run.conf", where, has_config ? "" : "/.config");
	/* Ignore a home that is another user's, as su and setpriv may leave it. */
	if (access(where, X_OK) && errno == EACCES)
		path[0] = 0;
	return policy_read(path, true, rules) && policy_read("/etc/cosy/run.conf", true, rules);
}

/* The command line, as the user gave it. */
struct invocation {
	const char *library, *policy, *memory;
	struct policy_text rules;
};

static bool ask_to_explain(const char *file)
{
	/* The program may change its directory. */
	char *path = realpath(file, NULL);

	if (!path) {
		fprintf(stderr, "cosy run: %s: %s\n", file, strerror(errno));
		return false;
	}
	setenv("COSY_READ_EXPLAIN", path, 1);
	free(path);
	return true;
}

/* Returns the status to end with, or -1 to go on with the program at argv[optind]. */
static int parse_options(int argc, char **argv, struct invocation *asked)
{
	enum { STATS = 256, NO_DAEMON, EXPLAIN, RELAX, MEMORY, POLICY, ALONE };
	static const struct option options[] = {
		{"stats", no_argument, NULL, STATS},
		{"no-daemon", no_argument, NULL, NO_DAEMON},
		{"explain", required_argument, NULL, EXPLAIN},
		{"relax", required_argument, NULL, RELAX},
		{"memory", required_argument, NULL, MEMORY},
		{"policy", required_argument, NULL, POLICY},
		{"alone", optional_argument, NULL, ALONE},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	static char name[] = "cosy run"; /* getopt's messages begin with it */
	bool good = true;
	int option;

	argv[0] = name;
	while (good && (option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (option) {
		case STATS:
			ask_for_stats();
			break;
		case NO_DAEMON:
			setenv("COSY_READ_DAEMON", "0", 1);
			break;
		case EXPLAIN:
			good = ask_to_explain(optarg);
			break;
		case RELAX:
			good = relax(optarg);
			asked->library = RELAXED_LIBRARY;
			break;
		case MEMORY:
			asked->memory = optarg;
			break;
		case POLICY:
			asked->policy = optarg;
			break;
		case ALONE:
			/* Without a pattern: all, also those that are called by a path. */
			good = policy_leave_alone(optarg ? optarg : "**", &asked->rules);
			break;
		case 'h':
			usage();
			return EXIT_FINE;
		default:
			fprintf(stderr, "Try `cosy run --help`.\n");
			return EXIT_USAGE;
		}
	}
	if (good && optind == argc)
		return command_misused("run", "no program is named");
	return good ? -1 : EXIT_USAGE;
}

/* Hands the rules of the command line, the user and the administrator to the library. */
static int hand_on_rules(struct invocation *asked)
{
	struct policy_text *rules = &asked->rules;

	if (!overlays_switch_off(rules) || !read_policies(asked->policy, rules) ||
	    (asked->memory && !policy_add_memory(asked->memory, rules)))
		return EXIT_USAGE;
	/*
	 * Set it without rules, too: a program that finds it unset has lost them (environment.h).
	 */
	if (setenv(POLICY_VARIABLE, rules->text ? rules->text : "", 1))
		return EXIT_NOT_RUN;
	if (rules->relaxes)
		asked->library = RELAXED_LIBRARY;
	return EXIT_FINE;
}

/* Preloads the library, or says why the program runs without; false: out of memory. */
static bool preload_or_say(const char *name, const char *program)
{
	char library[PATH_MAX];
	const char *why = refusal(program);

	if (why)
		fprintf(stderr, "cosy run: %s %s: it runs as it is\n", program, why);
	else if (!find_library(name, library))
		fprintf(stderr, "cosy run: there is no %s: %s runs as it is\n", name, program);
	else if (strpbrk(library, ": "))
		fprintf(stderr,
			"cosy run: %s cannot be preloaded, since its path has a colon or a space: "
			"%s runs as it is\n",
			library, program);
	else
		return preload(library);
	return true;
}

int command_run(int argc, char **argv)
{
	struct invocation asked = {.library = LIBRARY};
	char program[PATH_MAX];
	int status;

	unsetenv("COSY_READ_STATS");
	unsetenv("COSY_READ_EXPLAIN");
	unsetenv("COSY_READ_RELAX");
	status = parse_options(argc, argv, &asked);
	if (status >= 0)
		return status;
	status = hand_on_rules(&asked);
	if (status != EXIT_FINE)
		return status;
	if (!find_program(argv[optind], program)) {
		fprintf(stderr, "cosy run: there is no program %s%s\n", argv[optind],
			strchr(argv[optind], '/') ? "" : " in PATH");
		return EXIT_NOT_FOUND;
	}
	if (!preload_or_say(asked.library, program))
		return EXIT_NOT_RUN;
	execv(program, argv + optind);
	fprintf(stderr, "cosy run: %s: %s\n", program, strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}
