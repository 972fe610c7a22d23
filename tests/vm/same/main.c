// SPDX-License-Identifier: MIT
/*
 * main.c - compares calls by specialised versions with plain calls.
 *
 *	same DIRECTORY			rounds in DIRECTORY, each twice
 *	same --one WAY SEED DIRECTORY OUT NOTES	one round: its transcript
 *
 * A round is a fresh tree and BATCHES random batches of calls, all of it from one seed;
 * WAY is plain, region, ordinary (a region whose calls are never specialised) or built
 * (a compound with operations in the place of calls).  SAME_WAY is one of them; without
 * it rounds go by region and built in turn.
 * SAME_SEED (1) is the first round's seed, SAME_ROUNDS (ROUNDS, scaled by COSY_SCALE, divided by
 * SAME_SHARE) how many there are, SAME_LIMIT (3000) how many seconds one may take.
 * SAME_NO_DIRECT leaves O_DIRECT out: what btrfs leaves after the bytes of such a read differs
 * between plain calls.
 * SAME_ATIME=relatime lets the clock tick after each change, and leaves out the calls whose
 * outcome then depends on a tick inside them (see generate.c).
 *
 * Any difference is a failure.  The round is then made once more, which tells whether
 * plain calls alone come out alike; if not, the test itself is to be mended: something is
 * left over from the round before, or not waited for.
 */
#include <ftw.h>
#include <stdarg.h>
#include <sys/mount.h>
#include "same.h"

/* Unmounts everything in the tree, the newest first. */
void unmount_all(const char *tree)
{
	char line[512], point[256], newest[256];

	do {
		FILE *mounts = fopen("/proc/self/mountinfo", "r");

		MUST(mounts);
		*newest = 0;
		while (fgets(line, sizeof(line), mounts))
			if (sscanf(line, "%*s %*s %*s %*s %255s", point) == 1 &&
			    !strncmp(point, tree, strlen(tree)) && point[strlen(tree)] == '/')
				strcpy(newest, point);
		fclose(mounts);
	} while (*newest && !umount2(newest, MNT_DETACH));
}

/* Opens directories that the steps have made such that their owner cannot empty them. */
static int open_up(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) && errno != EPERM : 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/*
 * The tree is some directories deep in what is made for the round.  Steps can change what is above
 * it by "..": as root one directory, to which the steps are confined; as another user they would
 * have to go up one by one to reach what stays.
 */
static const char above[] = "/round/above/above/above", tree_name[] = "/tree";

static void tree_path(const char *directory, char *ret, size_t size)
{
	int len = snprintf(ret, size, "%s%s%s", directory, above, tree_name);

	MUST(len > 0 && (size_t)len < size);
	for (char *end = ret + strlen(directory); end;) {
		end = strchr(end + 1, '/');
		if (end)
			*end = 0;
		MUST(!mkdir(ret, 0755) && !chmod(ret, geteuid() || !end ? 0755 : 0777));
		if (end)
			*end = '/';
	}
}

enum { ROUNDS = 12 }; /* of `make test` */

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Makes a round in a child of its own, in an empty directory.  Returns its exit status. */
static int round_run(const char *way, uint64_t seed, const char *directory, const char *out,
		     const char *notes)
{
	char number[24], tree[128];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	tree_path(directory, tree, sizeof(tree));
	pid = fork();
	if (!pid) {
		alarm((unsigned int)setting("SAME_LIMIT", 3000));
		setenv("COSY_MODE", strcmp(way, "plain") ? "kernel" : "native", 1);
		setenv("CHECK_EXPECT", strcmp(way, "plain") ? "kernel" : "native", 1);
		setenv("COSY_FAST", strcmp(way, "ordinary") ? "1" : "0", 1);
		execl("/proc/self/exe", "same", "--one", way, number, tree, out, notes,
		      (char *)NULL);
		_exit(127);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	snprintf(tree, sizeof(tree), "%s/round", directory);
	unmount_all(tree);
	nftw(tree, open_up, 20, FTW_PHYS | FTW_MOUNT);
	nftw(tree, remove_one, 20, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	return status;
}

/* --- Comparing ------------------------------------------------------------------------- */

/* The first difference, told again at the end, where it is found. */
static char summary[4096];

static void say(const char *format, ...)
{
	size_t at = strlen(summary);
	va_list args;

	va_start(args, format);
	vsnprintf(summary + at, sizeof(summary) - at, format, args);
	va_end(args);
	printf("%s", summary + at);
}

enum { CONTEXT = 12, LINE = 32768 };

/* Returns the next line that is compared, or NULL. */
static char *line_next(char *line, FILE *file)
{
	char *ret;

	do
		ret = fgets(line, LINE, file);
	while (ret && *line == '#');
	return ret;
}

/* Compares both transcripts line by line; shows what led to the first difference. */
static bool transcripts_equal(const char *plain, const char *other, const char *name)
{
	static char before[CONTEXT][LINE], a[LINE], b[LINE];
	FILE *files[2] = { fopen(plain, "r"), fopen(other, "r") };
	bool equal = true;

	for (unsigned int n = 0; equal && files[0] && files[1]; n++) {
		char *one = line_next(a, files[0]), *two = line_next(b, files[1]);

		if (!one && !two)
			break;
		if (!one || !two || strcmp(a, b)) {
			for (unsigned int i = n > CONTEXT ? n - CONTEXT : 0; i < n; i++)
				printf("  %.1500s", before[i % CONTEXT]);
			say("  plain: %.600s\n  %s: %.600s\n", one ? a : "(the end)", name,
			    two ? b : "(the end)");
			equal = false;
		}
		strcpy(before[n % CONTEXT], a);
	}
	for (int i = 0; i < 2; i++)
		if (files[i])
			fclose(files[i]);
	return equal && files[0] && files[1];
}

static uint64_t sums[34];

static void counters_add(const char *transcript)
{
	FILE *file = fopen(transcript, "r");
	static char line[LINE];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "# calls ", 8)) {
			char *at = line + 8;

			sums[0] += strtoull(at, &at, 10);
			sums[1] += strtoull(at + 5, &at, 10);
			for (int i = 2; i < 34; i++)
				sums[i] += strtoull(at, &at, 10);
		}
	if (file)
		fclose(file);
}

