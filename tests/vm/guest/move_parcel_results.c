// SPDX-License-Identifier: MIT
/* Tests what exports and imports of parcels return, also between arenas and ordinary memory. */
#include "move_parcel.h"

void results(void *unused)
{
	int parcel, fds[2], fd;

	(void)unused;
	fresh();
	CHECK(cosy_export(from + 1, PAGE, COSY_COPY) == -1 && errno == EINVAL, "address");
	CHECK(cosy_export(from, PAGE + 1, COSY_COPY) == -1 && errno == EINVAL, "size");
	CHECK(cosy_export(from, 0, COSY_COPY) == -1 && errno == EINVAL, "nothing");
	CHECK(cosy_export(from, PAGE, (enum cosy_how)4) == -1 && errno == EINVAL, "how");
	CHECK(cosy_import(-1, to, SIZE, 0) == -1 && errno == EBADF, "%s", strerror(errno));
	CHECK(cosy_import(0, to, SIZE, COSY_GIVE) == -1 && errno == EINVAL, "flags");
	MUST(!pipe(fds));
	CHECK(cosy_import(fds[0], to, SIZE, 0) == -1 && errno == EINVAL, "a pipe: %s",
	      strerror(errno));
	fd = memfd_create("no parcel", 0);
	MUST(!ftruncate(fd, SIZE));
	CHECK(cosy_import(fd, to, SIZE, 0) == -1 && errno == EINVAL, "no parcel: %s",
	      strerror(errno));
	close(fd);
	CHECK(move_differs(to, SIZE, 7) < 0, "a refused import changed the memory");
	for (int how = COSY_SHARE; how <= COSY_DONATE_ZERO; how++) {
		move_fill(from, 4 * PAGE, 1);
		parcel = export(from, 4 * PAGE, (enum cosy_how)how);
		CHECK(cosy_import(parcel, to, 3 * PAGE, 0) == -1 && errno == EMSGSIZE, "%s",
		      strerror(errno));
		CHECK(move_differs(to, SIZE, 7) < 0, "a refused import changed the memory");
		CHECK(cosy_import(parcel, to, SIZE, 0) == (ssize_t)(4 * PAGE), "%s",
		      strerror(errno));
		CHECK(move_differs(to, 4 * PAGE, 1) < 0, "how %d", how);
		close(parcel);
		MUST(!cosy_flush(from, SIZE) && !cosy_flush(to, SIZE));
		move_fill(to, SIZE, 7);
	}
	/* Nothing can be exported that cannot be read, or donated that cannot be written. */
	MUST(!mprotect(from, SIZE, PROT_NONE));
	CHECK(cosy_export(from, SIZE, COSY_COPY) == -1 && errno == EFAULT, "%s", strerror(errno));
	MUST(!mprotect(from, SIZE, PROT_READ | PROT_WRITE));
	parcel = export(from, PAGE, COSY_DONATE_ZERO);
	MUST(!mprotect(to, SIZE, PROT_READ));
	CHECK(cosy_import(parcel, to, SIZE, 0) == -1, "into memory that may not be written");
	MUST(!mprotect(to, SIZE, PROT_READ | PROT_WRITE));
	import(parcel, to, PAGE, 0);
	close(parcel);
	/* Over two mappings. */
	move_fill(from, SIZE, 1);
	MUST(!mprotect(from, PAGE, PROT_READ));
	parcel = export(from, SIZE, COSY_COPY);
	MUST(!mprotect(to + SIZE / 2, PAGE, PROT_READ));
	MUST(!mprotect(to + SIZE / 2, PAGE, PROT_READ | PROT_WRITE));
	import(parcel, to, SIZE, 0);
	CHECK(move_differs(to, SIZE, 1) < 0, "over two mappings");
	close(parcel);
	/* What is shared then is no arena's, and a message that reaches into it goes whole. */
	parcel = export(to + SIZE / 2 - PAGE, 2 * PAGE, COSY_SHARE);
	MUST(cosy_loan(fds[1], to, SIZE, COSY_GIVE) == (ssize_t)SIZE);
	CHECK(move_is_zero(to, SIZE), "given");
	read_all(fds[0], to, SIZE);
	CHECK(move_differs(to, SIZE, 1) < 0, "lent by an arena and other memory");
	close(parcel);
	close(fds[0]);
	close(fds[1]);
	done();
}

/* Imports parcels into memory that is no arena's, and others from such memory. */
void ordinary(void *unused)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int parcel;

	(void)unused;
	MUST(memory != MAP_FAILED);
	for (int how = COSY_SHARE; how <= COSY_DONATE_ZERO; how++) {
		fresh();
		parcel = export(from, SIZE, (enum cosy_how)how);
		import(parcel, memory, SIZE, 0);
		CHECK(move_differs(memory, SIZE, 1) < 0, "how %d", how);
		if (how == COSY_SHARE) {
			move_fill(from, SIZE, 2);
			CHECK(move_differs(memory, SIZE, 2) < 0, "shared");
			MUST(!cosy_flush(memory, SIZE));
			CHECK(move_is_zero(memory, SIZE), "flushed");
		}
		if (how >= COSY_DONATE)
			CHECK(cosy_import(parcel, memory, SIZE, 0) == -1 && errno == ENODATA,
			      "twice: %s", strerror(errno));
		close(parcel);
		move_fill(memory, SIZE, 3);
		parcel = export(memory, SIZE, (enum cosy_how)how);
		import(parcel, to, SIZE, 0);
		CHECK(move_differs(to, SIZE, 3) < 0, "from ordinary memory, how %d", how);
		if (how == COSY_DONATE)
			check_gone(memory);
		close(parcel);
		MUST(!cosy_flush(memory, SIZE));
		CHECK(move_is_zero(memory, SIZE), "flushed, how %d", how);
		done();
	}
	munmap(memory, SIZE);
}
