// SPDX-License-Identifier: MIT
/* advise.c - see advise.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../core/costs.h"
#include "../common/path.h"
#include "advise/advise.h"
#include "advise/saving.h"
#include "calls.h"

#include "model.h"

#define SESSION_DEPTH 6

/* Maximum calls of a session, on average: files that are too large for one operation need more. */
#define MAX_WHOLE_CALLS 64

/* Part of a ptrace stop's time that may remain after its mean has been subtracted. */
#define STOP_NOISE 0.3

/*
 * Instructions of a compound: of a loop with two or three calls, and of a loop with much other
 * work.
 */
#define MIN_INSNS 40
#define MAX_INSNS 160

/* Loops within loops that are looked into. */
#define MAX_NESTED 8

/* ns of an instruction on this machine, derived from the time of getppid. */
static double instruction(const struct profile *profile)
{
	double null_call =
		profile->header.null_call ? profile->header.null_call : model_null_call / 3;

	return null_call / model_null_call;
}

bool advise_measures(const struct profile *profile)
{
	return profile->header.backend != EVENT_BACKEND_PTRACE;
}

double saving_cpu(const struct profile *profile, uint64_t calls, uint64_t cpu)
{
	const struct event_header *header = &profile->header;
	double least = (double)calls * header->null_call;
	double ret = (double)cpu - (double)calls * header->call_cost;

	if (!advise_measures(profile)) {
		ret -= STOP_NOISE * (double)calls * fabs((double)header->call_cost);
		least = (double)calls * fmax(header->read_call, header->null_call);
	}
	return ret < least ? least : ret;
}

int64_t saving_ns(double ns)
{
	return ns > 1e18 ? 1000000000000000000 : ns < -1e18 ? -1000000000000000000 : (int64_t)ns;
}

uint64_t advise_cpu(const struct profile *profile, const struct sums *sums)
{
	return sums->cpu ? saving_ns(saving_cpu(profile, sums->calls, sums->cpu)) : 0;
}

uint64_t advise_user(const struct profile *profile, const struct sums *sums)
{
	double noise = advise_measures(profile) ? 0 : STOP_NOISE;
	double ret =
		(double)sums->user - (1 + noise) * (double)sums->calls * profile->header.gap_cost;

	return ret < 0 ? 0 : saving_ns(ret);
}

bool saving_pays(const struct advice *advice, const struct saving *range)
{
	return range->middle > MIN_SHARE * advice->cpu && range->low > -MAX_LOSS * advice->cpu;
}

struct finding *finding_new(struct advice *advice, enum advise_way way, struct saving range)
{
	struct finding *finding;

	if (advice->n == ADVISE_MAX_FINDINGS)
		return NULL;
	finding = &advice->findings[advice->n++];
	memset(finding, 0, sizeof(*finding));
	finding->way = way;
	finding->low = saving_ns(range.low);
	finding->middle = saving_ns(range.middle);
	finding->high = saving_ns(range.high);
	return finding;
}

/* --- Regions ------------------------------------------------------------------------ */

/*
 * Returns the saving of so many calls.  `remains` is the part of each that remains; below 0 or
 * above MAX_PART it is the instructions that each saves.
 */
static double class_saved(const struct profile *profile, uint64_t calls, double cpu, double remains)
{
	if (remains < 0 || remains > MAX_PART)
		return fmin((double)calls * remains * instruction(profile), cpu);
	return cpu * (1 - remains);
}

/* Returns the time of these calls; that of the shortest is known without a tracer. */
static double class_cpu(const struct profile *profile, const struct sums *sums,
			enum call_class class)
{
	uint64_t calls = sums->of[class].calls;

	if (!advise_measures(profile) && (class == CLASS_PURE || class == CLASS_SEEK))
		return (double)calls * profile->header.null_call;
	return saving_cpu(profile, calls, sums->of[class].cpu);
}

