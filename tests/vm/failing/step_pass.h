/* SPDX-License-Identifier: MIT */
/* step_pass.h - the steps of step.c through parcels and ports. */
#ifndef STEP_PASS_H
#define STEP_PASS_H

#include "step_move.h"

/* Two arenas of one context: `from` has a's, `to` b's. */
struct pair {
	int fd;
	char *from, *to;
};

static struct pair pair_make(void)
{
	struct pair pair = { .fd = raw_open() };
	long ret;

	pair.from = arena_map(pair.fd, &ret);
	pair.to = arena_map(pair.fd, &ret);
	MUST(pair.from && pair.to);
	memset(pair.from, 'a', MOVED);
	memset(pair.to, 'b', MOVED);
	return pair;
}

static void pair_drop(const struct pair *pair)
{
	munmap(pair->from, MOVED);
	munmap(pair->to, MOVED);
	close(pair->fd);
	step_check_nothing_left();
}

static void check_bytes(const char *memory, char value, const char *what)
{
	CHECK(all_are(memory, MOVED, value), "%s, point %d: %s; %s", step_name, step_point, what,
	      step_last);
}

/* Makes a parcel and imports it: a parcel that is not made leaves its pages, one that does not come its place. */
static void step_parcel(const char *name, unsigned int how, unsigned int flags)
{
	POINTS(name, 200)
	{
		struct pair pair = pair_make();
		long parcel, ret = 0;

		step_arm();
		parcel = move(pair.fd, how, -1, pair.from, 0);
		if (parcel >= 0)
			ret = move(pair.fd, COSY_MOVE_IMPORT, (int)parcel, pair.to, flags);
		step_disarm();
		JUDGE("the parcel", parcel, parcel >= 0);
		JUDGE("IMPORT", ret, parcel < 0 || ret == MOVED);
		if (parcel < 0) {
			check_bytes(pair.from, 'a', "what was to be in the parcel");
			parcel = move(pair.fd, how, -1, pair.from, 0);
			CHECK(parcel >= 0, "%s, point %d: again: %ld", name, step_point, parcel);
			ret = -1;
		}
		if (ret < 0) {
			check_bytes(pair.to, 'b', "what was to be replaced");
			ret = move(pair.fd, COSY_MOVE_IMPORT, (int)parcel, pair.to, flags);
			CHECK(ret == MOVED, "%s, point %d: IMPORT again: %ld", name, step_point,
			      ret);
		}
		check_bytes(pair.to, 'a', "what came");
		if (how != COSY_MOVE_DONATE)
			check_bytes(pair.from, how == COSY_MOVE_DONATE_ZERO ? 0 : 'a',
				    "what stayed");
		close((int)parcel);
		pair_drop(&pair);
	}
}

/* Reads a donated parcel into plain memory, which takes all of it or nothing. */
static void step_parcel_read(void)
{
	static char plain[MOVED];

	POINTS("read of a parcel", 50)
	{
		struct pair pair = pair_make();
		long parcel = move(pair.fd, COSY_MOVE_DONATE_ZERO, -1, pair.from, 0), ret;

		MUST(parcel >= 0);
		step_arm();
		ret = read((int)parcel, plain, MOVED);
		ret = ret < 0 ? -errno : ret;
		step_disarm();
		JUDGE("read", ret, ret == MOVED);
		if (ret < 0)
			CHECK(read((int)parcel, plain, MOVED) == MOVED, "%s, point %d: again: %s",
			      step_name, step_point, strerror(errno));
		check_bytes(plain, 'a', "what was read");
		close((int)parcel);
		pair_drop(&pair);
	}
}

static long port(int fd, int *ends)
{
	struct cosy_move argument = { .size = sizeof(argument),
				      .operation = COSY_MOVE_PORT,
				      .length = MOVED,
				      .fd = -1,
				      .at = (uintptr_t)ends };

	return raw_ioctl(fd, COSY_IOC_MOVE, &argument);
}

