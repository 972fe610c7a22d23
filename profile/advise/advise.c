// SPDX-License-Identifier: MIT
/* advise.c - see advise.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../core/costs.h"
#include "../preload/file/price.h"
#include "advise/advise.h"
#include "calls.h"

/* Time that remains of a plain call; below 0: all but the crossing. */
struct model_class {
	const char *title;
	double ordinary, least, most, named;
};

#include "model.h"

/* Smallest saving, in parts of the whole, that is worth a line. */
#define MIN_SHARE 0.01
/* Things that might cost more are not advised. */
#define MAX_LOSS 0.02

/* Share of the calls or the time from which files that are read or written whole are worth a line. */
#define WHOLE_SHARE   0.02
#define SESSION_DEPTH 6

/* ns that a copy from a mapping takes more where it is in no cache and in no TLB. */
#define RANDOM_COST 170

/* Part of ptrace's time between two calls that is not known better. */
#define GAP_NOISE 0.3

/* Times a getppid by which a call, at most, slows the program's own code after it. */
#define CROSSING_LEAVES 0.6

/* Times as long as alone in a loop that a read takes, at most, among other work. */
#define DEARER 1.35

/* Instructions of a compound: of a loop of two calls or three, and of one that does a lot with them. */
#define MIN_INSNS 40
#define MAX_INSNS 160

/* Loops within loops that are looked into. */
#define MAX_NESTED 8

struct range {
	double low, middle, high;
};

/* ns that an instruction takes here, by what getppid takes. */
static double instruction(const struct profile *profile)
{
	double null_call =
		profile->header.null_call ? profile->header.null_call : model_null_call / 3;

	return null_call / model_null_call;
}

/* Never less than what a call without anything in it takes. */
static double net_cpu(const struct profile *profile, uint64_t calls, uint64_t cpu)
{
	double least = (double)calls * profile->header.null_call;
	double ret = (double)cpu - (double)calls * profile->header.call_cost;

	return ret < least ? least : ret;
}

/* Sums of what a hostile recording says may be anything. */
static int64_t whole_ns(double ns)
{
	return ns > 1e18 ? 1000000000000000000 : ns < -1e18 ? -1000000000000000000 : (int64_t)ns;
}

uint64_t advise_cpu(const struct profile *profile, const struct sums *sums)
{
	return sums->cpu ? whole_ns(net_cpu(profile, sums->calls, sums->cpu)) : 0;
}

uint64_t advise_user(const struct profile *profile, const struct sums *sums)
{
	double ret = (double)sums->user - (double)sums->calls * profile->header.gap_cost;

	return ret < 0 ? 0 : whole_ns(ret);
}

/* --- Regions ------------------------------------------------------------------------ */

static double class_saved(double cpu, double crossing, double remains)
{
	double ret = remains < 0 ? crossing : cpu * (1 - remains);

	return ret < cpu ? ret : cpu;
}

/* Returns what the calls of a class save in a region. */
static struct range class_saves(const struct profile *profile, const struct sums *sums,
				enum call_class class)
{
	const struct model_class *model = &model_classes[class];
	uint64_t calls = sums->of[class].calls;
	double cpu = net_cpu(profile, calls, sums->of[class].cpu);
	double crossing = calls * model_crossing * instruction(profile);
	double most = class_saved(cpu, crossing, model->most),
	       least = class_saved(cpu, crossing, model->least);
	struct range range;

	if (model->ordinary == 1)
		return (struct range){0, 0, 0};
	range.low = crossing < cpu ? crossing : cpu;
	range.middle = (least + most) / 2;
	range.high = class_saved(cpu, crossing, model->named);
	if (range.middle < range.low)
		range.middle = range.low;
	if (range.high < range.middle)
		range.high = range.middle;
	return range;
}

/*
 * The program's own time between the calls of a row, as far as it is surely that: a stop by ptrace
 * leaves caches colder than any calibration knows, by a part of what it costs itself.
 */
static double row_computes(const struct advice *advice, const struct profile_row *row)
{
	const struct profile *profile = advice->profile;
	double ret = advise_user(profile, &row->sums);

	if (profile->header.backend == EVENT_BACKEND_PTRACE)
		ret -= (double)row->sums.calls * profile->header.gap_cost * GAP_NOISE;
	return ret < 0 ? 0 : ret;
}