/* Returns the saving of a class's calls in a region. */
static struct saving class_saves(const struct profile *profile, const struct sums *sums,
				 enum call_class class)
{
	const struct model_class *model = &model_classes[class];
	uint64_t calls = sums->of[class].calls;
	double cpu = class_cpu(profile, sums, class);
	double crossing = class_saved(profile, calls, cpu, model_crossing),
	       least = class_saved(profile, calls, cpu, model->least),
	       most = class_saved(profile, calls, cpu, model->most),
	       named = class_saved(profile, calls, cpu, model->named);
	double middle = (least + most) / 2;

	if (model->ordinary == 1)
		return (struct saving){0, 0, 0};
	if (middle < crossing && least >= crossing)
		middle = crossing;
	return (struct saving){fmin(crossing, least), middle, fmax(named, middle)};
}

/* True if the compiler expects calls of the class to have a specialised version. */
static bool class_is_fast(enum call_class class)
{
	return class == CLASS_PURE || class == CLASS_READ_SMALL || class == CLASS_READ ||
	       class == CLASS_READ_LARGE || class == CLASS_RECEIVE || class == CLASS_SEEK ||
	       class == CLASS_WRITE || class == CLASS_APPEND || class == CLASS_SEND;
}

/*
 * Returns the instructions that lib/region/tier.c takes these calls for when they are made outside.
 */
static double sums_outside(const struct sums *sums)
{
	uint64_t fast = 0;

	for (int i = 0; i < CLASSES; i++)
		if (class_is_fast(i))
			fast += sums->of[i].calls;
	return (double)sums->paths * COSY_PLAIN_PATH + (double)fast * COSY_PLAIN_FAST +
	       (double)(sums->calls - sums->paths - fast) * COSY_PLAIN_CALL;
}

/* Instructions outside by which a loop of so many has earned the question and two LOADs. */
static double region_earns(unsigned int insns)
{
	double load = COSY_COST_LOAD + (double)insns * COSY_COST_LOAD_INSN;
	double seen = COSY_COST_SEEN + (double)insns * COSY_COST_SEEN_INSN;

	return COSY_TIER_SHARE *
	       (2 * load + 2 * seen + COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY);
}

/*
 * Returns the part of these calls, each process's, that comes after a region of them has earned the
 * kernel.
 */
static struct saving earned_part(const struct profile *profile, double outside)
{
	double least = region_earns(MAX_INSNS), most = region_earns(MIN_INSNS);
	struct saving range = {.low = outside > least ? 1 - least / outside : 0,
			       .high = outside > most ? 1 - most / outside : 0};

	/* A program that continues has much more work than was recorded. */
	if (profile->running)
		range.high = 1;
	range.middle = (range.low + range.high) / 2;
	return range;
}

/* Scales a saving to that part, which only then is charged with loading, `load` ns. */
static struct saving earned_saves(struct saving range, struct saving part, double load)
{
	double low = range.low > 0 ? part.low : part.high;

	return (struct saving){low > 0 ? range.low * low - load : 0,
			       part.middle > 0 ? range.middle * part.middle - load : 0,
			       part.high > 0 ? range.high * part.high - load : 0};
}

static bool row_has(const struct profile_row *row, enum call_class class)
{
	return row->sums.of[class].calls * 20 >= row->sums.calls;
}

/* True if some call of the loop, or of a loop within it, satisfies the predicate. */
static bool loop_has(const struct profile *profile, uint32_t number, unsigned int depth,
		     bool (*is)(const struct site *site))
{
	const struct symbol *symbol = &profile->symbols[number];

	if (symbol->site)
		return symbol->site <= profile->n_sites && is(&profile->sites[symbol->site]);
	for (uint32_t i = 0; depth && i < symbol->len; i++)
		if (loop_has(profile, profile->bodies[symbol->body + i], depth - 1, is))
			return true;
	return false;
}

static bool site_lists(const struct site *site)
{
	return site->nr == SYS_getdents64;
}

/* True if the call queries a name under an open directory. */
static bool site_looks_up(const struct site *site)
{
	return site->nr == SYS_newfstatat && site->file == FILE_DIRECTORY;
}

/*
 * True if a loop visits the entries of a directory.  One getdents64 returns about a hundred
 * entries, so that call is often not part of the loop: it is in the same function, or the loop
 * queries names under open directories, like fts(3).
 */
