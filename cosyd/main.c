// SPDX-License-Identifier: MIT
/*
 * main.c - cosyd, the lease daemon: starts its two processes.  The keeper has the leases,
 * and the capability to take them; the front talks to clients, and has none.  When either
 * ends, so does the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/option.h"
#include "../common/standard.h"
#include "front.h"
#include "keeper.h"
#include "log.h"
#include "protocol.h"

#define BACKLOG 128
/* The descriptor that systemd passes. */
#define PASSED_SOCKET 3

enum { EXIT_USAGE = 2 };

struct options {
	const char *socket;
	struct slots_options keeper;
	struct front_options front;
};

static void usage(void)
{
	printf("usage: cosyd [--socket PATH] [--user-connections N] [--user-files N]\n"
	       "             [--hold-off MS] [--deadline MS] [--verbose]\n"
	       "\n"
	       "Take read leases for `cosy run` on files that its users may read but do not own.\n"
	       "\n"
	       "  --socket PATH          listen at PATH instead of the socket that systemd passes\n"
	       "                         or " COSYD_SOCKET "\n"
	       "  --user-connections N   limit each user to N connections (128)\n"
	       "  --user-files N         limit each user to N leased files at a time (1024)\n"
	       "  --hold-off MS          after a write, grant no lease on the file for MS (100)\n"
	       "  --deadline MS          end cosyd if it is stopped for MS with leases (10000)\n"
	       "  --verbose              report leases granted and returned, and clients refused\n"
	       "  --help                 print this\n"
	       "  --version              print the version\n"
	       "\n"
	       "See cosyd(8).\n");
}

/* Prints the error and ends. */
_Noreturn static void usage_wrong(void)
{
	fputs("Try `cosyd --help`.\n", stderr);
	exit(EXIT_USAGE);
}

/* Returns an option's number, from 1 (0 if `zero`) to a million. */
static unsigned int option_number(const char *option, const char *text, bool zero)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > 1000000 || (!value && !zero)) {
		log_line("--%s %s: give a number from %d to 1000000", option, text, !zero);
		usage_wrong();
	}
	return value;
}

static struct options cosyd_options(int argc, char **argv)
{
	enum { SOCKET = 256, CONNECTIONS, USER_FILES, HOLD_OFF, DEADLINE, VERBOSE, HELP, VERSION };
	static const struct option names[] = {
		{"socket", required_argument, NULL, SOCKET},
		{"user-connections", required_argument, NULL, CONNECTIONS},
		{"user-files", required_argument, NULL, USER_FILES},
		{"hold-off", required_argument, NULL, HOLD_OFF},
		{"deadline", required_argument, NULL, DEADLINE},
		{"verbose", no_argument, NULL, VERBOSE},
		{"help", no_argument, NULL, HELP},
		{"version", no_argument, NULL, VERSION},
		{},
	};
	struct options ret = {
		.keeper = {.hold_off = 100, .deadline = 10000},
		.front.limits = {.connections = 128, .files = 1024},
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", names, NULL)) != -1) {
		switch (option) {
		case SOCKET:
			ret.socket = optarg;
			break;
		case CONNECTIONS:
			ret.front.limits.connections =
				option_number("user-connections", optarg, false);
			break;
		case USER_FILES:
			ret.front.limits.files = option_number("user-files", optarg, false);
			break;
		case HOLD_OFF:
			ret.keeper.hold_off = option_number("hold-off", optarg, true);
			break;
		case DEADLINE:
			ret.keeper.deadline = option_number("deadline", optarg, false);
			break;
		case VERBOSE:
			ret.keeper.verbose = ret.front.verbose = true;
			break;
		case HELP:
			usage();
			exit(EXIT_SUCCESS);
		case VERSION:
			printf("cosyd %s\n", COSY_PROJECT_VERSION);
			exit(EXIT_SUCCESS);
		default:
			option_say_wrong("cosyd", argv, option);
			usage_wrong();
		}
	}
	if (optind < argc) {
		log_line("unexpected argument: %s", argv[optind]);
		usage_wrong();
	}
	return ret;
}

