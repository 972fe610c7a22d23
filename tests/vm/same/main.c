// SPDX-License-Identifier: MIT
/*
 * main.c - are calls by specialised versions what plain calls are?
 *
 *	same DIRECTORY			rounds in DIRECTORY, each twice, until the time is up
 *	same --one WAY SEED DIRECTORY OUT	one round: its transcript
 *
 * A round is a fresh tree and BATCHES random batches of calls, all of it from one seed;
 * WAY is plain, region, ordinary (a region whose calls are never specialised) or built
 * (a compound with operations in the place of calls).  SAME_WAY is one of them; without
 * it rounds go by region and built in turn.
 * SAME_SEED (1) is the first round's seed, SAME_SECONDS (40) how long rounds are
 * begun.  SAME_NO_SCANS leaves scan_dir out: on btrfs the plain way cannot go back to
 * where the operation stops without seeing entries that are younger than the
 * descriptor.  SAME_ATIME=relatime lets the clock tick behind each change.
 */
#include <ftw.h>
#include <sys/mount.h>
#include "same.h"

/* Whatever was mounted in the tree, the newest first. */
void unmount_all(const char *tree)
{
	char line[512], point[256], newest[256];

	do {
		FILE *mounts = fopen("/proc/self/mountinfo", "r");

		MUST(mounts);
		*newest = 0;
		while (fgets(line, sizeof(line), mounts))
			if (sscanf(line, "%*s %*s %*s %*s %255s", point) == 1 && !strncmp(point, tree, strlen(tree)) &&
			    point[strlen(tree)] == '/')
				strcpy(newest, point);
		fclose(mounts);
	} while (*newest && !umount2(newest, MNT_DETACH));
}

/* The steps may have made a directory such that its owner cannot empty it. */
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

/* A round in a child of its own, in an empty directory; its exit status. */
static int round_run(const char *way, uint64_t seed, const char *directory, const char *out)
{
	char number[24], tree[64];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	snprintf(tree, sizeof(tree), "%s/tree", directory);
	/* The steps may have changed what `..` is. */
	MUST(!chmod(directory, geteuid() ? 0755 : 0777) && !mkdir(tree, 0755));
	pid = fork();
	if (!pid) {
		alarm(300);
		setenv("COSY_MODE", strcmp(way, "plain") ? "kernel" : "native", 1);
		setenv("CHECK_EXPECT", strcmp(way, "plain") ? "kernel" : "native", 1);
		setenv("COSY_FAST", strcmp(way, "ordinary") ? "1" : "0", 1);
		execl("/proc/self/exe", "same", "--one", way, number, tree, out, (char *)NULL);
		_exit(127);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	unmount_all(tree);
	nftw(tree, open_up, 20, FTW_PHYS | FTW_MOUNT);
	nftw(tree, remove_one, 20, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	return status;
}

enum { CONTEXT = 12, LINE = 32768 };

/* Both transcripts line by line; what led to the first difference is shown. */
static bool transcripts_equal(const char *plain, const char *other)
{
	static char before[CONTEXT][LINE], a[LINE], b[LINE];
	FILE *files[2] = { fopen(plain, "r"), fopen(other, "r") };
	bool equal = true;

	MUST(files[0] && files[1]);
	for (unsigned int n = 0; equal; n++) {
		char *one = fgets(a, sizeof(a), files[0]), *two;

		do
			two = fgets(b, sizeof(b), files[1]);
		while (two && *b == '#');
		if (!one && !two)
			break;
		if (!one || !two || strcmp(a, b)) {
			for (unsigned int i = n > CONTEXT ? n - CONTEXT : 0; i < n; i++)
				printf("  %.1500s", before[i % CONTEXT]);
			printf("plain: %.3000s\nother: %.3000s\n", one ? a : "(the end)\n", two ? b : "(the end)\n");
			equal = false;
		}
		strcpy(before[n % CONTEXT], a);
	}
	fclose(files[0]);
	fclose(files[1]);
	return equal;
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

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void counters_print(void)
{
	static const char *const guards[] = {
#define COSY_GUARD(guard, name, relies, breaks) #name,
#include "../../../core/guards.def"
#undef COSY_GUARD
	};

	printf("%llu calls in the kernel, %llu of them by specialised versions\n", (unsigned long long)sums[0],
	       (unsigned long long)sums[1]);
	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
		if (sums[i + 2])
			printf("  %-14s %llu\n", guards[i], (unsigned long long)sums[i + 2]);
}

/* One seed plainly and the other way: did both end, and alike? */
static bool round_same(uint64_t seed, const char *way, const char *directory, const char *plain, const char *other)
{
	int a = round_run("plain", seed, directory, plain), b = round_run(way, seed, directory, other);

	if (!a && !b && transcripts_equal(plain, other))
		return true;
	printf("seed %llu: plain and %s differ, or failed: statuses %#x, %#x\n", (unsigned long long)seed, way, a, b);
	return false;
}

int main(int argc, char **argv)
{
	static const char plain[] = "/tmp/same.plain", other[] = "/tmp/same.other";
	uint64_t seed = setting("SAME_SEED", 1), rounds = 0, different = 0, once = 0;
	double end = now_ms() + 1000.0 * (double)setting("SAME_SECONDS", 40);
	const char *wanted = getenv("SAME_WAY");

	if (argc == 6 && !strcmp(argv[1], "--one"))
		return round_make(argv[2], strtoull(argv[3], NULL, 0), argv[4], argv[5]);
	if (argc != 2) {
		fprintf(stderr, "usage: same DIRECTORY\n");
		return 2;
	}
	if (!kernel_expected())
		wanted = "plain"; /* then rounds are at least found to repeat */
	for (; now_ms() < end && different < 3; seed++, rounds++) {
		const char *way = wanted && *wanted ? wanted : seed % 4 < 2 ? "region" : "built";
		bool same = round_same(seed, way, argv[1], plain, other);

		/* What the machine's own timing decides does not come out alike twice. */
		if (!same && round_same(seed, way, argv[1], plain, other)) {
			printf("seed %llu: a difference that did not come again\n", (unsigned long long)seed);
			once++;
		} else if (!same) {
			different++;
		}
		fflush(stdout);
		counters_add(other);
	}
	printf("%llu rounds of %d batches, %llu different, %llu once\n", (unsigned long long)rounds, BATCHES,
	       (unsigned long long)different, (unsigned long long)once);
	counters_print();
	return different ? 1 : check_end();
}