static void counters_print(void)
{
	static const char *const guards[] = {
#define COSY_GUARD(guard, name, relies, breaks) #name,
#include "../../../core/guards.def"
#undef COSY_GUARD
	};

	printf("%llu calls in the kernel, %llu of them by specialised versions\n",
	       (unsigned long long)sums[0], (unsigned long long)sums[1]);
	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
		if (sums[i + 2])
			printf("  %-14s %llu\n", guards[i], (unsigned long long)sums[i + 2]);
}

static const char notes[] = "/tmp/same.notes";

/* Makes a round of one seed the other way and plainly.  True if both ended, and alike. */
static bool round_same(uint64_t seed, const char *way, const char *directory, const char *plain,
		       const char *other)
{
	int a, b;

	unlink(notes);
	b = round_run(way, seed, directory, other, notes);
	a = round_run("plain", seed, directory, plain, notes);
	if (!a && !b && transcripts_equal(plain, other, way))
		return true;
	if (a || b)
		say("  statuses %#x (plain) and %#x (%s); 0xe: no end in SAME_LIMIT\n", a, b, way);
	return false;
}

/* Tells what kind of difference was found, by another round. */
static void round_again(uint64_t seed, const char *way, const char *directory, const char *plain)
{
	static const char again[] = "/tmp/same.again", other[] = "/tmp/same.other";
	bool same;

	printf("once more:\n");
	same = round_same(seed, way, directory, again, other);
	if (!transcripts_equal(plain, again, "plain"))
		say("seed %llu: plain calls differ from plain calls\n", (unsigned long long)seed);
	else if (same)
		say("seed %llu: a difference that did not come again\n", (unsigned long long)seed);
	else
		say("seed %llu: a difference that comes again\n", (unsigned long long)seed);
}

int main(int argc, char **argv)
{
	static const char plain[] = "/tmp/same.plain", other[] = "/tmp/same.other";
	uint64_t seed = setting("SAME_SEED", 1), rounds = 0, different = 0;
	uint64_t share = setting("SAME_SHARE", 1);
	uint64_t wanted_rounds = setting("SAME_ROUNDS", (scale_steps(ROUNDS) + share - 1) / share);
	const char *wanted = getenv("SAME_WAY");

	if (argc == 7 && !strcmp(argv[1], "--one"))
		return round_make(argv[2], strtoull(argv[3], NULL, 0), argv[4], argv[5], argv[6]);
	if (argc != 2) {
		fprintf(stderr, "usage: same DIRECTORY\n");
		return 2;
	}
	if (!kernel_expected())
		wanted = "plain"; /* so that rounds are at least found to repeat */
	umask(022);
	for (; rounds < wanted_rounds && different < 3; seed++, rounds++) {
		const char *way = wanted && *wanted ? wanted : seed % 4 < 2 ? "region" : "built";

		if (!round_same(seed, way, argv[1], plain, other)) {
			say("seed %llu: plain and %s differ\n", (unsigned long long)seed, way);
			round_again(seed, way, argv[1], plain);
			different++;
		}
		fflush(stdout);
		counters_add(other);
	}
	printf("%llu rounds of %d batches\n", (unsigned long long)rounds, BATCHES);
	counters_print();
	if (different)
		printf("%llu rounds different:\n%s", (unsigned long long)different, summary);
	return different ? 1 : check_end();
}
