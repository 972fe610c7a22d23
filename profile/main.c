// SPDX-License-Identifier: MIT
/*
 * main.c - `cosy profile`: record, fold while recording, advise, show.
 */
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../common/option.h"
#include "../common/standard.h"
#include "advise/advise.h"
#include "advise/code.h"
#include "advise/leases.h"
#include "advise/place.h"
#include "fold/fold.h"
#include "record/child.h"
#include "record/record.h"
#include "record/signals.h"
#include "show/show.h"
#include "verify/build.h"
#include "verify/server.h"
#include "verify/verify.h"

/* Exit statuses as every subcommand's, and a shell's for a program that cannot be run. */
enum {
	STATUS_FINE = 0,
	STATUS_BAD = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_EXECUTED = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNALLED = 128, /* and the signal's number */
};

#define MAX_PIDS 4096

/* Default of --verify without a number. */
#define ROUNDS 7

struct profile_options {
	const char *read, *write, *json, *html;
	pid_t pids[MAX_PIDS];
	unsigned int n_pids;
	double seconds;
	enum event_backend backend; /* 0: the best one available */
	unsigned int rounds;	    /* of --verify; 0: none */
	const char *marked;	    /* the marked program to verify */
	const char *build;	    /* makes that of the best region */
	bool cut;		    /* the recording has ended before the program, by time or ^C */
	struct load load;	    /* command NULL: none */
	char **program;
};

/* Destinations of events: the fold, and a file if one is asked for. */
struct recording {
	struct event_header *header;
	struct fold *fold;
	FILE *file;
	bool executed; /* the program, or a process attached to */
	bool failed;
};

/* Time until a signal that ends the recording comes again, in ns. */
#define AGAIN 50000000

/* Time that a program has to end by a signal before it is said to go on: some pauses, in ns. */
#define PAUSE  20000000
#define PAUSES 10

static volatile sig_atomic_t stop; /* the signal that ends the recording; 0: none came */
static timer_t timer;		   /* of the recording's end, and then of more signals */

static void profile_usage(void)
{
	fputs("usage: cosy profile [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
	      "       cosy profile [OPTION...] -p PID,... | --cgroup PATH\n"
	      "       cosy profile [OPTION...] --read FILE\n"
	      "\n"
	      "Record a program's system calls, and find ways to make them cheaper.\n"
	      "\n"
	      "  -p PID,...             record processes that run already\n"
	      "  --cgroup PATH          record the processes of a control group\n"
	      "  --load COMMAND         record while COMMAND puts load on the program\n"
	      "  -d SECONDS             record for SECONDS, not until all have ended\n"
	      "  --backend NAME         record by fentry, tracepoint or ptrace, or fail\n"
	      "  -o FILE                keep the recording in FILE\n"
	      "  --read FILE            report on a recording again\n"
	      "  --json FILE            write all findings, for programs\n"
	      "  --html FILE            write them as a page\n"
	      "  --verify[=ROUNDS]      measure `cosy run PROGRAM`, compare with the prediction "
	      "(7)\n"
	      "  --marked FILE          verify by the same program with its regions marked\n"
	      "  --build COMMAND        build it first, with -fcosy-suggest=\"$COSY_SUGGEST\"\n"
	      "  --help                 print this\n"
	      "\n"
	      "See cosy-profile(1).\n",
	      stdout);
}

/*
 * Repeats the signal a little later, and so on: a signal between the check of `stop` and the
 * beginning of ptrace's waitid does not interrupt it.
 */
static void stop_on_signal(int signal)
{
	struct itimerspec later = {{0, AGAIN}, {0, AGAIN}};

	if (!stop || signal_terminates(signal))
		stop = signal;
	timer_settime(timer, 0, &later, NULL);
}

/* Reports an error of a file or a program, whose name may be empty or anything else. */
static void name_complain(const char *name, const char *why)
{
	say("cosy profile: %s: %s", *name ? name : "\"\"", why);
}