static bool row_lists(const struct profile *profile, const struct profile_row *row)
{
	bool entries = loop_has(profile, row->symbol, MAX_NESTED, site_looks_up);

	for (uint32_t i = 1; i <= profile->n_sites; i++) {
		const struct site *site = &profile->sites[i];
		const struct event_frame *frame = profile_frame(profile, site->stack);

		if (site_lists(site) && (entries || (frame && frame->object == row->object &&
						     frame->function == row->function)))
			return true;
	}
	return false;
}

/*
 * True if the loop stays native as it is written, but has an operation by name: it lists a
 * directory by readdir.
 */
static bool row_is_named(const struct profile *profile, const struct profile_row *row)
{
	return (row_has(row, CLASS_STAT) || row_has(row, CLASS_STAT_PATH)) &&
	       (loop_has(profile, row->symbol, MAX_NESTED, site_lists) || row_lists(profile, row));
}

/*
 * Returns what scan_dir saves of asking for the entries, beyond the crossings: the share that
 * remains was measured of listing and stat together.
 */
static double listing_saves(const struct profile *profile, const struct sums *sums)
{
	double cpu =
		saving_cpu(profile, sums->of[CLASS_QUESTION].calls, sums->of[CLASS_QUESTION].cpu);
	double saved = class_saved(profile, 0, cpu, model_classes[CLASS_STAT].named);
	double counted = class_saves(profile, sums, CLASS_QUESTION).high;
	double paths =
		saving_cpu(profile, sums->of[CLASS_STAT_PATH].calls, sums->of[CLASS_STAT_PATH].cpu);

	/* The operation queries names under the directory, whatever path the program used. */
	paths = class_saved(profile, 0, paths, model_classes[CLASS_STAT].named);
	return paths + (saved > counted ? saved - counted : 0);
}

/* Returns the saving of a region once it runs in the kernel. */
static struct saving region_gains(const struct advice *advice, const struct profile_row *row)
{
	const struct profile *profile = advice->profile;
	double user = advise_user(profile, &row->sums);
	/* A call that no region may hold ends it, and the next one begins after it. */
	double entries = row->entries + row->sums.of[CLASS_PROCESS].calls;
	double cost = entries * model_region * instruction(profile);
	struct saving sum = {0, 0, 0};

	for (int i = 0; i < CLASSES; i++) {
		struct saving range = class_saves(profile, &row->sums, i);

		sum.low += range.low;
		sum.middle += range.middle;
		sum.high += range.high;
	}
	sum.low -= cost + user * (model_computing_most - 1);
	sum.middle -= cost + user * ((model_computing_most + model_computing_least) / 2 - 1);
	sum.high -= cost + user * (model_computing_least - 1);
	if (row_is_named(profile, row))
		sum.high += listing_saves(profile, &row->sums);
	return sum;
}

static struct saving region_saves(const struct advice *advice, const struct profile_row *row)
{
	const struct profile *profile = advice->profile;
	struct saving gains = region_gains(advice, row);
	double load = row->processes * model_first_region * instruction(profile);

	/* An operation counts as one call, so it is to be forced into the kernel, and at once. */
	if (row_is_named(profile, row))
		return earned_saves(gains, (struct saving){1, 1, 1}, load);
	return earned_saves(gains, earned_part(profile, sums_outside(&row->sums) / row->processes),
			    load);
}

static bool site_waits(const struct site *site)
{
	return site->nr == SYS_epoll_wait || site->nr == SYS_epoll_pwait;
}

static bool site_receives(const struct site *site)
{
	return (site->nr == SYS_read || site->nr == SYS_recvfrom) &&
	       (site->file == FILE_SOCKET || site->file == FILE_PIPE);
}

static void region_type(const struct profile *profile, const struct profile_row *row,
			struct finding *finding)
{
	const char *better = "";

