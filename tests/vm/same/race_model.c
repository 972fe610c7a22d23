// SPDX-License-Identifier: MIT
/*
 * race_model.c - has a thread change a file and say what it is then, with a number that is odd
 * meanwhile.  A call between two looks at the same even number must be exact, though what it relies
 * on (a folio that is held, a size, a name) is mostly of the time before.
 */
#include <cosy/fast.h>
#include <linux/falloc.h>
#include <pthread.h>
#include "race.h"

enum { BLOCK = 4096, BLOCKS = 24, LOOKS = 256 };
enum { REGIONS = 20 }; /* in a step, which the other parts take as long for */

/* The model, in the shared buffer. */
struct model {
	volatile uint64_t turn; /* odd: being changed */
	volatile uint32_t blocks, mode, named;
	volatile uint8_t fill[BLOCKS]; /* each byte of a block; 0: a hole */
	/* The region's. */
	uint64_t random, exact, wrong;
	const char *what; /* was wrong first */
	int64_t wanted, found;
	struct stat st;
	char data[BLOCK];
};

static volatile bool done;

static inline uint32_t draw(uint64_t *random, uint32_t n)
{
	*random = *random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(*random >> 33) % n;
}

/* Makes one of some calls between two looks at the number. */
static inline void look(struct model *m, int file, int directory)
{
	uint32_t block = draw(&m->random, BLOCKS), from = draw(&m->random, BLOCK),
		 count = 1 + draw(&m->random, BLOCK - from);
	int64_t at = (int64_t)block * BLOCK + from, wanted, found;
	uint64_t turn = m->turn;
	uint8_t fill = m->fill[block];
	const char *what;

	wanted = block < m->blocks ? (int64_t)count : 0;
	switch (draw(&m->random, 6)) {
	case 0:
		what = "pread";
		found = pread(file, m->data, count, at);
		for (int64_t i = 0; i < found; i += 61)
			if ((uint8_t)m->data[i] != fill)
				found = -i - 1;
		break;
	case 1:
		what = "a view";
		found = cosy_pread(file, m->data, count, at);
		if (found > 0)
			found = (int64_t)cosy_count(m->data, (size_t)found, fill);
		break;
	case 2:
		what = "readc";
		found = lseek(file, at, SEEK_SET) == at ? cosy_readc(file) : -2;
		wanted = wanted ? fill : -1;
		break;
	case 3:
		what = "fstat";
		found = fstat(file, &m->st) ? -errno : m->st.st_size;
		wanted = (int64_t)m->blocks * BLOCK;
		break;
	case 4:
		what = "the mode";
		found = fstat(file, &m->st) ? -errno : m->st.st_mode & 07777;
		wanted = m->mode;
		break;
	default:
		what = "the name";
		found = fstatat(directory, "model", &m->st, AT_SYMLINK_NOFOLLOW) ? -errno
										 : m->st.st_size;
		wanted = m->named ? (int64_t)m->blocks * BLOCK : -ENOENT;
	}
	if (turn % 2 || m->turn != turn)
		return;
	m->exact++;
	if (found != wanted && !m->wrong++) {
		m->what = what;
		m->wanted = wanted;
		m->found = found;
	}
}

static void looks(struct model *m, int file, int directory)
{
	COSY_START;
	for (int i = 0; i < LOOKS; i++)
		look(m, file, directory);
	COSY_END;
}

static void resize(struct model *m, int file, uint32_t blocks)
{
	MUST(!ftruncate(file, (off_t)blocks * BLOCK));
	for (uint32_t i = blocks; i < BLOCKS; i++)
		m->fill[i] = 0;
	m->blocks = blocks;
}

static void fill(struct model *m, int file, uint32_t block, uint8_t with)
{
	char data[BLOCK];

	memset(data, with, sizeof(data));
	MUST(pwrite(file, data, BLOCK, (off_t)block * BLOCK) == BLOCK);
	m->fill[block] = with;
	if (m->blocks <= block)
		m->blocks = block + 1;
}

static void change(struct model *m, int file, uint64_t *random)
{
	uint32_t block = draw(random, BLOCKS);
	struct timespec pause = { 0, draw(random, 200000) };

	switch (draw(random, 12)) {
	case 0:
		/* Make the file as long as before, and empty. */
		resize(m, file, 0);
		resize(m, file, BLOCKS);
		break;
	case 1:
		resize(m, file, block);
		break;
	case 2:
		MUST(!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)block * BLOCK, BLOCK));
		m->fill[block] = 0;
		break;
	case 3:
		m->mode = draw(random, 2) ? 0600 : 0640;
		MUST(!fchmod(file, m->mode));
		break;
	case 4:
		MUST(!rename(m->named ? "model" : "away", m->named ? "away" : "model"));
		m->named = !m->named;
		break;
	case 5:
		fdatasync(file);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		break;
	default:
		fill(m, file, block, (uint8_t)(1 + draw(random, 255)));
	}
	m->turn++; /* even */
	nanosleep(&pause, NULL);
	m->turn++;
}

static void *changes(void *arg)
{
	struct model *m = arg;
	uint64_t random = 1;
	int file = open("model", O_RDWR);

	MUST(file >= 0);
	m->turn++;
	while (!done)
		change(m, file, &random);
	close(file);
	return NULL;
}

int race_model(uint64_t steps)
{
	struct model *m = cosy_calloc(1, sizeof(*m));
	int file = open("model", O_RDWR | O_CREAT | O_TRUNC, 0600),
	    directory = open(".", O_RDONLY | O_DIRECTORY);
	uint64_t regions = 0;
	pthread_t thread;

	MUST(m && file >= 0 && directory >= 0);
	m->named = 1;
	m->mode = 0600;
	MUST(!pthread_create(&thread, NULL, changes, m));
	for (; regions < steps * REGIONS && !m->wrong; regions++)
		looks(m, file, directory);
	done = true;
	MUST(!pthread_join(thread, NULL));
	CHECK(!m->wrong, "%s: %lld, not %lld, and %llu more", m->what, (long long)m->found,
	      (long long)m->wanted, (unsigned long long)m->wrong - 1);
	/* Most looks must find nothing changed. */
	CHECK(m->exact * 20 > regions * LOOKS, "%llu looks of %llu exact",
	      (unsigned long long)m->exact, (unsigned long long)regions * LOOKS);
	printf("model: %llu regions, %llu changes, %llu looks exact\n", (unsigned long long)regions,
	       (unsigned long long)m->turn / 2, (unsigned long long)m->exact);
	close(file);
	close(directory);
	unlink("model");
	unlink("away");
	return check_end();
}