static void recording_take(void *context, const struct event *event)
{
	struct recording *recording = context;

	/* By the first event the back end has calibrated, and filled in the header. */
	if (!recording->fold) {
		recording->fold = fold_create(recording->header);
		if (!recording->fold ||
		    (recording->file && !event_file_begin(recording->file, recording->header)))
			recording->failed = true;
	}
	recording->executed |= event->kind == EVENT_EXEC;
	if (recording->failed)
		return;
	if (recording->file && !event_file_add(recording->file, event))
		recording->failed = true;
	fold_take(recording->fold, event);
}

/* Lets ^C, the time and the end of the load end the recording. */
static bool recording_prepare(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return false;
	signals_catch(stop_on_signal);
	return true;
}

/* Lets ^C end `cosy profile` itself again. */
static void recording_leave(void)
{
	signals_release(stop);
	timer_delete(timer);
}

static void backend_say(enum event_backend backend)
{
	if (backend == EVENT_BACKEND_TRACEPOINT)
		fputs("cosy profile: recording by tracepoints: meanwhile the compounds of every "
		      "process on this machine run natively\n",
		      stderr);
	if (backend == EVENT_BACKEND_PTRACE)
		fputs("cosy profile: recording by ptrace, which makes each call about 20 times "
		      "slower meanwhile\n",
		      stderr);
}

/* Records by the requested back end, or by the first one available. */
static struct record_result record_by(const struct record_options *options,
				      struct recording *recording, const struct record_sink *sink)
{
	static const enum event_backend order[] = {EVENT_BACKEND_FENTRY, EVENT_BACKEND_TRACEPOINT,
						   EVENT_BACKEND_PTRACE};
	struct record_options what = *options;
	struct record_result result = {.refused = true};

	for (size_t i = 0; result.refused && i < sizeof(order) / sizeof(*order); i++) {
		if (options->backend && options->backend != order[i])
			continue;
		what.backend = order[i];
		result = order[i] == EVENT_BACKEND_PTRACE
				 ? record_ptrace(&what, recording->header, sink)
				 : record_bpf(&what, recording->header, sink);
		if (result.refusal)
			say("cosy profile: %s", result.refusal);
	}
	return result;
}

/*
 * Starts counting the time: everything before was calibration, which takes long on a busy machine.
 */
static bool recording_begin(void *context)
{
	struct profile_options *options = context;
	double seconds = options->seconds;
	struct itimerspec time = {
		{0, 0}, {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}};

	/* No time at all would be none that is set. */
	if (seconds > 0 && !time.it_value.tv_sec && !time.it_value.tv_nsec)
		time.it_value.tv_nsec = 1;
	timer_settime(timer, 0, &time, NULL);
	/* ^C has come before, whose timer that was. */
	if (stop)
		stop_on_signal(stop);
	return !options->load.command || load_start(&options->load);
}

/* Ends a server that was started for the load; one that ran before continues. */
static int load_finish(struct profile_options *options, bool interrupted)
{
	int status;

	if (!options->load.pid)
		return STATUS_FINE;
	status = load_end(&options->load);
	if (options->program)
		server_end();
	if (!status || (status < 0 && interrupted))
		return STATUS_FINE;
	say("cosy profile: %s: %s",
	    status > 0 ? "the load failed" : "the program has ended before the load",
	    options->load.command);
	return STATUS_BAD;
}

