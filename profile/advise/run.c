// SPDX-License-Identifier: MIT
/* run.c - the savings of `cosy run` and its --relax; see saving.h. */
#include <stdio.h>
#include <string.h>

#include "../run/file/price.h"
#include "advise/saving.h"

#include "model.h"

/* ns that a copy from a mapping takes more where it is in no cache and in no TLB. */
#define RANDOM_COST 170

/* Times as long as alone in a loop that a read takes, at most, among other work. */
#define DEARER 1.35

/* --- cosy run ---------------------------------------------------------------------------- */

/*
 * Writes the command to type.  It keeps the name that the program was started by, because some
 * programs act by their name, unless another name is needed to find it.
 */
static void run_type(struct finding *finding, const struct advice *advice, const char *option)
{
	const struct profile *profile = advice->profile;
	const char *program = *profile->program ? profile->program : "PROGRAM";
	const char *slash = strrchr(program, '/');
	size_t len = slash ? slash - program : 0;

	if ((len == 4 && !memcmp(program, "/bin", len)) ||
	    (len == 8 && !memcmp(program, "/usr/bin", len)))
		program = slash + 1;
	if (advice->context.typed)
		program = advice->context.typed;
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

/* ns that reading data in the page cache takes on this machine. */
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
 * Returns the least and the most time that the reads that would be served take now, with their
 * lseeks.  Their measured time includes the tracer's, and the disk's, which a window does not save.
 */
static struct saving run_takes(const struct advice *advice, const struct read_price *price)
{
	const struct profile *profile = advice->profile;
	const struct run_sums *run = &advice->reads;
	uint64_t served = run->calls[RUN_SERVED];
	double cpu = saving_cpu(profile, served, run->cpu[RUN_SERVED]);
	double seeks = (double)run->seeks * profile->header.null_call;
	double reckoned = served * price->call + run->bytes[RUN_SERVED] * price->byte;
	struct saving ret = {.low = 0.8 * reckoned, .high = DEARER * reckoned};

	if (advise_measures(profile)) {
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

static struct saving run_saves(const struct advice *advice)
{
	const struct profile *profile = advice->profile;
	const struct run_sums *run = &advice->reads;
	struct read_price price = read_price(profile);
	double serves = run_costs(run, &price);
	double start = run->programs * model_exec_us * 1000;
	double windows =
		(double)run->windows * WINDOW_COST + (run->windows ? LEASE_THREAD_COST : 0);
	struct saving range = run_takes(advice, &price);

	/*
	 * Data elsewhere is in no cache, and a read that is left out no longer waits for it.  The
	 * program's own branches are predicted better, because each crossing discards their
	 * history.
	 */
	range.high += run->calls[RUN_SERVED] * CROSSING_LEAVES * profile->header.null_call;
	range.high -= 0.8 * serves + start + windows / 2;
	range.low -= 1.2 * serves + 2 * start + windows + run->random * RANDOM_COST;
	range.middle = (range.low + range.high) / 2;
	return range;
}

/* Adds a file's reads to those that are not served. */
static void reads_refuse(struct run_sums *run, const struct run_served *file, enum run_reason why)
{
	run->calls[why] += file->calls;
	run->cpu[why] += file->cpu;
	run->bytes[why] += file->bytes;
	run->calls[RUN_SERVED] -= file->calls;
	run->cpu[RUN_SERVED] -= file->cpu;
	run->bytes[RUN_SERVED] -= file->bytes;
	run->seeks -= file->seeks;
	run->windows -= file->windows;
	run->random -= file->random;
	run->fetches -= file->fetches;
	run->fetched -= file->fetched;
}

/* Checks the present state of the files.  Returns the condition of the finding, or "". */
static const char *reads_look(struct advice *advice)
{
	const struct profile *profile = advice->profile;
	const struct file_look *files = advice->context.files;
	uint64_t looked = 0; /* reads of files that could be checked */
	bool daemon = false;

	advice->reads = profile->run;
	for (uint32_t i = 1; files && i <= profile->n_run_files; i++) {
		const struct run_file *file = &profile->run_files[i];
		enum run_reason why = files->look(
			files->context, file, profile->programs.of[file->program].path, &daemon);

		if (why != RUN_REASONS)
			looked += file->served.calls;
		if (why != RUN_SERVED && why != RUN_REASONS)
			reads_refuse(&advice->reads, &file->served, why);
	}
	if (profile->run.earlier)
		return "on whether the program itself opened the files that were open already, "
		       "whose they are (its user's, or cosyd runs), where (ext4, tmpfs, xfs, btrfs "
		       "and the like), that nobody writes them, and cosy-run.conf(5)";
	if (looked < profile->run.calls[RUN_SERVED])
		return "on whose its files are (its user's, or cosyd runs), where they are (ext4, "
		       "tmpfs, xfs, btrfs and the like), that nobody writes them, and "
		       "cosy-run.conf(5)";
	return daemon ? "on cosyd, for the files of other users" : "";
}

void run_advise(struct advice *advice)
{
	const struct profile *profile = advice->profile;
	const char *depends = reads_look(advice);
	const struct run_sums *run = &advice->reads;
	struct saving range = run_saves(advice);
	bool pays = saving_pays(advice, &range);
	struct finding *finding = finding_new(advice, pays ? WAY_RUN : WAY_NOTHING, range);

	if (!finding)
		return;
	for (int i = 0; i < RUN_REASONS; i++)
		finding->calls += i == RUN_NO_FILE ? 0 : run->calls[i];
	finding->cpu = saving_ns(saving_cpu(profile, run->calls[RUN_SERVED], run->cpu[RUN_SERVED]));
	if (pays && run->seeks)
		snprintf(finding->title, sizeof(finding->title),
			 "%lu of %lu reads of files, and %lu lseeks", run->calls[RUN_SERVED],
			 finding->calls, run->seeks);
	else if (pays)
		snprintf(finding->title, sizeof(finding->title), "%lu of %lu reads of files",
			 run->calls[RUN_SERVED], finding->calls);
	else
		strcpy(finding->title, "cosy run");
	if (pays) {
		run_type(finding, advice, "");
		strcpy(finding->gives_up, "access times of the files");
		strcpy(finding->depends, depends);
	} else {
		run_why(run, finding->why, sizeof(finding->why));
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

/*
 * Returns ns of rewriting these files in place, from the times of a write, and of files of 4 and 64
 * KB.
 */
static double rewrite_takes(const struct relax_sums *sums, double small, double large, double write)
{
	double byte = (large - small) / (65536 - 4096);

	return sums->files * (small - 4096 * byte) + sums->bytes * byte +
	       (double)(sums->writes - sums->files) * write;
}

/* Processor time of open, writes and close, less the time that they would take in place. */
static struct saving trunc_saves(const struct profile *profile)
{
	const struct relax_sums *sums = &profile->relax[RELAX_TRUNC];
	double cpu = saving_cpu(profile, sums->calls, sums->cpu), slower = machine_slower(profile);
	double most = rewrite_takes(sums, model_rewrite_4k_most, model_rewrite_64k_most,
				    model_write_most);
	double least = rewrite_takes(sums, model_rewrite_4k_least, model_rewrite_64k_least,
				     model_write_least);

	return (struct saving){.low = cpu - slower * most, .high = cpu - slower * least};
}

static struct saving coalesce_saves(const struct profile *profile)
{
	const struct relax_sums *sums = &profile->relax[RELAX_COALESCE];
	double cpu = saving_cpu(profile, sums->calls, sums->cpu);

	return (struct saving){.low = cpu * (1 - 1 / model_coalesce_least),
			       .high = cpu * (1 - 1 / model_coalesce_most)};
}

static void advise_relax(struct advice *advice, enum relax_kind kind, enum advise_way way,
			 struct saving range, const char *title, const char *gives_up)
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
	finding->cpu = saving_ns(saving_cpu(profile, sums->calls, sums->cpu));
	snprintf(finding->title, sizeof(finding->title), "%s (%lu file%s)", title, sums->files,
		 sums->files == 1 ? "" : "s");
	run_type(finding, advice, way == WAY_TRUNC ? "--relax=trunc " : "--relax=coalesce ");
	strcpy(finding->gives_up, gives_up);
}

/* Files that may be new: for them O_TRUNC has nothing to free, and nothing is advised. */
static void advise_fresh(struct advice *advice)
{
	const struct profile *profile = advice->profile;
	double cpu = saving_cpu(profile, profile->fresh.calls, profile->fresh.cpu);
	struct finding *finding;

	if (profile->fresh.files <= profile->relax[RELAX_TRUNC].files ||
	    cpu < WHOLE_SHARE * advice->cpu)
		return;
	finding = finding_new(advice, WAY_NOTHING, (struct saving){0, 0, 0});
	if (!finding)
		return;
	finding->calls = profile->fresh.calls;
	finding->cpu = saving_ns(cpu);
	snprintf(finding->title, sizeof(finding->title), "files written after O_TRUNC (%lu file%s)",
		 profile->fresh.files, profile->fresh.files == 1 ? "" : "s");
	strcpy(finding->why,
	       "the recording does not show that they had contents before; if they have, each "
	       "time, try cosy run --relax=trunc");
}

void run_advise_relaxed(struct advice *advice)
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
