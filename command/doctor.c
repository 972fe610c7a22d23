// SPDX-License-Identifier: MIT
/*
 * doctor.c - `cosy doctor`: checks whether a compound would run in this kernel, here and now.
 *
 * The checks go from the outside in; the last one loads and runs a compound.  A check that fails
 * prints advice.  If the other checks depend on it, the list ends there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/cosy.h>

#include "../core/core.h"
#include "../core/costs.h"
#include "process/interpose.h"
#include "process/settings.h"

#include "../common/say.h"
#include "command.h"
#include "leases.h"
#include "refusal.h"

#define DEVICE "/dev/cosy"
#define GROUP  "cosy"

#define LOG_SIZE 200

struct visit {
	int fd;		 /* of the device, -1 before it is open */
	int bad;	 /* checks that failed */
	char first[300]; /* advice: what to do first, "" if there is none */
	struct cosy_version version;
};

/* --- Messages -------------------------------------------------------------------------- */

/* Prints a line that `verdict` begins. */
static void say_verdict(const char *verdict, const char *format, va_list args)
{
	fputs(verdict, stdout);
	say_list(stdout, format, args);
}

__attribute__((format(printf, 1, 2))) static void fine(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_verdict("  ok    ", format, args);
	va_end(args);
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_verdict("  note  ", format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void bad(struct visit *v, const char *format, ...)
{
	va_list args;

	v->bad++;
	va_start(args, format);
	say_verdict("  BAD   ", format, args);
	va_end(args);
}

static void say_advice(const char *format, va_list args)
{
	say_verdict("        -> ", format, args);
}

/* Says what may be done, where nothing is wrong. */
__attribute__((format(printf, 1, 2))) static void suggest(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_advice(format, args);
	va_end(args);
}

/* Prints advice on a check that failed; the last line of the report repeats the first advice. */
__attribute__((format(printf, 2, 3))) static void advise(struct visit *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_advice(format, args);
	va_end(args);
	if (v->first[0])
		return;
	va_start(args, format);
	vsnprintf(v->first, sizeof(v->first), format, args);
	va_end(args);
}

/* --- Small facts ------------------------------------------------------------------------- */

/* Reads the first line of a file of the kernel's, without its newline; false when unreadable. */
static bool read_fact(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got;

	if (!file)
		return false;
	got = fgets(ret, (int)size, file);
	fclose(file);
	if (got)
		ret[strcspn(ret, "\n")] = '\0';
	return got;
}

/* Returns the number after "Name:" in /proc/self/status, or -1. */
static long status_number(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	size_t len = strlen(name);
	char line[200];
	long value = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, len) && line[len] == ':')
			value = strtol(line + len + 1, NULL, 10);
	fclose(file);
	return value;
}

/* --- The checks ---------------------------------------------------------------------------- */

static bool check_mode(struct visit *v)
{
	const char *mode = getenv("COSY_MODE");

	if (!mode || !*mode || !strcmp(mode, "auto") || !strcmp(mode, "kernel"))
		return true;
	bad(v, "COSY_MODE=%s keeps programs of this environment out of the kernel", mode);
	advise(v, "unset COSY_MODE");
	return true;
}

/* Functions of libc in whose place cosycc makes system calls. */
static const char *const wrappers[] = {
#define COSY_WRAP(function, call, args) #function,
#include "../core/ops.def"
	"syscall", "nanosleep",	  "clock_nanosleep", "usleep", "sleep",
	"ppoll",   "sigprocmask", "posix_fadvise",   "mkfifo", "utimensat",
	"remove",  "isatty",	  "getpriority",     "raise",
};
#define WRAPPER_CNT (sizeof(wrappers) / sizeof(*wrappers))

/* The object that defines some of these functions itself, and how many. */
struct interposer {
	struct visit *visit;
	const char *object;
	const char *first; /* function */
	unsigned int count;
};

static void say_interposer(const struct interposer *in)
{
	if (!in->count)
		return;
	if (in->count == 1)
		bad(in->visit, "%s overrides %s()", in->object, in->first);
	else
		bad(in->visit, "%s overrides %s() and %u more functions of libc", in->object,
		    in->first, in->count - 1);
	advise(in->visit,
	       "regions that call one of these run natively: run without it (LD_PRELOAD, "
	       "/etc/ld.so.preload)");
}

static void interposer_found(void *arg, unsigned int function, const char *object, bool checks)
{
	struct interposer *in = arg;

	if (checks)
		return;
	if (in->object != object) {
		say_interposer(in);
		in->object = object;
		in->first = wrappers[function];
		in->count = 0;
	}
	in->count++;
}