/* Reports how a program ended, unless it succeeded. */
static void program_ended(const char *program, int status)
{
	if (WIFSIGNALED(status))
		say("cosy profile: %s was killed by signal %d (%s)", program, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		say("cosy profile: %s ended with status %d", program, WEXITSTATUS(status));
}

/*
 * The recording has ended before the program: by ^C, which the terminal gives to the program as
 * well; by its time; or by a signal that asks us to end, and so the program.
 */
static void program_leave(const char *program, pid_t pid)
{
	const struct timespec pause = {0, PAUSE};
	int status = 0;
	pid_t ended = 0;

	if (signal_terminates(stop))
		kill(pid, stop);
	for (int i = 0; i < PAUSES && !(ended = waitpid(pid, &status, WNOHANG)); i++)
		nanosleep(&pause, NULL);
	if (!ended)
		say("cosy profile: %s goes on, as process %d", program, (int)pid);
}

static int profile_record(struct profile_options *options, struct recording *recording)
{
	struct record_options what = {
		.backend = options->backend,
		.say = backend_say,
		.program = options->program,
		.pids = options->pids,
		.n_pids = options->n_pids,
		.stop = &stop,
		.begun = recording_begin,
		.begun_context = options,
	};
	struct record_sink sink = {recording_take, recording};
	struct record_result result;
	int error, load;

	if (options->program && (error = program_find(options->program[0]))) {
		name_complain(options->program[0], strerror(-error));
		return error == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTED;
	}
	if (options->write) {
		recording->file = fopen(options->write, "we");
		if (!recording->file) {
			name_complain(options->write, strerror(errno));
			return STATUS_USAGE;
		}
	}
	if (options->load.command && options->program)
		server_adopt();
	if (!recording_prepare()) {
		say("cosy profile: cannot create a timer: %s", strerror(errno));
		return STATUS_BAD;
	}
	result = record_by(&what, recording, &sink);
	load = load_finish(options, result.interrupted);
	options->cut = result.interrupted && !options->load.command;
	recording_leave();
	if (result.program && !options->load.command && recording->executed) {
		if (result.interrupted)
			program_leave(options->program[0], result.program);
		else
			program_ended(options->program[0], result.status);
	}
	if (recording->file && fclose(recording->file))
		recording->failed = true;
	if (result.error && result.refusal)
		return STATUS_BAD;
	if (result.error) {
		say("cosy profile: %s: %s",
		    result.error == -ESRCH ? "nothing is recorded" : result.reason,
		    strerror(-result.error));
		return STATUS_BAD;
	}
	if (recording->failed) {
		say("cosy profile: %s cannot be written, or there is no memory",
		    options->write ? options->write : "the recording");
		return STATUS_BAD;
	}
	/* The child has reported the reason. */
	if (options->program && !recording->executed && !result.interrupted)
		return WIFEXITED(result.status) ? WEXITSTATUS(result.status) : STATUS_NOT_EXECUTED;
	if (signal_terminates(stop))
		options->rounds = 0;
	return load;
}

static int profile_read(const char *path, struct recording *recording)
{
	_Alignas(8) char buffer[EVENT_MAX_SIZE];
	struct event *event = (struct event *)buffer;
	FILE *file = fopen(path, "re");
	const char *why = NULL;
	int got;

	if (!file) {
		name_complain(path, strerror(errno));
		return STATUS_USAGE;
	}
	got = event_file_header(file, recording->header, &why);
	if (got > 0)
		recording->fold = fold_create(recording->header);
	while (got > 0 && recording->fold && (got = event_file_next(file, event, &why)) > 0)
		fold_take(recording->fold, event);
	fclose(file);
	if (got < 0)
		name_complain(path, why);
	return got < 0 ? STATUS_BAD : STATUS_FINE;
}

/* Prints the finding's figures beside the measured ones. */
static void verified_show(const struct verified *result, bool shares, FILE *to)
{
	char predicted[SHOW_RANGE], measured[32], noise[32];

	if (shares) {
		snprintf(predicted, sizeof(predicted), "%.0f to %.0f %%",
			 show_saving(result->low, 1), show_saving(result->high, 1));
		snprintf(measured, sizeof(measured), "%.0f %%", show_saving(result->measured, 1));
		snprintf(noise, sizeof(noise), "%.0f", 100 * result->noise);
	} else {
		show_times(predicted, sizeof(predicted), result->low * result->plain,
			   result->high * result->plain);
		advise_time(measured, sizeof(measured), result->measured * result->plain);
		advise_time(noise, sizeof(noise), result->noise * result->plain);
	}
	if (result->judged)
		fprintf(to,
			"\nVerified: %s, predicted %s, measured %s (+-%s) less processor time: "
			"%s\n",
			result->way, predicted, measured, noise, result->in ? "in" : "OUT");
	else
		fprintf(to,
			"\nNot verified: %s, predicted %s less processor time, but runs of the "
			"program differ by %.0f %% of it: too short a program, or too busy a "
			"machine\n",
			result->way, predicted, 100 * result->noise);
	fprintf(to, "  %.1f ms, and %.1f ms with %s, medians of %u runs each without a tracer\n",
		result->plain / 1e6, result->other / 1e6, result->way, result->rounds);
}

/* Returns status 1 if the measurement contradicts the prediction. */
static int profile_verify(const struct profile_options *options, struct advice *advice,
			  struct places *places, FILE *to)
{
	struct verify_plan plan = {.program = options->program,
				   .marked = options->marked,
				   .load = options->load.command,
				   .rounds = options->rounds};
	const struct verified *result = &advice->verified;
	const char *why = NULL;

	if (options->cut && !advise_measures(advice->profile))
		why = "only a part of the program's run was recorded, and by ptrace without its "
		      "processor time, so that a whole run cannot be compared with it";
	else if (options->build)
		why = build_suggested(advice, places, options->build, &plan.region);
	if (!why)
		why = verify(advice, &plan, &advice->verified);
	if (why) {
		say("cosy profile: --verify: %s", why);
		return STATUS_BAD;
	}
	verified_show(result, advise_measures(advice->profile), to);
	return result->in ? STATUS_FINE : STATUS_BAD;
}

/* Prints to a file, if there is to be one; "-" is standard output. */
static bool show_file(const char *path,
		      void (*print)(FILE *, const struct advice *, struct places *),
		      const struct advice *advice, struct places *places)
{
	FILE *to;

	if (!path)
		return true;
	to = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (to)
		print(to, advice, places);
	if (to && (to == stdout ? !fflush(to) : !fclose(to)))
		return true;
	name_complain(path, strerror(errno));
	return false;
}

static bool stdout_taken(const struct profile_options *options)
{
	return (options->json && !strcmp(options->json, "-")) ||
	       (options->html && !strcmp(options->html, "-"));
}

/* Fills in `advice` from the profile, the programs' code and the files that they read. */
static void profile_advise(const struct profile_options *options, const struct profile *profile,
			   struct codes *codes, struct advice *advice)
{
	struct loop_code code = {code_look, codes};
	struct leases leases = {.begun = false};
	struct file_look files = {leases_look, &leases};
	/* For processes that already ran, a path may name another file by now. */
	struct advise_context context = {&code, options->program ? options->program[0] : NULL,
					 options->program ? &files : NULL};

	advise(profile, &context, advice);
	leases_drop(&leases);
}

/* Writes the requested reports: the page, the summary, the verification, and all of it as JSON. */
static int profile_print(const struct profile_options *options, struct advice *advice,
			 struct places *places)
{
	int status = STATUS_FINE;

	if (!show_file(options->html, show_html, advice, places))
		status = STATUS_BAD;
	if (!stdout_taken(options)) {
		/* The program may have left its last line unfinished. */
		if (options->program)
			putchar('\n');
		show_terminal(stdout, advice, places);
	}
	if (options->rounds && status == STATUS_FINE)
		status = profile_verify(options, advice, places,
					stdout_taken(options) ? stderr : stdout);
	/* Last, because it contains the verification. */
	if (!show_file(options->json, show_json, advice, places))
		status = STATUS_BAD;
	return status;
}

static int profile_show(const struct profile_options *options, const struct profile *profile)
{
	struct advice *advice = malloc(sizeof(*advice));
	struct places *places = places_create();
	struct codes *codes = codes_create();
	int status = STATUS_BAD;

	if (advice && places && codes) {
		profile_advise(options, profile, codes, advice);
		status = profile_print(options, advice, places);
	} else {
		say("cosy profile: there is no memory to show the profile");
	}
	codes_destroy(codes);
	places_destroy(places);
	free(advice);
	return status;
}

static bool options_pids(char *list, struct profile_options *options)
{
	char *save, *end;

	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		long pid = strtol(word, &end, 10);

		if (*end || pid <= 0 || pid > INT32_MAX || options->n_pids == MAX_PIDS)
			return false;
		options->pids[options->n_pids++] = pid;
	}
	return options->n_pids;
}