	finding->by_name = row_is_named(profile, row);
	if (finding->by_name) {
		/* A loop by readdir stays native. */
		strcpy(finding->type, "cosy_scan_dir() of <cosy/fast.h> for this loop, or "
				      "cosy_scan_tree() for all below; then cosycc -fcosy-force");
		return;
	}
	if (row_has(row, CLASS_OPEN) &&
	    (row_has(row, CLASS_READ_SMALL) || row_has(row, CLASS_READ)))
		better = "cosy_read_file() for whole small files";
	else if (row_has(row, CLASS_OPEN) &&
		 (row_has(row, CLASS_WRITE) || row_has(row, CLASS_APPEND)))
		better = "cosy_write_file() for whole small files";
	else if (loop_has(profile, row->symbol, MAX_NESTED, site_waits) &&
		 loop_has(profile, row->symbol, MAX_NESTED, site_receives))
		better = "cosy_epoll_read() for epoll_wait and a read of each that is ready";
	else if (row_has(row, CLASS_SEND) &&
		 (row_has(row, CLASS_READ) || row_has(row, CLASS_READ_LARGE)))
		better = "cosy_lend() to send without the copy";
	else if (row_has(row, CLASS_SEEK))
		better = "cosy_seek_read() for lseek and read";
	snprintf(finding->type, sizeof(finding->type),
		 "COSY_START; before the loop%s, COSY_END; after it; then cosycc "
		 "(docs/use/regions.md)",
		 finding->beyond ? " in a caller of this function, if that is C" : "");
	strcpy(finding->better, better);
}

/* Why a region would not pay here. */
static void region_why(const struct advice *advice, const struct profile_row *row,
		       const struct saving *range, char *to, size_t size)
{
	const struct profile *profile = advice->profile;
	double kernel = advise_cpu(profile, &row->sums), user = advise_user(profile, &row->sums);
	double per_entry = row->entries ? (double)row->sums.calls / row->entries : 0;
	double outside = sums_outside(&row->sums) / row->processes;
	struct saving gains = region_gains(advice, row);
	char most[32], least[32], part[40];

	if (advise_measures(profile))
		snprintf(part, sizeof(part), "%.0f %% of its time",
			 user + kernel > 0 ? 100 * user / (user + kernel) : 0);
	else
		advise_time(part, sizeof(part), user);
	advise_amount(most, sizeof(most), advice, range->high);
	advise_amount(least, sizeof(least), advice, -range->low);
	if (!profile->running && outside < region_earns(MIN_INSNS) && saving_pays(advice, &gains))
		snprintf(to, size,
			 "too short a run: a region goes into the kernel after some %.0f times as "
			 "many calls of a process (cosycc -fcosy-force does not wait)",
			 ceil(region_earns(MAX_INSNS) / outside));
	else if (range->middle > MIN_SHARE * advice->cpu)
		snprintf(to, size,
			 "it may save %s or cost %s, since computing is slower in a region and so "
			 "may be calls of pipes and sockets; build both and compare",
			 most, least);
	else if (10 * row->sums.of[CLASS_WAIT].calls > 6 * row->sums.calls)
		snprintf(to, size,
			 "it waits: %.0f %% of its calls sleep, and leaving out a crossing does "
			 "not wake anybody",
			 100.0 * row->sums.of[CLASS_WAIT].calls / row->sums.calls);
	else if (5 * row->sums.of[CLASS_PROCESS].calls > row->sums.calls)
		snprintf(to, size,
			 "it starts processes, maps memory or handles signals, which ends a region "
			 "each time");
	else if (3 * user > kernel)
		snprintf(to, size,
			 "it computes between its calls (%s), which is slower in a region", part);
	else if (per_entry && per_entry < 7)
		snprintf(to, size,
			 "only %.1f calls each time that it is entered: a region pays from about "
			 "seven",
			 per_entry);
	else
		snprintf(
			to, size,
			"nearly all of its time is the kernel's own work, which stays; or it makes "
			"too few calls to pay for loading a region");
}