/* Checks this process: other processes of this environment have the same libraries preloaded. */
static bool check_functions(struct visit *v)
{
	struct libcosy_function functions[WRAPPER_CNT];
	struct interposer in = {.visit = v};

	for (size_t i = 0; i < WRAPPER_CNT; i++) {
		functions[i].name = wrappers[i];
		functions[i].hash = libcosy_name_hash(wrappers[i]);
	}
	libcosy_each_interposer(functions, WRAPPER_CNT, interposer_found, &in);
	say_interposer(&in);
	return true;
}

static bool check_module(struct visit *v)
{
	struct refusal refusal;
	struct utsname name;

	uname(&name);
	if (strcmp(name.machine, "x86_64")) {
		bad(v, "this machine is %s; the module is for x86_64", name.machine);
		return false;
	}
	if (!access("/sys/module/cosy", F_OK) || !access(DEVICE, F_OK)) {
		fine("the module is loaded into Linux %s", name.release);
		return true;
	}
	refusal_of_module(name.release, &refusal);
	bad(v, "the module is not loaded into Linux %s%s", name.release, refusal.what);
	advise(v, "%s", refusal.advice);
	return false;
}

static bool check_device(struct visit *v)
{
	struct refusal refusal;
	int error;

	v->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (v->fd >= 0) {
		fine("you may use %s", DEVICE);
		return true;
	}
	error = errno;
	refusal_of_device(DEVICE, GROUP, error, &refusal);
	bad(v, "you may not use %s: %s%s", DEVICE, strerror(error), refusal.what);
	if (refusal.advice[0])
		advise(v, "%s", refusal.advice);
	return false;
}

static bool check_version(struct visit *v)
{
	v->version.size = sizeof(v->version);
	if (ioctl(v->fd, COSY_IOC_VERSION, &v->version)) {
		int error = errno;

		bad(v, "%s does not answer: %s", DEVICE, strerror(error));
		if (error == ENOMEM) {
			advise(v, "memory was short for a moment: try again");
			return false;
		}
		advise(v,
		       "is another driver behind it?  as root: ls -l %s; rmmod cosy; modprobe cosy",
		       DEVICE);
		return false;
	}
	if (v->version.abi != COSY_ABI_VERSION) {
		bad(v, "the module speaks version %u, these programs %u", v->version.abi,
		    COSY_ABI_VERSION);
		advise(v, "install the module and the programs from one release");
		return false;
	}
	fine("module and programs speak version %u", v->version.abi);
	return true;
}

/* --- Filters ------------------------------------------------------------------------------- */

#define MAX_NUMBER 512