/* Adds the processes of one control group to the options; counts the rest in `left_out`. */
static bool group_take(const char *path, struct profile_options *options, unsigned int *left_out)
{
	char name[PATH_MAX];
	FILE *file;
	int pid;

	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	file = fopen(name, "re");
	if (!file)
		return false;
	/* 0 is a process without a number in this namespace. */
	while (fscanf(file, "%d", &pid) == 1)
		if (pid > 0 && options->n_pids < MAX_PIDS)
			options->pids[options->n_pids++] = pid;
		else
			++*left_out;
	fclose(file);
	return true;
}

/*
 * Takes all processes of a control group, given by its folder, and of the groups below it, which a
 * slice or a pod has them in.
 */
static bool options_cgroup(const char *path, struct profile_options *options)
{
	char *const tops[] = {(char *)path, NULL};
	FTS *groups = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	unsigned int left_out = 0;
	FTSENT *at;
	int error = 0;

	/* A group below may go meanwhile. */
	while (groups && !error && (at = fts_read(groups))) {
		bool top = at->fts_level == FTS_ROOTLEVEL && at->fts_info != FTS_DP;

		if ((top || at->fts_info == FTS_D) &&
		    !group_take(at->fts_path, options, &left_out) && top)
			error = errno;
	}
	if (groups)
		fts_close(groups);
	if (error) {
		say("cosy profile: %s/cgroup.procs: %s", path, strerror(error));
		return false;
	}
	if (left_out)
		say("cosy profile: %s: %u of its processes are not recorded", path, left_out);
	if (!options->n_pids)
		say("cosy profile: %s: there is no process in it", path);
	return options->n_pids;
}