/* Returns why no region can hold a loop, or NULL if nothing known prevents it. */
static const char *loop_why(enum loop_found found)
{
	switch (found) {
	case LOOP_POINTER:
		return "its calls are made by way of a pointer to a function, as in an "
		       "interpreter or under callbacks, which no region can hold";
	case LOOP_OUTSIDE:
		return "a library makes its calls, and no loop around them was found in the "
		       "program: a region has to hold both";
	case LOOP_LIBC:
		return "the C library or the dynamic linker makes its calls for itself: there is "
		       "no loop of the program's to mark";
	case LOOP_APART:
		return "its calls come from several functions, and no function was seen that "
		       "calls them all: a region is one loop in C";
	case LOOP_NOWHERE:
		return "nothing is known of where its calls come from, as under code that is made "
		       "while the program runs (JavaScript, Java): a region is one loop in C";
	default:
		return NULL;
	}
}

/* What to do about a loop of which a library makes the calls of a site. */
static void outside_type(const struct profile *profile, uint32_t site, struct finding *finding)
{
	const struct stack *stack = &profile->stacks[profile->sites[site].stack];
	uint32_t object =
		stack->user < stack->len ? profile->frames[stack->first + stack->user].object : 0;

	finding->by_name = true;
	snprintf(finding->type, sizeof(finding->type),
		 "call %s in the file of this loop, where %.100s makes that call now; then "
		 "COSY_START; before the loop, COSY_END; after it; then cosycc "
		 "(docs/use/regions.md)",
		 call_kind(profile->sites[site].nr)->name,
		 object ? path_name(profile->objects[object].path) : "another file");
	strcpy(finding->better,
	       "a loop of its own for these calls alone, after one that collects the "
	       "names, if this loop does what no region can hold");
}

static void advise_row(struct advice *advice, uint32_t number)
{
	const struct profile *profile = advice->profile;
	const struct profile_row *row = &profile->rows[number];
	const struct event_frame *frame;
	uint32_t site;
	enum loop_found found = loop_find(profile, row, advice->context.code, &frame, &site);
	struct saving range = region_saves(advice, row);
	bool pays = saving_pays(advice, &range), named = row_is_named(profile, row);
	bool outside = found == LOOP_OUTSIDE && frame && !named;
	const char *why = named || outside ? NULL : loop_why(found);
	struct finding *finding =
		finding_new(advice, pays && !why ? WAY_REGION : WAY_NOTHING, range);

	if (!finding)
		return;
	finding->row = number;
	finding->object = frame ? frame->object : row->object;
	finding->address = frame ? frame->address : row->address;
	finding->function = frame ? frame->function : row->function;
	finding->beyond = found == LOOP_BEYOND;
	finding->markable = !why && finding->object && !finding->beyond && !named && !outside;
	finding->calls = row->sums.calls;
	finding->cpu = advise_cpu(profile, &row->sums) + advise_user(profile, &row->sums);
	advise_sequence(profile, row->symbol, finding->title, 160);
	if (pays && !why) {
		if (outside)
			outside_type(profile, site, finding);
		else
			region_type(profile, row, finding);
		strcpy(finding->gives_up, "nothing");
	} else if (why) {
		strcpy(finding->why, why);
	} else if (finding->beyond && range.middle > MIN_SHARE * advice->cpu) {
		strcpy(finding->why,
		       "the loop around this function is in a caller beyond the stack that is "
		       "recorded, or in code made while the program runs: nothing is known of it");
	} else {
		region_why(advice, row, &range, finding->why, sizeof(finding->why));
	}
}

static int row_order(const void *a, const void *b, void *context)
{
	const struct profile_row *rows = ((const struct profile *)context)->rows;
	uint64_t x = rows[*(const uint32_t *)a].sums.cpu, y = rows[*(const uint32_t *)b].sums.cpu;

	return (x < y) - (x > y);
}

static void advise_rows(struct advice *advice)
{
	const struct profile *profile = advice->profile;
	uint32_t *order = malloc((profile->n_rows + 1) * sizeof(*order)), n = 0;

	for (uint32_t i = 1; order && i <= profile->n_rows; i++) {
		const struct profile_row *row = &profile->rows[i];

		if (row->merged)
			continue;
		advice->in_rows += row->sums.calls;
		/* A loop of a few calls is noise. */
		if (row->sums.calls >= 8 && row->sums.calls * 200 >= profile->sums.calls)
			order[n++] = i;
	}
	if (order)
		qsort_r(order, n, sizeof(*order), row_order, (void *)profile);
	for (uint32_t i = 0; i < n && i < ADVISE_MAX_FINDINGS / 2; i++)
		advise_row(advice, order[i]);
	free(order);
}