static long pass(int fd, unsigned int operation, int end, char *memory, unsigned int how,
		 unsigned int flags, uint64_t *where)
{
	struct cosy_move argument = { .size = sizeof(argument),
				      .operation = operation,
				      .address = (uintptr_t)memory,
				      .length = MOVED,
				      .fd = end,
				      .flags = flags,
				      .at = (uintptr_t)where,
				      .how = how };

	return raw_ioctl(fd, COSY_IOC_MOVE, &argument);
}

/* Passes a message from arena to arena: one that fails leaves its pages, or stays in the port. */
static void step_port(const char *name, unsigned int how, unsigned int flags)
{
	POINTS(name, 300)
	{
		struct pair pair = pair_make();
		uint64_t where = 1;
		int ends[2] = { -1, -1 };
		long made, passed = 0, taken = 0;

		step_arm();
		made = port(pair.fd, ends);
		if (!made)
			passed = pass(pair.fd, COSY_MOVE_PASS, ends[1], pair.from, how, 0, NULL);
		if (passed > 0)
			taken = pass(pair.fd, COSY_MOVE_TAKE, ends[0], pair.to, 0, flags, &where);
		step_disarm();
		JUDGE("PORT", made, !made);
		JUDGE("PASS", passed, made || passed == MOVED);
		JUDGE("TAKE", taken, passed <= 0 || taken == MOVED);
		if (made)
			CHECK(!port(pair.fd, ends), "%s, point %d: PORT again", name, step_point);
		if (passed <= 0) {
			check_bytes(pair.from, 'a', "what was to be passed");
			passed = pass(pair.fd, COSY_MOVE_PASS, ends[1], pair.from, how, 0, NULL);
			CHECK(passed == MOVED, "%s, point %d: PASS again: %ld", name, step_point,
			      passed);
		}
		if (taken <= 0) {
			/* EFAULT for the offset comes after the pages. */
			if (!taken || taken != -EFAULT)
				check_bytes(pair.to, 'b', "what was to be replaced");
			taken = pass(pair.fd, COSY_MOVE_TAKE, ends[0], pair.to, 0, flags, &where);
			CHECK(taken == MOVED, "%s, point %d: TAKE again: %ld", name, step_point,
			      taken);
		}
		CHECK(!where, "%s, point %d: it is for %llu", name, step_point,
		      (unsigned long long)where);
		check_bytes(pair.to, 'a', "what came");
		check_bytes(pair.from, how == COSY_MOVE_COPY ? 'a' : 0, "what stayed");
		close(ends[0]);
		close(ends[1]);
		pair_drop(&pair);
	}
}

/* Passes a message by pwrite, and takes it by pread, in plain memory. */
static void step_port_written(void)
{
	static char from[MOVED], to[MOVED];

	memset(from, 'a', MOVED);
	POINTS("pwrite to a port, pread", 100)
	{
		int fd = raw_open(), ends[2];
		long passed, taken = 0;

		memset(to, 'b', MOVED);
		MUST(!port(fd, ends));
		MUST(!fcntl(ends[0], F_SETFL, O_NONBLOCK));
		step_arm();
		passed = pwrite(ends[1], from, MOVED, 0);
		passed = passed < 0 ? -errno : passed;
		if (passed > 0) {
			taken = pread(ends[0], to, MOVED, 0);
			taken = taken < 0 ? -errno : taken;
		}
		step_disarm();
		JUDGE("pwrite", passed, passed == MOVED);
		JUDGE("pread", taken, passed <= 0 || taken == MOVED);
		if (passed <= 0) {
			CHECK(pread(ends[0], to, MOVED, 0) < 0 && errno == EAGAIN,
			      "%s, point %d: a message that was not passed; %s", step_name,
			      step_point, step_last);
			CHECK(pwrite(ends[1], from, MOVED, 0) == MOVED, "point %d: pwrite again",
			      step_point);
		}
		if (taken <= 0)
			CHECK(pread(ends[0], to, MOVED, 0) == MOVED,
			      "point %d: pread again: %s; %s", step_point, strerror(errno),
			      step_last);
		check_bytes(to, 'a', "what came");
		close(ends[0]);
		close(ends[1]);
		close(fd);
		step_check_nothing_left();
	}
}

#endif /* STEP_PASS_H */
