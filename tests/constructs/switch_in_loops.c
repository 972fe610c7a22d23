// expect: compiled
// Loops that are left for the compound in the middle (COSY_TIER=N); values that are alive at a
// loop's head go along.
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int wire[2];

/* Fills a pipe with so many bytes, which count up from 1. */
static void NOINLINE fill(int count)
{
	char bytes[200];

	for (int i = 0; i < count; i++)
		bytes[i] = i + 1;
	if (pipe(wire) || write(wire[1], bytes, count) != count)
		_exit(9);
	close(wire[1]);
}

/* Uses results that are known before the loop. */
static long NOINLINE known_before(int fd)
{
	long first = 0, sum = 0, again, early = 0;
	unsigned char c;

	COSY_START;
	first = read(fd, &c, 1) + 10 * c;
	early = getppid() > 0;
	again = 5;
	while (read(fd, &c, 1) > 0)
		sum += c;
	again += early;
	COSY_END;
	close(fd);
	return first * 1000000 + sum * 10 + again + early;
}

/* Has a value that each outer round sets, and an inner loop that ends the region. */
static long NOINLINE set_by_outer(int fd)
{
	unsigned char c = 0;
	long outer = 0, rounds = 0;

	COSY_START;
	do {
		outer = getpid() > 0 ? rounds + 100 : -1;
		for (int i = 0; i < 4; i++) {
			if (read(fd, &c, 1) <= 0)
				goto out;
			rounds += c;
		}
	} while (outer > 0);
out:;
	COSY_END;
	close(fd);
	return outer * 1000 + rounds;
}

struct pair {
	short low;
	long high[3];
	const char *text;
};

/* Has pointers to locals of the region and of the function, changed in every round. */
static long NOINLINE pointers(int fd)
{
	struct pair outside = {1, {2, 3, 4}, "outside"};
	long *place = &outside.high[1], ret = 0;

	COSY_START;
	struct pair own = {5, {6, 7, 8}, "own"}, *turn = &own;
	unsigned char last[3] = {0}, *next = last;

	while (read(fd, next, 1) > 0) {
		*place += *next;
		turn->high[*next % 3] += turn->text[*next % 3];
		place = place == &outside.high[2] ? &own.high[0]
			: place == &own.high[0]	  ? &outside.high[0]
						  : place + 1;
		turn = turn == &own ? &outside : &own;
		next = next == last + 2 ? last : next + 1;
	}
	ret = own.high[0] + 3 * own.high[1] + 5 * own.high[2] + own.low + last[0] + last[1] +
	      last[2];
	COSY_END;
	close(fd);
	return ret + 7 * outside.high[0] + 11 * outside.high[1] + 13 * outside.high[2];
}

/* Has memory that lives for one round. */
static long NOINLINE per_round(int fd, int length)
{
	long ret = 0;

	COSY_START;
	for (;;) {
		unsigned char line[32], half[16];

		memset(line, 1, sizeof(line));
		ssize_t got = read(fd, line, length);

		if (got <= 0)
			break;
		memcpy(half, line + 1, sizeof(half));
		ret += line[0] + half[2] + line[31];
		if (half[1] == 77)
			continue;
		ret++;
	}
	COSY_END;
	close(fd);
	return ret;
}

/* Has values of types that no register holds, and small ones. */
static long NOINLINE types(int fd)
{
	unsigned __int128 wide = 1;
	_Bool odd = 0;
	signed char small = -3;
	short medium = 1000;
	double real = 0.5;
	unsigned char c;

	COSY_START;
	while (read(fd, &c, 1) > 0) {
		wide = wide * 3 + c;
		odd ^= c & 1;
		small += c;
		medium -= 17;
	}
	COSY_END;
	close(fd);
	real += odd;
	return (long)(wide >> 60) ^ (long)wide ^ small ^ medium ^ (long)(real * 4);
}

/* Has a cycle with two ways in, which is no loop; the buffer is the same in each round. */
static long NOINLINE two_ways_in(int fd, int where)
{
	unsigned char kept[8] = {0};
	long rounds = 0;

	if (where)
		goto middle;
top:
	kept[rounds & 7] += 1;
middle:
	COSY_START;
	if (read(fd, &kept[rounds & 7], 1) > 0)
		rounds++;
	else
		rounds += 1000;
	COSY_END;
	if (rounds < 1000)
		goto top;
	close(fd);
	return rounds * 1000 + kept[0] + kept[1] * 3 + kept[2] * 5 + kept[7];
}

static int NOINLINE inner(int fd, int count)
{
	unsigned char c;
	int sum = 0;

	COSY_START;
	for (int i = 0; i < count && read(fd, &c, 1) > 0; i++)
		sum += c;
	COSY_END;
	return sum;
}

/* Has a region in a loop of another one's, and one that comes back to itself. */
static long NOINLINE nested(int fd, int deep)
{
	volatile long rounds = 0;
	long ret = 0;
	int got;

	COSY_START;
	while ((got = inner(fd, 3)) > 0) {
		rounds++;
		ret = ret * 3 + got;
		if (getpid() < 0)
			break;
	}
	COSY_END;
	if (deep)
		return ret + rounds + nested(-1, deep - 1);
	close(fd);
	return ret + rounds;
}

/* Has ways out of a loop, early and late. */
static long NOINLINE ways_out(int fd, int which)
{
	unsigned char c = 0;
	long sum = 0;

	COSY_START;
	while (read(fd, &c, 1) > 0) {
		switch (which) {
		case 0:
			if (c == 5) {
				close(fd);
				return sum;
			}
			break;
		case 1:
			if (c == 2)
				continue;
			if (c == 6)
				goto done;
			break;
		}
		sum += c;
	}
	sum += 100;
done:
	sum += 1000;
	COSY_END;
	close(fd);
	return sum;
}

/* Has the loop in a function that the region calls; that function has a buffer of its own. */
static long NOINLINE called(int fd, long sum)
{
	unsigned char pair[2];

	for (;;) {
		ssize_t got = read(fd, pair, sizeof(pair));

		if (got <= 0)
			return sum;
		sum = sum * 3 + pair[0] + (got > 1 ? pair[1] : 0);
	}
}

static long NOINLINE calls(int fd)
{
	long ret;

	COSY_START;
	ret = called(fd, getpid() > 0) + 1;
	COSY_END;
	close(fd);
	return ret;
}

static void *thread(void *arg)
{
	long rounds = 0;

	(void)arg;
	for (int i = 0; i < 20; i++) {
		COSY_START;
		for (int j = 0; j < 20; j++)
			rounds += getpid() > 0;
		COSY_END;
	}
	return (void *)rounds;
}

int main(void)
{
	pthread_t threads[3];
	void *rounds;

	fill(40);
	printf("known_before %ld\n", known_before(wire[0]));
	fill(30);
	printf("set_by_outer %ld\n", set_by_outer(wire[0]));
	fill(50);
	printf("pointers %ld\n", pointers(wire[0]));
	fill(90);
	printf("per_round %ld\n", per_round(wire[0], 19));
	fill(60);
	printf("types %ld\n", types(wire[0]));
	for (int i = 0; i < 2; i++) {
		fill(20);
		printf("two_ways_in %ld\n", two_ways_in(wire[0], i));
	}
	fill(50);
	printf("nested %ld\n", nested(wire[0], 2));
	for (int i = 0; i < 3; i++) {
		fill(10);
		printf("ways_out %ld\n", ways_out(wire[0], i));
	}
	fill(31);
	printf("calls %ld\n", calls(wire[0]));
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &rounds);
		printf("thread %ld\n", (long)rounds);
	}
	return 0;
}