static enum event_backend backend_named(const char *name)
{
	static const char *const names[] = {
		[EVENT_BACKEND_PTRACE] = "ptrace",
		[EVENT_BACKEND_TRACEPOINT] = "tracepoint",
		[EVENT_BACKEND_FENTRY] = "fentry",
	};

	for (enum event_backend i = EVENT_BACKEND_PTRACE; i <= EVENT_BACKEND_FENTRY; i++)
		if (!strcmp(name, names[i]))
			return i;
	return 0;
}

enum { READ = 256, JSON, HTML, VERIFY, CGROUP, BACKEND, LOAD, MARKED, BUILD };

/* Reports a mistake in the command line; false. */
__attribute__((format(printf, 1, 2))) static bool options_misused(const char *format, ...)
{
	va_list args;

	fputs("cosy profile: ", stderr);
	va_start(args, format);
	say_list(stderr, format, args);
	va_end(args);
	return false;
}

/* Takes one option, whose argument is `optarg`; false: it is none, or wrong, which is said. */
static bool options_take(int option, struct profile_options *options)
{
	char *end;

	switch (option) {
	case 'p':
		return options_pids(optarg, options) ||
		       options_misused("-p: give numbers of processes, at most %d, with commas "
				       "between",
				       MAX_PIDS);
	case 'd':
		options->seconds = strtod(optarg, &end);
		return (end > optarg && !*end && options->seconds > 0 && options->seconds <= 1e6) ||
		       options_misused("-d %s: give seconds, more than 0 and at most a million",
				       optarg);
	case 'o':
		options->write = optarg;
		return true;
	case READ:
		options->read = optarg;
		return true;
	case JSON:
		options->json = optarg;
		return true;
	case CGROUP:
		return options_cgroup(optarg, options);
	case HTML:
		options->html = optarg;
		return true;
	case BACKEND:
		options->backend = backend_named(optarg);
		return options->backend || options_misused("--backend %s: it takes fentry, "
							   "tracepoint or ptrace",
							   optarg);
	case VERIFY:
		options->rounds = optarg ? strtoul(optarg, &end, 10) : ROUNDS;
		return (!(optarg && *end) && options->rounds && options->rounds <= 100) ||
		       options_misused("--verify=%s: give a number of rounds from 1 to 100",
				       optarg);
	case LOAD:
		options->load.command = optarg;
		return true;
	case MARKED:
		options->marked = optarg;
		return true;
	case BUILD:
		options->build = optarg;
		return true;
	case 'h':
		profile_usage();
		exit(STATUS_FINE);
	default:
		return false;
	}
}