/* --- Whole files --------------------------------------------------------------------------- */

enum { IN_OPEN = 1, IN_READ = 2, IN_WRITE = 4, IN_CLOSE = 8, IN_OTHER = 16 };

static unsigned int session_part(unsigned int nr)
{
	switch (nr) {
	case SYS_open:
	case SYS_openat:
	case SYS_creat:
		return IN_OPEN;
	case SYS_read:
	case SYS_pread64:
		return IN_READ;
	case SYS_write:
	case SYS_pwrite64:
		return IN_WRITE;
	case SYS_close:
		return IN_CLOSE;
	case SYS_fstat:
	case SYS_newfstatat:
	case SYS_lseek:
	case SYS_fcntl:
	case SYS_fadvise64:
		return 0;
	default:
		return IN_OTHER;
	}
}

static unsigned int symbol_parts(const struct profile *profile, uint32_t number, unsigned int depth)
{
	const struct symbol *symbol = &profile->symbols[number];
	unsigned int parts = 0;

	if (symbol->site)
		return session_part(UINT32_MAX - symbol->site);
	if (!depth)
		return IN_OTHER;
	for (uint32_t i = 0; i < symbol->len; i++)
		parts |= symbol_parts(profile, profile->bodies[symbol->body + i], depth - 1);
	return parts;
}

/* Opened, only read or only written, and closed. */
static bool session_whole(const struct profile *profile, const struct session *session,
			  unsigned int what)
{
	unsigned int parts =
		session->cut || session->calls > MAX_WHOLE_CALLS * session->times ? IN_OTHER : 0;

	for (uint32_t i = 0; i < session->len; i++)
		parts |= symbol_parts(profile, profile->bodies[session->first + i], SESSION_DEPTH);
	return session->file == FILE_REGULAR && parts == (IN_OPEN | what | IN_CLOSE);
}

static void whole_text(struct finding *finding, const struct session *most, uint64_t times,
		       const struct advice *advice, const char *title, const char *name)
{
	char sequence[100], share[32];

	advise_amount(share, sizeof(share), advice, finding->cpu);
	advise_session(advice->profile, most, sequence, sizeof(sequence));
	snprintf(finding->title, sizeof(finding->title), "%s: %lu file%s (%s)", title, times,
		 times == 1 ? "" : "s", sequence);
	if (finding->way == WAY_NOTHING)
		snprintf(finding->why, sizeof(finding->why),
			 "%s of processor time, %.1f us a file, which is nearly all the file "
			 "system's own; %s saves %.1f calls of each",
			 share, finding->cpu / 1e3 / times, name,
			 (double)(finding->calls - times) / times);
	else
		snprintf(finding->type, sizeof(finding->type),
			 "%s of <cosy/fast.h> in a region around the loop over them", name);
	strcpy(finding->gives_up, finding->way == WAY_NOTHING ? "" : "nothing");
}

/* Sessions that one operation by name could stand for, wherever in the program their calls are. */
static void advise_whole(struct advice *advice, unsigned int what, const char *title,
			 const char *name)
{
	const struct profile *profile = advice->profile;
	const struct session *most = NULL;
	uint64_t times = 0, calls = 0, cpu = 0;
	double saved, entry = model_region * instruction(profile);
	struct finding *finding;
	struct saving range;

	for (uint32_t i = 0; i < profile->n_sessions; i++) {
		const struct session *session = &profile->sessions[i];

		if (!session_whole(profile, session, what))
			continue;
		times += session->times;
		calls += session->calls;
		cpu += session->cpu;
		if (!most || session->times > most->times)
			most = session;
	}
	if (!times || (calls < WHOLE_SHARE * profile->sums.calls &&
		       saving_cpu(profile, calls, cpu) < WHOLE_SHARE * advice->cpu))
		return;
	/* Each in a region of its own, or all in one. */
	saved = (double)(calls - times) * model_crossing * instruction(profile);
	range = (struct saving){saved - times * entry, saved - times * entry / 2, saved};
	range = earned_saves(
		range, earned_part(profile, (double)calls * COSY_PLAIN_CALL / profile->processes),
		0);
	finding =
		finding_new(advice, saving_pays(advice, &range) ? WAY_REGION : WAY_NOTHING, range);
	if (!finding)
		return;
	finding->calls = calls;
	finding->cpu = saving_ns(saving_cpu(profile, calls, cpu));
	whole_text(finding, most, times, advice, title, name);
}