/* True for calls of which the compiler thinks that they have a specialised version. */
static bool class_is_fast(enum call_class class)
{
	return class == CLASS_PURE || class == CLASS_READ_SMALL || class == CLASS_READ ||
	       class == CLASS_READ_LARGE || class == CLASS_RECEIVE || class == CLASS_STAT ||
	       class == CLASS_SEEK || class == CLASS_WRITE || class == CLASS_SEND;
}

/* Returns the instructions that lib/region/tier.c takes these calls for when they are made outside. */
static double sums_outside(const struct sums *sums)
{
	double ret = 0;

	for (int i = 0; i < CLASSES; i++)
		ret += (double)sums->of[i].calls *
		       (class_is_fast(i) ? COSY_PLAIN_FAST : COSY_PLAIN_CALL);
	return ret;
}

/* Instructions outside by which a loop of so many has earned its two LOADs. */
static double region_earns(unsigned int insns)
{
	double load = COSY_COST_LOAD + (double)insns * COSY_COST_LOAD_INSN;

	return COSY_TIER_SHARE * (2 * load + COSY_COST_CONTEXT + COSY_COST_LIBRARY);
}

/* Returns the part of these calls, each process's, that comes after a region of them has earned the kernel. */
static struct range earned_part(const struct profile *profile, double outside)
{
	double least = region_earns(MAX_INSNS), most = region_earns(MIN_INSNS);
	struct range range = {.low = outside > least ? 1 - least / outside : 0,
			      .high = outside > most ? 1 - most / outside : 0};

	/* Who goes on has much more to do than was recorded. */
	if (profile->running)
		range.high = 1;
	range.middle = (range.low + range.high) / 2;
	return range;
}

/* Scales a saving to that part, which only then is charged with loading, `load` ns. */
static struct range earned_saves(struct range range, struct range part, double load)
{
	double low = range.low > 0 ? part.low : part.high;

	return (struct range){low > 0 ? range.low * low - load : 0,
			      part.middle > 0 ? range.middle * part.middle - load : 0,
			      part.high > 0 ? range.high * part.high - load : 0};
}

static bool row_has(const struct profile_row *row, enum call_class class)
{
	return row->sums.of[class].calls * 20 >= row->sums.calls;
}

/*
 * Tells whether the function that a loop is in lists a directory: of some hundred entries one call
 * asks, which is often no part of the loop.
 */
static bool row_lists(const struct profile *profile, const struct profile_row *row)
{
	for (uint32_t i = 1; i <= profile->n_sites; i++) {
		const struct site *site = &profile->sites[i];
		const struct event_frame *frame = profile_frame(profile, site->stack);

		if (site->nr == SYS_getdents64 && frame && frame->object == row->object &&
		    frame->function == row->function)
			return true;
	}
	return false;
}

/*
 * Tells whether the loop stays native as it stands, and is an operation by name: one that lists a
 * directory by readdir.
 */
static bool row_is_named(const struct profile *profile, const struct profile_row *row)
{
	return row_has(row, CLASS_STAT) &&
	       (row_has(row, CLASS_QUESTION) || row_lists(profile, row));
}

/*
 * Returns what scan_dir saves of asking for the entries, beyond the crossings: the share that
 * remains was measured of listing and stat together.
 */
static double listing_saves(const struct profile *profile, const struct sums *sums)
{
	double cpu = net_cpu(profile, sums->of[CLASS_QUESTION].calls, sums->of[CLASS_QUESTION].cpu);
	double saved = class_saved(cpu, 0, model_classes[CLASS_STAT].named);
	double counted = class_saves(profile, sums, CLASS_QUESTION).high;

	return saved > counted ? saved - counted : 0;
}

static struct range region_saves(const struct advice *advice, const struct profile_row *row)
{
	const struct profile *profile = advice->profile;
	double user = row_computes(advice, row), ns = instruction(profile);
	/* A call that no region may hold ends it, and the next one begins after it. */
	double entries = row->entries + row->sums.of[CLASS_PROCESS].calls;
	double cost = entries * model_region * ns, load = row->processes * model_first_region * ns;
	struct range sum = {0, 0, 0};