static void cosyd_fail(const char *what)
{
	log_line("%s: %s", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* Returns the socket that systemd listens on (sd_listen_fds(3)), or -1. */
static int socket_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

	if (!pid || !count || atoi(pid) != getpid() || atoi(count) != 1)
		return -1;
	return fcntl(PASSED_SOCKET, F_SETFD, FD_CLOEXEC) ? -1 : PASSED_SOCKET;
}

/* Removes the socket of an earlier daemon, which does not answer.  Exits if one answers. */
static void socket_remove_stale(const struct sockaddr_un *address)
{
	int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	/* A file that is no socket also refuses a connection. */
	if (!lstat(address->sun_path, &st) && !S_ISSOCK(st.st_mode)) {
		log_line("%s: not a socket", address->sun_path);
		exit(EXIT_FAILURE);
	}
	if (probe < 0 || !connect(probe, (const struct sockaddr *)address, sizeof(*address)) ||
	    errno == EAGAIN) {
		errno = EADDRINUSE;
		cosyd_fail(address->sun_path);
	}
	if (errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(probe);
}

/*
 * Keeps other daemons from the socket until the result is closed: else of two that find a stale one
 * the second may remove that of the first.
 */
static int socket_lock(const char *path)
{
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".lock")];
	int lock;

	snprintf(name, sizeof(name), "%s.lock", path);
	lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX))
		cosyd_fail(name);
	return lock;
}

static int socket_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	mode_t mask;
	int lock;

	if (!*path) {
		log_line("--socket takes a path");
		exit(EXIT_FAILURE);
	}
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		cosyd_fail(path);
	}
	strcpy(address.sun_path, path);
	lock = socket_lock(path);
	socket_remove_stale(&address);
	/* Let everyone connect: clients prove for each file that they may read it. */
	mask = umask(0);
	if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, BACKLOG))
		cosyd_fail(path);
	umask(mask);
	close(lock);
	return listener;
}

/* Gives up all capabilities but `capability`; -1: all.  True if the process had that one. */
static bool capabilities_keep(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {}, kept[2] = {};
	bool has;

	if (syscall(SYS_capget, &header, data))
		cosyd_fail("capget");
	if (capability >= 0)
		kept[0].permitted = kept[0].effective = data[0].permitted & (1U << capability);
	has = kept[0].permitted;
	if (syscall(SYS_capset, &header, kept) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		cosyd_fail("capset");
	return has;
}

static void keeper_start(int socket, struct cosyd_memory *memory,
			 const struct slots_options *options)
{
	prctl(PR_SET_NAME, "cosyd-keeper");
	if (!capabilities_keep(CAP_LEASE))
		log_line("no CAP_LEASE: only files of user %u can be leased", getuid());
	exit(keeper_run(socket, memory, options));
}

int main(int argc, char **argv)
{
	struct options options;
	int listener, sockets[2], memory_file;
	struct cosyd_memory *memory;
	struct rlimit files;
	pid_t keeper;

	standard_begin("cosyd");
	options = cosyd_options(argc, argv);
	listener = options.socket ? -1 : socket_passed();
	memory_file = memfd_create("cosyd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (listener < 0)
		listener = socket_listen(options.socket ? options.socket : COSYD_SOCKET);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (memory_file < 0 || ftruncate(memory_file, sizeof(*memory)))
		cosyd_fail("memfd_create");
	memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, memory_file, 0);
	/* Seal it: no later mapping can be written, and no page goes away. */
	if (memory == MAP_FAILED ||
	    fcntl(memory_file, F_ADD_SEALS,
		  F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		cosyd_fail("guard memory");
	memory->version = COSYD_VERSION;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		cosyd_fail("socketpair");
	keeper = fork();
	if (keeper < 0)
		cosyd_fail("fork");
	if (!keeper) {
		close(sockets[0]);
		close(listener);
		keeper_start(sockets[1], memory, &options.keeper);
	}
	close(sockets[1]);
	munmap(memory, sizeof(*memory));
	capabilities_keep(-1);
	log_line("ready; the keeper of leases is process %d", keeper);
	front_run(listener, sockets[0], keeper, memory_file, &options.front);
}