/* --- Calls that can be left out -------------------------------------------------------------- */

/* True if the code is in a library, whose source the program's author may not have. */
static bool useless_in_library(const struct profile *profile, const struct event_frame *frame)
{
	const char *path;

	if (!frame->object || frame->object > profile->n_objects)
		return false;
	path = profile->objects[frame->object].path;
	return strstr(path, ".so.") ||
	       (strlen(path) > 3 && !strcmp(path + strlen(path) - 3, ".so"));
}

static void advise_useless(struct advice *advice, enum useless_kind kind)
{
	static const struct {
		const char *title, *of, *advice;
	} texts[] = {
#define USELESS(name, title, of, advice) [USELESS_##name] = {title, of, advice},
#include "fold/useless.def"
	};
	const struct profile *profile = advice->profile;
	uint64_t calls = profile->useless[kind].calls;
	double cpu = saving_cpu(profile, calls, profile->useless[kind].cpu);
	/* The program's own branches miss for a while after a call. */
	double leaves = calls * CROSSING_LEAVES * profile->header.null_call;
	struct saving range = {cpu * 0.8, cpu, cpu + leaves};
	const struct event_frame *frame;
	struct finding *finding;

	if (!calls || cpu < MIN_SHARE / 2 * advice->cpu)
		return;
	finding = finding_new(advice, WAY_REMOVE, range);
	if (!finding)
		return;
	finding->calls = calls;
	finding->cpu = saving_ns(cpu);
	finding->site = profile->useless[kind].site;
	frame = profile_frame(profile, profile->sites[finding->site].stack);
	if (frame) {
		finding->object = frame->object;
		finding->address = frame->address;
	}
	snprintf(finding->title, sizeof(finding->title), "%s: %lu of %lu (%s)", texts[kind].title,
		 calls, profile->useless[kind].of, texts[kind].of);
	if (frame && useless_in_library(profile, frame))
		snprintf(finding->type, sizeof(finding->type),
			 "a library makes these calls: call it less often, or change it: %s",
			 texts[kind].advice);
	else
		snprintf(finding->type, sizeof(finding->type), "%s", texts[kind].advice);
	strcpy(finding->gives_up, "nothing");
}

static int finding_order(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if ((x->way == WAY_NOTHING) != (y->way == WAY_NOTHING))
		return x->way == WAY_NOTHING ? 1 : -1;
	if (x->way == WAY_NOTHING)
		return (x->cpu < y->cpu) - (x->cpu > y->cpu);
	return (x->middle < y->middle) - (x->middle > y->middle);
}

void advise(const struct profile *profile, const struct advise_context *context, struct advice *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->profile = profile;
	if (context)
		ret->context = *context;
	ret->kernel = advise_cpu(profile, &profile->sums);
	ret->user = advise_user(profile, &profile->sums);
	ret->cpu = ret->kernel + ret->user;
	advise_rows(ret);
	run_advise(ret);
	run_advise_relaxed(ret);
	advise_whole(ret, IN_READ, "open-read-close of a whole file", "cosy_read_file()");
	advise_whole(ret, IN_WRITE, "open-write-close of a whole file", "cosy_write_file()");
	for (int i = 0; i < USELESS_KINDS; i++)
		advise_useless(ret, i);
	qsort(ret->findings, ret->n, sizeof(*ret->findings), finding_order);
	ret->context = (struct advise_context){NULL, NULL, NULL};
}