	for (int i = 0; i < CLASSES; i++) {
		struct range range = class_saves(profile, &row->sums, i);

		sum.low += range.low;
		sum.middle += range.middle;
		sum.high += range.high;
	}
	/* Some of the computing may be left outside. */
	sum.low -= cost + user * (model_computing - 1);
	sum.middle -= cost + user * (model_computing - 1) / 2;
	sum.high -= cost;
	/* An operation counts as one call, so it is to be forced into the kernel, and at once. */
	if (row_is_named(profile, row)) {
		sum.high += listing_saves(profile, &row->sums);
		return earned_saves(sum, (struct range){1, 1, 1}, load);
	}
	return earned_saves(sum, earned_part(profile, sums_outside(&row->sums) / row->processes),
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

/* Tells whether a call of a loop, or of one within it, is such. */
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
	else if (row_has(row, CLASS_OPEN) && row_has(row, CLASS_WRITE))
		better = "cosy_write_file() for whole small files";
	else if (loop_has(profile, row->symbol, MAX_NESTED, site_waits) &&
		 loop_has(profile, row->symbol, MAX_NESTED, site_receives))
		better = "cosy_epoll_read() for epoll_wait and a read of each that is ready";
	else if (row_has(row, CLASS_SEND) &&
		 (row_has(row, CLASS_READ) || row_has(row, CLASS_READ_LARGE)))
		better = "cosy_lend() to send without the copy";
	else if (row_has(row, CLASS_SEEK))
		better = "cosy_seek_read() for lseek and read";
	strcpy(finding->type, "COSY_START; before the loop, COSY_END; after it; then cosycc "
			      "(docs/use/regions.md)");
	strcpy(finding->better, better);
}

/* Why a region would not pay here. */
static void region_why(const struct advice *advice, const struct profile_row *row,
		       const struct range *range, char *to, size_t size)
{
	const struct profile *profile = advice->profile;
	double kernel = advise_cpu(profile, &row->sums), user = row_computes(advice, row);
	double per_entry = row->entries ? (double)row->sums.calls / row->entries : 0;
	double outside = sums_outside(&row->sums) / row->processes;

	if (!profile->running && outside < region_earns(MIN_INSNS) &&
	    row->sums.calls * 2 > profile->sums.calls)
		snprintf(to, size,
			 "too short a run: a region goes into the kernel after some %.0f times as "
			 "many calls of a process (cosycc -fcosy-force does not wait)",
			 ceil(region_earns(MAX_INSNS) / outside));
	else if (range->middle > MIN_SHARE * advice->cpu)
		snprintf(
			to, size,
			"it may save %.0f %% or cost %.0f %%, since it computes between its calls, "
			"which is slower in a region; build both and compare",
			100 * range->high / advice->cpu, -100 * range->low / advice->cpu);
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
			 "it computes between its calls (%.0f %% of its time), which is slower in "
			 "a region",
			 100 * user / (user + kernel));
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

static struct finding *finding_new(struct advice *advice, enum advise_way way, struct range range)
{
	struct finding *finding;