/* A call that a compound may make, or an operation with the calls that it makes itself. */
static const struct maker {
	const char *name;
	unsigned short calls[COSY_COMPOSITE_CALLS];
} makers[] = {
#define NUMBER_OF(call)			     COSY_NR_##call
#define COSY_CALL(number, name, args, flags) {#name, {number, number, number, number}},
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	{"cosy_" #name, {COSY_COMPOSITE_EACH(NUMBER_OF, __VA_ARGS__)}},
#include "../core/ops.def"
};
#define MAKER_CNT (sizeof(makers) / sizeof(*makers))

static bool is_let_through(const unsigned char *calls, const struct maker *maker)
{
	for (size_t i = 0; i < sizeof(maker->calls) / sizeof(*maker->calls); i++)
		if (!(calls[maker->calls[i] / 8] >> maker->calls[i] % 8 & 1))
			return false;
	return true;
}

/* Lists the calls that are let through (`let`) or are not, as lines. */
static void list_makers(const unsigned char *calls, size_t known, bool let)
{
	int column = 0;

	for (size_t i = 0; i < MAKER_CNT; i++) {
		if (makers[i].calls[0] >= known || is_let_through(calls, &makers[i]) != let)
			continue;
		if (column + strlen(makers[i].name) > 68)
			column = 0;
		column += printf("%s%s", column ? " " : "\n           ", makers[i].name);
	}
	putchar('\n');
}

/* Comes before any ioctl, which a filter may punish. */
static bool check_filter(struct visit *v)
{
	static const struct maker run = {"ioctl", {SYS_ioctl, SYS_ioctl, SYS_ioctl}};
	unsigned char calls[MAX_NUMBER / 8] = {0};
	ssize_t bytes = read(v->fd, calls, sizeof(calls));
	size_t let = 0, known = 0;

	if (status_number("Seccomp") <= 0 || bytes <= 0)
		return true;
	if (!is_let_through(calls, &run)) {
		bad(v, "a seccomp filter is armed for this process, and does not let every ioctl "
		       "through");
		advise(v,
		       "programs run natively under it: allow ioctl whatever its arguments are, or "
		       "run them without it");
		return false;
	}
	for (size_t i = 0; i < MAKER_CNT; i++) {
		known += makers[i].calls[0] < bytes * 8;
		let += makers[i].calls[0] < bytes * 8 && is_let_through(calls, &makers[i]);
	}
	fine("a seccomp filter is armed, and lets %zu of %zu calls and operations of compounds "
	     "through, which run in the kernel",
	     let, known);
	if (let == known)
		return true;
	if (let > known / 2) {
		printf("        these are made natively, one by one, so that it sees them:");
		list_makers(calls, bytes * 8, false);
	} else {
		printf("        all but these are made natively, one by one, so that it sees "
		       "them:");
		list_makers(calls, bytes * 8, true);
	}
	note("a region that loses more by native calls than it gains by the others runs natively "
	     "after about 100 of them");
	return true;
}

static int load_trial(int fd, __u32 *handle, char log[LOG_SIZE]);

static bool check_processor(struct visit *v)
{
	char log[LOG_SIZE] = "";
	__u32 handle;

	if (!(v->version.features & COSY_FEATURE_REFUSED))
		return true;
	load_trial(v->fd, &handle, log);
	bad(v, "the module refuses this processor: %s", log);
	advise(v, "if this machine holds nobody else's secrets, as root: "
		  "echo 1 > /sys/module/cosy/parameters/allow_processor");
	advise(v,
	       "for every boot: echo options cosy allow_processor=1 > /etc/modprobe.d/cosy.conf");
	return false;
}

static bool check_jit(struct visit *v)
{
	char enable[16] = "?", harden[16] = "?";

	read_fact("/proc/sys/net/core/bpf_jit_enable", enable, sizeof(enable));
	read_fact("/proc/sys/net/core/bpf_jit_harden", harden, sizeof(harden));
	if (v->version.features & COSY_FEATURE_JIT) {
		fine("compounds are compiled (bpf_jit_enable=%s, bpf_jit_harden=%s)", enable,
		     harden);
		return true;
	}
	bad(v, "the kernel's BPF compiler is off (bpf_jit_enable=%s)", enable);
	advise(v, "as root: sysctl net.core.bpf_jit_enable=1");
	return true;
}

static bool check_buffer(struct visit *v)
{
	struct cosy_setbuf setbuf = {.size = sizeof(setbuf), .len = COSY_DEFAULT_BUFFER};
	struct rlimit limit = {0};
	void *buffer;

	if (ioctl(v->fd, COSY_IOC_SETBUF, &setbuf)) {
		int err = errno;

		getrlimit(RLIMIT_MEMLOCK, &limit);
		bad(v,
		    "no shared buffer of %u KB: %s (RLIMIT_MEMLOCK is %llu KB "
		    "for all your processes)",
		    COSY_DEFAULT_BUFFER >> 10, strerror(err),
		    (unsigned long long)limit.rlim_cur >> 10);
		advise(v,
		       "raise it: ulimit -l, or memlock in /etc/security/limits.conf; or ask for "
		       "less: COSY_BUFFER=64k");
		return true;
	}
	buffer = mmap(NULL, COSY_DEFAULT_BUFFER, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (buffer == MAP_FAILED) {
		bad(v, "the shared buffer cannot be mapped: %s", strerror(errno));
		return true;
	}
	fine("a shared buffer of %u KB", COSY_DEFAULT_BUFFER >> 10);
	return true;
}

/* A thread's syscall_work bits, as the kernel reports them. */
static const struct {
	unsigned int bit;
	const char *what, *advice;
} armed[] = {
	{0, "a seccomp filter",
	 "it does not let every ioctl through, or the module does not know this kernel's filters"},
	{1, "tracing of system calls (ftrace, perf, bpftrace)",
	 "as root: stop the tracing session"},
	{2, "a tracer (strace, gdb)", "run without it"},
	{3, "system call emulation by a tracer", "run without it"},
	{4, "auditing of system calls", "as root: auditctl -D, or auditctl -a never,task"},
	{5, "system call user dispatch", "an emulator (Wine) has it on for this process"},
};

static void explain_armed(struct visit *v, unsigned long long work)
{
	bool known = false;

	for (size_t i = 0; i < sizeof(armed) / sizeof(*armed); i++) {
		if (!(work >> armed[i].bit & 1))
			continue;
		known = true;
		bad(v, "%s is armed for this process, and has to see every call", armed[i].what);
		advise(v, "%s", armed[i].advice);
	}
	if (!known)
		bad(v, "something unknown watches this process's system calls (bits %#llx)", work);
}

/* A compound that calls getpid(). */
static const struct {
	struct cosy_compound header;
	struct bpf_insn insns[2];
} trial = {
	.header =
		{
			.magic = COSY_MAGIC,
			.version = COSY_ABI_VERSION,
			.header_size = sizeof(struct cosy_compound),
			.size = sizeof(trial),
			.insn_off = sizeof(struct cosy_compound),
			.insn_cnt = 2,
		},
	.insns =
		{
			{.code = BPF_JMP | BPF_CALL, .imm = SYS_getpid},
			{.code = BPF_JMP | BPF_EXIT},
		},
};

/* Loads it.  Returns 0 and a handle, or the errno and perhaps a reason. */
static int load_trial(int fd, __u32 *handle, char log[LOG_SIZE])
{
	struct cosy_load load = {
		.size = sizeof(load),
		.len = sizeof(trial),
		.compound = (__u64)(unsigned long)&trial,
		.log = (__u64)(unsigned long)log,
		.log_size = LOG_SIZE,
	};

	log[0] = '\0';
	if (ioctl(fd, COSY_IOC_LOAD, &load))
		return errno;
	*handle = load.handle;
	return 0;
}

/* Returns whether a second LOAD finds the image of the first. */
static void tell_cache(struct visit *v)
{
	struct cosy_stats stats = {.size = sizeof(stats)};
	char log[LOG_SIZE];
	__u32 handle;

	if (load_trial(v->fd, &handle, log) || ioctl(v->fd, COSY_IOC_STATS, &stats))
		return;
	if (stats.cache_hits)
		fine("compiled compounds are kept for your next process");
	else
		fine("each process compiles again (Linux before 6.9, max_user_cache=0 or no room "
		     "in your locked memory)");
}

/* Tells how many regions have a history, by which processes enter early. */
static void tell_history(const struct visit *v)
{
	struct cosy_recall recall = {.size = sizeof(recall)};

	if (ioctl(v->fd, COSY_IOC_RECALL, &recall)) {
		note("the module keeps no history: regions enter by their own process's savings "
		     "alone");
		return;
	}
	fine("the module remembers how much your processes saved in %u regions (cosy forget drops "
	     "it)",
	     recall.regions);
}

/* Returns whether cosy_move_alloc gives memory whose pages move. */
static void tell_move(const struct visit *v)
{
	struct cosy_arena_request request = {.size = sizeof(request), .length = 1 << 20};
	int arena = ioctl(v->fd, COSY_IOC_ARENA, &request), error = errno;

	if (arena < 0) {
		note("pages are copied, not moved: %s for an arena of 1 MB", strerror(error));
		if (error == ENOMEM)
			suggest("raise RLIMIT_MEMLOCK: ulimit -l, or memlock in "
				"/etc/security/limits.conf");
		return;
	}
	close(arena);
	fine("pages move between processes (cosy_move_alloc)");
}

/* Tells what all processes of this user have of such memory. */
static void tell_moving(const struct visit *v)
{
	struct cosy_moving moving = {.size = sizeof(moving)};

	do {
		if (ioctl(v->fd, COSY_IOC_MOVING, &moving))
			return;
	} while (moving.cursor[0] | moving.cursor[1]);
	fine("your processes have %llu arenas of %llu KB (%llu pages frozen, %llu of them under "
	     "way), %llu parcels of %llu KB, %llu ports of %llu KB",
	     (unsigned long long)moving.arenas, (unsigned long long)moving.arena_pages * 4,
	     (unsigned long long)moving.frozen, (unsigned long long)moving.under_way,
	     (unsigned long long)moving.parcels, (unsigned long long)moving.parcel_pages * 4,
	     (unsigned long long)moving.ports, (unsigned long long)moving.port_pages * 4);
}

/* Tells when a region goes into the kernel, by the instructions that have to run outside before. */
static void tell_tier(void)
{
	const char *tier = getenv("COSY_TIER");
	const long seen = COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY +
			  COSY_COST_SEEN + 100L * COSY_COST_SEEN_INSN;
	const long load = seen + COSY_COST_LOAD + 100L * COSY_COST_LOAD_INSN;

	if (tier && !strcmp(tier, "always")) {
		note("COSY_TIER=always: regions enter the kernel at once, whether or not that "
		     "pays");
	} else if (tier && *tier && strcmp(tier, "auto")) {
		note("COSY_TIER=%s: regions enter the kernel after so many entries and iterations",
		     tier);
	} else {
		note("regions start natively, and enter the kernel when that pays: a region of "
		     "100 instructions after about %ld million instructions, or %ld million if "
		     "you ran it lately; sooner if earlier processes of yours saved more by it",
		     COSY_TIER_SHARE * load / 1000000, COSY_TIER_SHARE * seen / 1000000);
		suggest("COSY_TIER=always does it at once, COSY_STATS=1 counts regions that wait "
			"(unearned), and that went early (seen), by what earlier processes saved "
			"(remembered), or could not (unseen)");
	}
}

static bool check_run(struct visit *v)
{
	struct cosy_state state;
	struct cosy_run run = {.size = sizeof(run), .state = (__u64)(unsigned long)&state};
	char log[LOG_SIZE];
	int error;

	error = load_trial(v->fd, &run.handle, log);
	if (error) {
		bad(v, "a compound cannot be loaded: %s%s%s", strerror(error), *log ? ": " : "",
		    log);
		if (error == EDQUOT)
			advise(v, "other programs of yours hold too many: end them");
		return false;
	}
	/* Try again after a signal, which is no verdict. */
	do {
		if (ioctl(v->fd, COSY_IOC_RUN, &run)) {
			bad(v, "a compound cannot be run: %s", strerror(errno));
			return false;
		}
	} while (run.status == COSY_LEFT_WORK);
	if (run.status == COSY_LEFT_TRACED) {
		explain_armed(v, run.detail);
		return false;
	}
	if (run.status != COSY_DONE || run.ret != getpid()) {
		bad(v, "a compound ended unexpectedly: status %u, result %lld", run.status,
		    run.ret);
		return false;
	}
	fine("a compound runs in the kernel: getpid() is %lld", run.ret);
	tell_tier();
	tell_cache(v);
	tell_history(v);
	tell_move(v);
	tell_moving(v);
	return true;
}

/* Notes the usual obstacles that can be seen without the module. */
static void note_obstacles(void)
{
	long tracer = status_number("TracerPid");

	if (status_number("Seccomp") > 0)
		note("a seccomp filter is armed for this process: the calls that it lets through "
		     "could run in the kernel");
	if (tracer > 0)
		note("process %ld traces this one: traced programs run natively", tracer);
}

/* Returns whether `cosy run` serves reads here, which needs neither the module nor a compound. */
static void tell_run(void)
{
	const char *why = leases_refusal();
	char library[PATH_MAX];

	if (!library_find(RUN_LIBRARY, library))
		why = "there is no " RUN_LIBRARY;
	if (why) {
		note("`cosy run` serves nothing here: %s", why);
		return;
	}
	fine("`cosy run` works here, and needs no module: the kernel grants leases on your files");
	if (leases_have_daemon())
		fine("cosyd runs: it takes leases on files of other users");
	else if (geteuid())
		note("cosyd does not run: `cosy run` leaves files of other users alone");
}

/* Returns whether `cosy run --metadata` serves stat here. */
static void tell_metadata(void)
{
	char state[128] = "";
	FILE *file = fopen("/sys/module/cosy/parameters/metadata_state", "re");

	if (!file)
		return;
	if (fgets(state, sizeof(state), file))
		state[strcspn(state, "\n")] = 0;
	fclose(file);
	if (!strcmp(state, "on"))
		fine("`cosy run --metadata` works here: the module watches attributes of files");
	else
		note("`cosy run --metadata` serves no stat here: %s", state);
}

static void conclude(const struct visit *v)
{
	if (!v->bad) {
		printf("Compounds run in this kernel.\n");
		return;
	}
	printf("Programs work, but not everything runs in the kernel: see BAD above.\n");
	if (v->first[0])
		say_to(stdout, "To do: %s; then `cosy doctor` again.", v->first);
	else
		printf("To do: look into the kernel's log (dmesg), and docs/use/troubleshooting.md."
		       "\n");
}

int command_doctor(int argc, char **argv)
{
	static bool (*const checks[])(struct visit *) = {
		check_mode,    check_functions, check_module, check_device, check_filter,
		check_version, check_processor, check_jit,    check_buffer, check_run,
	};
	struct visit v = {.fd = -1};
	size_t i;

	if (argc > 1)
		return command_misused("doctor", "unexpected argument %s", argv[1]);
	for (i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (!checks[i](&v))
			break;
	if (v.fd < 0)
		note_obstacles();
	else
		close(v.fd);
	tell_run();
	tell_metadata();
	conclude(&v);
	return v.bad ? EXIT_BAD : EXIT_FINE;
}
