// SPDX-License-Identifier: MIT
/*
 * run.c - `cosy run`: starts a program with libcosy-run.so before its C library.  If the program
 * cannot take it, starts the program without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/option.h"
#include "../common/overlays.h"
#include "../common/policy.h"
#include "../common/say.h"
#include "../run/file/policy.h"
#include "command.h"
#include "program.h"

/* Exit statuses that shells use: found but cannot be run, and not found. */
enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* The second does all that the first does; it is taken when something is relaxed. */
#define LIBRARY		 RUN_LIBRARY
#define RELAXED_LIBRARY	 "libcosy-run-relax.so"
#define METADATA_LIBRARY "libcosy-run-metadata.so"

static void usage(void)
{
	fputs("usage: cosy run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
	      "\n"
	      "Run PROGRAM, and what it starts, with small file reads served from user space.\n"
	      "\n"
	      "  --stats                when a process ends, print how its files were read, or\n"
	      "                         why nothing was served\n"
	      "  --explain FILE         report whether reads of FILE are served, or why not\n"
	      "  --memory=SIZE          let windows take SIZE bytes in each process (32M)\n"
	      "  --alone[=PATTERN,...]  start matching programs, or all, without the library\n"
	      "  --policy FILE          take the rules from FILE, see cosy-run.conf(5)\n"
	      "  --no-daemon            do without the leases that cosyd takes\n"
	      "  --relax=KIND,...       give up something that other processes could observe:\n"
	      "                         trunc, coalesce, reflink; or none\n"
	      "  --metadata             answer stat from attributes that were read ahead;\n"
	      "                         not together with --relax\n"
	      "  --help                 print this\n"
	      "\n"
	      "See cosy-run(1).\n",
	      stdout);
}

/* Appends the library to those already preloaded, which may need to be first. */
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

/* "DESCRIPTOR,DEVICE,INODE" of standard error, the form that the library reads. */
typedef char standard_error[80];

/*
 * Keeps a copy of standard error for the library, because the program may close its own.  Both may
 * be other files by the time that the library prints, so it compares device and inode.  False:
 * standard error is closed, and one of the program's files may get its number.
 */