	if (advice->n == ADVISE_MAX_FINDINGS)
		return NULL;
	finding = &advice->findings[advice->n++];
	memset(finding, 0, sizeof(*finding));
	finding->way = way;
	finding->low = whole_ns(range.low);
	finding->middle = whole_ns(range.middle);
	finding->high = whole_ns(range.high);
	return finding;
}

static void advise_row(struct advice *advice, uint32_t number)
{
	const struct profile *profile = advice->profile;
	const struct profile_row *row = &profile->rows[number];
	struct range range = region_saves(advice, row);
	bool pays = range.middle > MIN_SHARE * advice->cpu && range.low > -MAX_LOSS * advice->cpu;
	struct finding *finding = finding_new(advice, pays ? WAY_REGION : WAY_NOTHING, range);

	if (!finding)
		return;
	finding->row = number;
	finding->object = row->object;
	finding->address = row->address;
	finding->calls = row->sums.calls;
	finding->cpu = advise_cpu(profile, &row->sums) + advise_user(profile, &row->sums);
	advise_sequence(profile, row->symbol, finding->title, 160);
	if (pays) {
		region_type(profile, row, finding);
		strcpy(finding->gives_up, "nothing");
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

/* --- cosy run ---------------------------------------------------------------------------- */

/* Tells how the program is to be started, by a name that finds it. */
static void run_type(struct finding *finding, const struct profile *profile, const char *option)
{
	const char *program = *profile->program ? profile->program : "PROGRAM";
	const char *slash = strrchr(program, '/');
	size_t len = slash ? slash - program : 0;

	if ((len == 4 && !memcmp(program, "/bin", len)) ||
	    (len == 8 && !memcmp(program, "/usr/bin", len)))
		program = slash + 1;
	snprintf(finding->type, sizeof(finding->type), "cosy run %s-- %s ...", option, program);
}

static void run_why(const struct run_sums *run, char *to, size_t size)
{
	uint64_t reads = 0;
	enum run_reason most = RUN_UNEARNED;

	for (int i = 0; i < RUN_REASONS; i++) {
		reads += i == RUN_NO_FILE ? 0 : run->calls[i];
		if (i != RUN_SERVED && i != RUN_NO_FILE && run->calls[i] > run->calls[most])
			most = i;
	}
	if (!reads)
		snprintf(to, size, "the program reads no files by read or pread");
	else if (!run->calls[most])
		snprintf(to, size, "what it would save is less than what it costs each exec");
	else
		snprintf(to, size, "%lu of %lu reads of files would be served%s; %lu not: %s",
			 run->calls[RUN_SERVED], reads,
			 run->calls[RUN_SERVED] ? ", too few to pay" : "", run->calls[most],
			 advise_run_reasons[most]);
}

/* What reading takes here, ns, where the data is in the page cache. */
struct read_price {
	double call;		/* a read of one byte */
	double byte, user_byte; /* one byte more, and copying one in the program */
};

static struct read_price read_price(const struct profile *profile)
{
	const struct event_header *header = &profile->header;
	struct read_price ret = {
		.call = header->read_call ? header->read_call : 2.0 * header->null_call,
		.byte = header->read_block / (double)EVENT_BLOCK,
		.user_byte = header->copy_block / (double)EVENT_BLOCK,
	};

	if (!header->read_block)
		ret.byte = (model_plain_large - model_plain_byte) / EVENT_BLOCK;
	if (!header->copy_block)
		ret.user_byte = (model_hot_block - model_hot_byte) / 8192;
	return ret;
}

/*
 * Returns the least and the most that the reads that would be served take now, lseeks included.  What was
 * measured of them has the tracer in it, and what only a disk takes, which a window does not save.
 */
static struct range run_takes(const struct profile *profile, const struct read_price *price)
{
	const struct run_sums *run = &profile->run;
	uint64_t served = run->calls[RUN_SERVED];
	double cpu = net_cpu(profile, served, run->cpu[RUN_SERVED]);
	double seeks = (double)run->seeks * profile->header.null_call;
	double reckoned = served * price->call + run->bytes[RUN_SERVED] * price->byte;
	struct range ret = {.low = 0.8 * reckoned, .high = DEARER * reckoned};

	/* Stopping costs ten times what such a call does, so what is left of the sum is noise. */
	if (profile->header.backend != EVENT_BACKEND_PTRACE) {
		ret.low = cpu < reckoned ? 0.8 * cpu : ret.low;
		ret.high = cpu < reckoned ? reckoned : cpu < ret.high ? cpu : ret.high;
	}
	ret.low += 0.8 * seeks;
	ret.high += seeks;
	return ret;
}

/* Returns the time that `cosy run` takes to serve them, its start left out. */
static double run_costs(const struct run_sums *run, const struct read_price *price)
{
	return (run->calls[RUN_SERVED] + run->seeks) * model_hot_byte +
	       run->bytes[RUN_SERVED] * price->user_byte + run->fetches * price->call +
	       run->fetched * price->byte;
}

static struct range run_saves(const struct profile *profile)
{
	const struct run_sums *run = &profile->run;
	struct read_price price = read_price(profile);
	double serves = run_costs(run, &price);
	double start = run->programs * model_exec_us * 1000;
	double windows =
		(double)run->windows * WINDOW_COST + (run->windows ? LEASE_THREAD_COST : 0);
	struct range range = run_takes(profile, &price);

	/*
	 * What lies elsewhere is in no cache: the read that is left out no longer waits for it.  Nor
	 * do the program's own branches miss, whose history each crossing takes away.
	 */
	range.high += run->calls[RUN_SERVED] * CROSSING_LEAVES * profile->header.null_call;
	range.high -= 0.8 * serves + start + windows / 2;
	range.low -= 1.2 * serves + 2 * start + windows + run->random * RANDOM_COST;
	range.middle = (range.low + range.high) / 2;
	return range;
}

static void advise_run(struct advice *advice)
{
	const struct profile *profile = advice->profile;
	struct range range = run_saves(profile);
	bool pays = range.middle > MIN_SHARE * advice->cpu && range.low > -MAX_LOSS * advice->cpu;
	struct finding *finding = finding_new(advice, pays ? WAY_RUN : WAY_NOTHING, range);

	if (!finding)
		return;
	for (int i = 0; i < RUN_REASONS; i++)
		finding->calls += i == RUN_NO_FILE ? 0 : profile->run.calls[i];
	finding->cpu = whole_ns(
		net_cpu(profile, profile->run.calls[RUN_SERVED], profile->run.cpu[RUN_SERVED]));
	if (pays && profile->run.seeks)
		snprintf(finding->title, sizeof(finding->title),
			 "%lu of %lu reads of files, and %lu lseeks",
			 profile->run.calls[RUN_SERVED], finding->calls, profile->run.seeks);
	else if (pays)
		snprintf(finding->title, sizeof(finding->title), "%lu of %lu reads of files",
			 profile->run.calls[RUN_SERVED], finding->calls);
	else
		strcpy(finding->title, "cosy run");
	if (pays) {
		run_type(finding, profile, "");
		strcpy(finding->gives_up, "access times of the files");
	} else {
		run_why(&profile->run, finding->why, sizeof(finding->why));
	}
	advice->run = *finding;
}

/* --- cosy run --relax --------------------------------------------------------------------- */

/* Returns how many times slower this machine is than the one whose ns the model has. */
static double machine_slower(const struct profile *profile)
{
	double ret = profile->header.read_call / model_plain_byte;

	return !profile->header.read_call ? 1 : ret < 0.25 ? 0.25 : ret > 8 ? 8 : ret;
}

/* Returns ns of rewriting these files in place, by what files of 4 and 64 KB and a write take. */
static double rewrite_takes(const struct relax_sums *sums, double small, double large, double write)
{
	double byte = (large - small) / (65536 - 4096);

	return sums->files * (small - 4096 * byte) + sums->bytes * byte +
	       (double)(sums->writes - sums->files) * write;
}

/* What open, writes and close take of the processor, less what they would take in place. */
static struct range trunc_saves(const struct profile *profile)
{
	const struct relax_sums *sums = &profile->relax[RELAX_TRUNC];
	double cpu = net_cpu(profile, sums->calls, sums->cpu), slower = machine_slower(profile);
	double most = rewrite_takes(sums, model_rewrite_4k_most, model_rewrite_64k_most,
				    model_write_most);
	double least = rewrite_takes(sums, model_rewrite_4k_least, model_rewrite_64k_least,
				     model_write_least);

	return (struct range){.low = cpu - slower * most, .high = cpu - slower * least};
}

static struct range coalesce_saves(const struct profile *profile)
{
	const struct relax_sums *sums = &profile->relax[RELAX_COALESCE];
	double cpu = net_cpu(profile, sums->calls, sums->cpu);

	return (struct range){.low = cpu * (1 - 1 / model_coalesce_least),
			      .high = cpu * (1 - 1 / model_coalesce_most)};
}

static void advise_relax(struct advice *advice, enum relax_kind kind, enum advise_way way,
			 struct range range, const char *title, const char *gives_up)
{
	const struct profile *profile = advice->profile;
	const struct relax_sums *sums = &profile->relax[kind];
	double cost = profile->run.programs * model_exec_us * 1000;
	struct finding *finding;

	range.low -= 2 * cost;
	range.high -= cost;
	range.middle = (range.low + range.high) / 2;
	if (!sums->calls || range.middle < MIN_SHARE * advice->cpu ||
	    range.low < -MAX_LOSS * advice->cpu)
		return;
	finding = finding_new(advice, way, range);
	if (!finding)
		return;
	finding->calls = sums->calls;
	finding->cpu = whole_ns(net_cpu(profile, sums->calls, sums->cpu));
	snprintf(finding->title, sizeof(finding->title), "%s (%lu file%s)", title, sums->files,
		 sums->files == 1 ? "" : "s");
	run_type(finding, profile, way == WAY_TRUNC ? "--relax=trunc " : "--relax=coalesce ");
	strcpy(finding->gives_up, gives_up);
}

/* Files that may be new: for them O_TRUNC has nothing to free, and nothing is advised. */
static void advise_fresh(struct advice *advice)
{
	const struct profile *profile = advice->profile;
	double cpu = net_cpu(profile, profile->fresh.calls, profile->fresh.cpu);
	struct finding *finding;

	if (profile->fresh.files <= profile->relax[RELAX_TRUNC].files ||
	    cpu < WHOLE_SHARE * advice->cpu)
		return;
	finding = finding_new(advice, WAY_NOTHING, (struct range){0, 0, 0});
	if (!finding)
		return;
	finding->calls = profile->fresh.calls;
	finding->cpu = whole_ns(cpu);
	snprintf(finding->title, sizeof(finding->title), "files written after O_TRUNC (%lu file%s)",
		 profile->fresh.files, profile->fresh.files == 1 ? "" : "s");
	strcpy(finding->why,
	       "the recording does not show that they had contents before; if they have, each "
	       "time, try cosy run --relax=trunc");
}

static void advise_relaxed(struct advice *advice)
{
	advise_relax(advice, RELAX_TRUNC, WAY_TRUNC, trunc_saves(advice->profile),
		     "files rewritten in place, not truncated first",
		     "after a crash the old end may come after the new beginning; see "
		     "docs/use/relax.md");
	advise_fresh(advice);
	advise_relax(
		advice, RELAX_COALESCE, WAY_COALESCE, coalesce_saves(advice->profile),
		"small writes coalesced",
		"up to 64 KiB of the last writes if the process is killed; see docs/use/relax.md");
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
	unsigned int parts = session->cut ? IN_OTHER : 0;

	for (uint32_t i = 0; i < session->len; i++)
		parts |= symbol_parts(profile, profile->bodies[session->first + i], SESSION_DEPTH);
	return session->file == FILE_REGULAR && parts == (IN_OPEN | what | IN_CLOSE);
}

static void whole_text(struct finding *finding, const struct session *most, uint64_t times,
		       const struct advice *advice, const char *title, const char *name)
{
	char sequence[100];

	advise_session(advice->profile, most, sequence, sizeof(sequence));
	snprintf(finding->title, sizeof(finding->title), "%s: %lu file%s (%s)", title, times,
		 times == 1 ? "" : "s", sequence);
	if (finding->way == WAY_NOTHING)
		snprintf(finding->why, sizeof(finding->why),
			 "%.1f %% of the processor time, %.1f us a file, which is nearly all the "
			 "file system's own; %s saves %.1f calls of each",
			 advice->cpu ? 100.0 * finding->cpu / advice->cpu : 0,
			 finding->cpu / 1e3 / times, name,
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
	struct range range;

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
		       net_cpu(profile, calls, cpu) < WHOLE_SHARE * advice->cpu))
		return;
	/* Each in a region of its own, or all in one. */
	saved = (double)(calls - times) * model_crossing * instruction(profile);
	range = (struct range){saved - times * entry, saved - times * entry / 2, saved};
	range = earned_saves(
		range, earned_part(profile, (double)calls * COSY_PLAIN_CALL / profile->processes),
		0);
	finding = finding_new(advice,
			      range.middle > MIN_SHARE * advice->cpu &&
					      range.low > -MAX_LOSS * advice->cpu
				      ? WAY_REGION
				      : WAY_NOTHING,
			      range);
	if (!finding)
		return;
	finding->calls = calls;
	finding->cpu = whole_ns(net_cpu(profile, calls, cpu));
	whole_text(finding, most, times, advice, title, name);
}

/* --- What could be left out ------------------------------------------------------------------ */

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
	double cpu = net_cpu(profile, calls, profile->useless[kind].cpu);
	struct range range = {cpu * 0.8, cpu, cpu};
	const struct event_frame *frame;
	struct finding *finding;

	if (!calls || cpu < MIN_SHARE / 2 * advice->cpu)
		return;
	finding = finding_new(advice, WAY_REMOVE, range);
	if (!finding)
		return;
	finding->calls = calls;
	finding->cpu = whole_ns(cpu);
	finding->site = profile->useless[kind].site;
	frame = profile_frame(profile, profile->sites[finding->site].stack);
	if (frame) {
		finding->object = frame->object;
		finding->address = frame->address;
	}
	snprintf(finding->title, sizeof(finding->title), "%s: %lu of %lu (%s)", texts[kind].title,
		 calls, profile->useless[kind].of, texts[kind].of);
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

void advise(const struct profile *profile, struct advice *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->profile = profile;
	ret->kernel = advise_cpu(profile, &profile->sums);
	ret->user = advise_user(profile, &profile->sums);
	ret->cpu = ret->kernel + ret->user;
	advise_rows(ret);
	advise_run(ret);
	advise_relaxed(ret);
	advise_whole(ret, IN_READ, "open-read-close of a whole file", "cosy_read_file()");
	advise_whole(ret, IN_WRITE, "open-write-close of a whole file", "cosy_write_file()");
	for (int i = 0; i < USELESS_KINDS; i++)
		advise_useless(ret, i);
	qsort(ret->findings, ret->n, sizeof(*ret->findings), finding_order);
}