/* Checks that a report can be written, before an hour is recorded. */
static bool options_writable(const char *path)
{
	FILE *file;

	if (!path || !strcmp(path, "-"))
		return true;
	file = fopen(path, "ae");
	return (file && !fclose(file)) ||
	       options_misused("%s: %s", *path ? path : "\"\"", strerror(errno));
}

/* Refuses combinations that mean nothing; there is one source of events. */
static bool options_agree(const struct profile_options *options)
{
	unsigned int sources = !!options->read + !!options->n_pids + !!options->program;

	if (!sources)
		return options_misused("no program is named, nor -p, --cgroup or --read given");
	if (sources > 1)
		return options_misused("it takes one of PROGRAM, -p or --cgroup, and --read");
	if (options->build && !options->marked)
		return options_misused("--build needs --marked FILE, which is what it builds");
	if (options->rounds && !options->program)
		return options_misused("--verify and --marked need PROGRAM, which they run again");
	if (options->load.command && options->read)
		return options_misused("--load puts load on a program, and --read runs none");
	return options_writable(options->json) && options_writable(options->html);
}

static bool options_parse(int argc, char **argv, struct profile_options *options)
{
	static const struct option names[] = {
		{"read", required_argument, NULL, READ},
		{"json", required_argument, NULL, JSON},
		{"html", required_argument, NULL, HTML},
		{"cgroup", required_argument, NULL, CGROUP},
		{"backend", required_argument, NULL, BACKEND},
		{"verify", optional_argument, NULL, VERIFY},
		{"load", required_argument, NULL, LOAD},
		{"marked", required_argument, NULL, MARKED},
		{"build", required_argument, NULL, BUILD},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:hp:d:o:", names, NULL)) != -1) {
		if (option == '?' || option == ':')
			option_say_wrong("cosy profile", argv, option);
		if (!options_take(option, options))
			return false;
	}
	if (optind < argc)
		options->program = argv + optind;
	if (options->marked && !options->rounds)
		options->rounds = ROUNDS;
	return options_agree(options);
}

int main(int argc, char **argv)
{
	struct event_header header = {
		.magic = EVENT_MAGIC, .version = EVENT_VERSION, .size = sizeof(header)};
	struct recording recording = {.header = &header};
	struct profile_options options = {.read = NULL};
	int status;

	standard_begin("cosy profile");
	if (!options_parse(argc, argv, &options)) {
		fputs("Try `cosy profile --help`.\n", stderr);
		return STATUS_USAGE;
	}
	if (!options.read && access("/proc/self/maps", R_OK)) {
		say("cosy profile: /proc is not mounted here, and recording needs it");
		return STATUS_BAD;
	}
	status = options.read ? profile_read(options.read, &recording)
			      : profile_record(&options, &recording);
	if (status == STATUS_FINE && !recording.fold) {
		say("cosy profile: there is no memory for the profile");
		status = STATUS_BAD;
	}
	if (status == STATUS_FINE)
		status = profile_show(&options, fold_finish(recording.fold));
	if (status == STATUS_FINE && signal_terminates(stop))
		status = STATUS_SIGNALLED + stop;
	if (recording.fold)
		fold_destroy(recording.fold);
	return status;
}