static bool keep_standard_error(standard_error ret)
{
	static int kept = -1;
	struct stat st;

	/* The program will not see the file that standard_fill has put there. */
	if ((fcntl(STDERR_FILENO, F_GETFD) & FD_CLOEXEC) || fstat(STDERR_FILENO, &st))
		return false;
	if (kept < 0)
		kept = fcntl(STDERR_FILENO, F_DUPFD, 1000);
	snprintf(ret, sizeof(standard_error), "%d,%ju,%ju", kept < 0 ? STDERR_FILENO : kept,
		 (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return true;
}

static void ask_for_stats(void)
{
	char value[sizeof(standard_error) + 16];
	standard_error to;

	if (!keep_standard_error(to))
		return;
	/* The program will be this process. */
	snprintf(value, sizeof(value), "%s,%d", to, (int)getpid());
	setenv("COSY_RUN_STATS", value, 1);
}

static bool relax(const char *list)
{
	size_t good;

	if (!strcmp(list, "none"))
		return !unsetenv("COSY_RUN_RELAX");
	if (policy_relax_list(list, strlen(list), &good) >= 0)
		return !setenv("COSY_RUN_RELAX", list, 1);
	say("cosy run: --relax=%s: at character %zu: it takes trunc, coalesce and reflink, "
	    "with commas between",
	    list, good + 1);
	return false;
}

/* The user's command line. */
struct invocation {
	const char *library, *policy, *memory;
	struct policy_text rules;
	bool metadata;
};

static bool ask_to_explain(const char *file)
{
	/* The program may change its directory. */
	char *path = realpath(file, NULL), value[PATH_MAX + sizeof(standard_error) + 16];
	standard_error to;
	bool kept = keep_standard_error(to);
	struct stat st;

	if (!path) {
		say("cosy run: %s: %s", file, strerror(errno));
		return false;
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		say("cosy run: %s is no regular file, and no other kind is specialised", path);
	/* The program will be this process. */
	snprintf(value, sizeof(value), "%s,%d,%s", kept ? to : "", (int)getpid(), path);
	free(path);
	return !kept || !setenv("COSY_RUN_EXPLAIN", value, 1);
}

/* Returns the status to end with, or -1 to go on with the program at argv[optind]. */
static int parse_options(int argc, char **argv, struct invocation *asked)
{
	enum { STATS = 256, NO_DAEMON, EXPLAIN, RELAX, MEMORY, POLICY, ALONE, METADATA };
	static const struct option options[] = {
		{"stats", no_argument, NULL, STATS},
		{"no-daemon", no_argument, NULL, NO_DAEMON},
		{"explain", required_argument, NULL, EXPLAIN},
		{"relax", required_argument, NULL, RELAX},
		{"memory", required_argument, NULL, MEMORY},
		{"policy", required_argument, NULL, POLICY},
		{"alone", optional_argument, NULL, ALONE},
		{"metadata", no_argument, NULL, METADATA},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	static const char name[] = "cosy run";
	bool good = true;
	int option;

	opterr = 0;
	while (good && (option = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		switch (option) {
		case STATS:
			ask_for_stats();
			break;
		case NO_DAEMON:
			setenv("COSY_RUN_DAEMON", "0", 1);
			break;
		case EXPLAIN:
			good = ask_to_explain(optarg);
			break;
		case RELAX:
			good = relax(optarg);
			asked->library = strcmp(optarg, "none") ? RELAXED_LIBRARY : LIBRARY;
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
		case METADATA:
			asked->metadata = true;
			break;
		case 'h':
			usage();
			return EXIT_FINE;
		default:
			option_say_wrong(name, argv, option);
			say("Try `cosy run --help`.");
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

	if (!overlays_switch_off(rules) || !policy_read_all(asked->policy, rules) ||
	    (asked->memory && !policy_add_memory(asked->memory, rules)))
		return EXIT_USAGE;
	/*
	 * Set the variable even if there are no rules: a program that finds it unset has lost them
	 * (environment.h).
	 */
	if (setenv(POLICY_VARIABLE, rules->text ? rules->text : "", 1))
		return EXIT_NOT_RUN;
	if (rules->relaxes)
		asked->library = RELAXED_LIBRARY;
	if (!asked->metadata)
		return EXIT_FINE;
	if (!strcmp(asked->library, RELAXED_LIBRARY)) {
		say("cosy run: --metadata cannot be combined with what --relax or a rule relaxes");
		return EXIT_USAGE;
	}
	asked->library = METADATA_LIBRARY;
	return EXIT_FINE;
}

/* Preloads the library, or reports why the program runs without it.  False: out of memory. */
static bool preload_or_say(const char *name, const char *program)
{
	char library[PATH_MAX], refused[PATH_MAX];
	const char *why = program_refusal(program, refused);

	if (why && strcmp(refused, program) != 0)
		say("cosy run: %s is run by %s, which %s: it runs as it is", program, refused, why);
	else if (why)
		say("cosy run: %s %s: it runs as it is", program, why);
	else if (!library_find(name, library))
		say("cosy run: there is no %s: %s runs as it is", name, program);
	else if (strpbrk(library, ": "))
		say("cosy run: %s cannot be preloaded, since its path has a colon or a space: "
		    "%s runs as it is",
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

	unsetenv("COSY_RUN_STATS");
	unsetenv("COSY_RUN_EXPLAIN");
	unsetenv("COSY_RUN_RELAX");
	status = parse_options(argc, argv, &asked);
	if (status >= 0)
		return status;
	status = hand_on_rules(&asked);
	if (status != EXIT_FINE)
		return status;
	if (!program_find(argv[optind], program)) {
		say("cosy run: there is no program %s%s", argv[optind],
		    strchr(argv[optind], '/') ? "" : " in PATH");
		return EXIT_NOT_FOUND;
	}
	if (!preload_or_say(asked.library, program))
		return EXIT_NOT_RUN;
	program_exec(program, argv + optind);
	say("cosy run: %s: %s", program, strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}
