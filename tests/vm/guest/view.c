/* SPDX-License-Identifier: MIT */
/*
 * Tests views (docs/inside/views.md): reads that leave the bytes in the page cache, everything that
 * may look at them then, and everything that ends them.
 */
#include "script.h"
#include <sys/socket.h>
#include <sys/statfs.h>

#define SIZE 65536
#define PAGE 4096

static char text[SIZE];
static int file, other;

/* Makes a file of `size` bytes of the text in the current directory, its position 0. */
static int make(const char *name, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	MUST(fd >= 0);
	MUST(write(fd, text, size) == (ssize_t)size);
	/* Put the bytes on the disk as well; none is in a page just read ahead. */
	MUST(!fsync(fd) && !lseek(fd, 0, SEEK_SET));
	return fd;
}

/* Makes the ordinary read that a RUN begins with. */
static void begin(void)
{
	script_begin();
	SYS(pread64, file, script_buffer + SCRIPT_BUFFER - 8, 1, 0);
}

static void check_bytes(int fd, off_t at, const char *wanted, size_t size, const char *what)
{
	static char found[SIZE];

	MUST(size <= sizeof(found));
	CHECK(pread(fd, found, size, at) == (ssize_t)size, "%s", what);
	CHECK(!memcmp(found, wanted, size), "%s", what);
}

static void reads(void)
{
	char *b = script_buffer;
	int a, c, d, e, f;

	memset(b, 'Z', SIZE + PAGE);
	MUST(lseek(file, 100, SEEK_SET) == 100);
	stale_file_systems();
	begin();
	a = OP(view_read, file, b + 3, 10000);
	c = OP(view_read, file, b + 20001, 5000);
	d = OP(view_pread, file, b + 30000, 100, SIZE - 50);
	e = OP(view_pread, file, b + 40000, 100, SIZE);
	f = OP(view_pread, file, b + 40000, 100, SIZE + 12345);
	script_run();
	CHECK_RESULT(a, 10000);
	CHECK_RESULT(c, 5000);
	CHECK_RESULT(d, 50);
	CHECK_RESULT(e, 0);
	CHECK_RESULT(f, 0);
	CHECK_FAST_CALLS(6);
	CHECK_GUARD_FAILED(FRESH, 1);
	CHECK(lseek(file, 0, SEEK_CUR) == 15100, "position");
	CHECK(!memcmp(b + 3, text + 100, 10000) && b[2] == 'Z' && b[10003] == 'Z', "first");
	CHECK(!memcmp(b + 20001, text + 10100, 5000) && b[20000] == 'Z' && b[25001] == 'Z',
	      "second");
	CHECK(!memcmp(b + 30000, text + SIZE - 50, 50) && b[30050] == 'Z', "tail");
}

/* Sets a file's access time back, so that the next access shows. */
static void set_back(int fd)
{
	const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_nsec = UTIME_NOW } };

	MUST(!futimens(fd, times));
}

static bool was_accessed(int fd)
{
	struct stat st;

	MUST(!fstat(fd, &st));
	return st.st_atime != 1000000000;
}

/* Reads where nothing is: whether that is an access depends on how far out it is. */
static void beyond_the_end(void)
{
	static const int64_t positions[] = { SIZE, SIZE + 12345, INT64_MAX - 4095 };
	int far = make("far", SIZE), step;
	char byte;

	for (size_t i = 0; i < sizeof(positions) / sizeof(*positions); i++) {
		bool natively;

		set_back(far);
		MUST(!pread(far, &byte, 1, positions[i]));
		natively = was_accessed(far);
		set_back(far);
		begin();
		step = OP(view_pread, far, script_buffer, 100, positions[i]);
		script_run();
		CHECK_RESULT(step, 0);
		CHECK(was_accessed(far) == natively, "at %lld: natively %d",
		      (long long)positions[i], natively);
	}
	MUST(!close(far) && !unlink("far"));
}

/* Begins RUNs in one jiffy, which share what FRESH tests. */
static void in_one_jiffy(void)
{
	bool shared = false;

	for (int turn = 0; turn < 200 && !shared; turn++) {
		begin();
		script_run();
		begin();
		script_run();
		shared = !GUARD_FAILED(FRESH);
	}
	CHECK(shared, "each RUN reads the ordinary way first");
}

/* Checks that older views keep their bytes beside a new one; more than four, and all of one. */
static void overlaps(void)
{
	static char model[SIZE];
	char *b = script_buffer;

	for (int turn = 0; turn < 100; turn++) {
		int steps = 1 + (int)chance(12), step[16];
		size_t want[16];

		memset(b, 'Z', SIZE);
		memset(model, 'Z', SIZE);
		begin();
		for (int i = 0; i < steps; i++) {
			size_t size = 1 + chance(chance(2) ? 200 : 20000), to = chance(SIZE - size),
			       at = chance(SIZE);

			want[i] = size < SIZE - at ? size : SIZE - at;
			memcpy(model + to, text + at, want[i]);
			step[i] = OP(view_pread, file, b + to, size, at);
			if (!chance(4)) {
				size_t k = 1u << chance(4), s = chance(SIZE - k);
				uint64_t value = chance(0);

				memcpy(model + s, &value, k);
				OP(view_store, b + s, value, k);
			}
			if (!chance(6)) {
				size_t length = chance(5000), p = chance(SIZE - 5000),
				       q = chance(SIZE - 5000);

				memmove(model + p, model + q, length);
				OP(memcpy + 0 * p, b + p, b + q, length);
			}
			if (!chance(8)) {
				size_t length = chance(5000), p = chance(SIZE - 5000);

				memset(model + p, 'Q', length);
				OP(memset, b + p, 'Q', length);
			}
		}
		script_run();
		for (int i = 0; i < steps; i++)
			CHECK_RESULT(step[i], want[i]);
		CHECK(!memcmp(b, model, SIZE), "turn %d", turn);
	}
}

static uint32_t crc32c(uint32_t crc, const char *p, size_t n)
{
	crc = ~crc;
	while (n--) {
		crc ^= (uint8_t)*p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

static uint64_t occurrences(const char *p, size_t n, char c)
{
	uint64_t found = 0;

	while (n--)
		found += *p++ == c;
	return found;
}

/* Checks that operations find what a plain read would have put there, in views and without. */
static void looks(void)
{
	static char model[SIZE], mine[SIZE];
	char *b = script_buffer;

	for (int turn = 0; turn < 200; turn++) {
		size_t size = 1 + chance(30000), to = chance(20000), at = chance(SIZE - size);
		bool outside = !chance(4);
		char *base = outside ? mine : b;
		int r[9];

		for (int i = 0; i < SIZE; i++)
			b[i] = model[i] = (char)('a' + chance(26));
		begin();
		OP(view_pread, file, b + to, size, at);
		memcpy(model + to, text + at, size);
		for (int i = 0; i < 3; i++) {
			uint64_t value = chance(0), k = 1u << chance(4), s = chance(SIZE - 8);

			OP(view_store, b + s, value, k);
			memcpy(model + s, &value, k);
		}
		if (outside) {
			memcpy(mine, model, SIZE);
			base = mine;
		}
		size_t from = chance(to + size), length = chance(SIZE - from),
		       second = chance(SIZE - 5000);
		uint8_t c = (uint8_t)('a' + chance(40));
		const char *m = model + from, *at_m;

		r[0] = OP(count, base + from, length, c);
		r[1] = OP(crc32c, 0, base + from, length);
		r[2] = OP(memchr, base + from, c, length);
		r[3] = OP(memrchr, base + from, c, length);
		r[4] = OP(memcmp, base + from, b + second, length < 5000 ? length : 5000);
		r[5] = OP(memmem, base + from, length, b + second, 3);
		r[6] = OP(strnlen, base + from, length);
		r[7] = OP(view_load, base + second, 8);
		r[8] = OP(crc32c, crc32c(0, m, length / 3), base + from + length / 3,
			  length - length / 3);
		script_run();
		CHECK_RESULT(r[0], occurrences(m, length, (char)c));
		CHECK_RESULT(r[1], crc32c(0, m, length));
		CHECK_RESULT(r[8], crc32c(0, m, length));
		at_m = memchr(m, c, length);
		CHECK_RESULT(r[2], at_m ? (int64_t)(base + (at_m - model)) : 0);
		at_m = memrchr(m, c, length);
		CHECK_RESULT(r[3], at_m ? (int64_t)(base + (at_m - model)) : 0);
		int wanted = memcmp(m, model + second, length < 5000 ? length : 5000);
		CHECK((script_result[r[4]] > 0) == (wanted > 0) &&
			      (script_result[r[4]] < 0) == (wanted < 0),
		      "memcmp");
		at_m = memmem(m, length, model + second, 3);
		CHECK_RESULT(r[5], at_m ? (int64_t)(base + (at_m - model)) : 0);
		CHECK_RESULT(r[6], strnlen(m, length));
		CHECK(!memcmp(&script_result[r[7]], model + second, 8), "load");
		CHECK(!memcmp(b, model, SIZE), "turn %d", turn);
	}
	CHECK(crc32c(0, "123456789", 9) == 0xe3069283, "the test's own");
}

/* Discards views: those within are never put into memory, and nothing is lost of others. */
static void discards(void)
{
	static char model[SIZE];
	char *b = script_buffer;
	int left_out = 0;

	for (int turn = 0; turn < 200; turn++) {
		size_t size = 1 + chance(20000), to = chance(20000), at = chance(SIZE - size);
		bool whole = chance(2);
		size_t from = whole ? chance(to + 1) : chance(SIZE - 1);
		size_t length =
			whole ? to + size - from + chance(SIZE - to - size) : chance(SIZE - from);
		bool inside = from <= to && from + length >= to + size;
		int before = check_failures;

		memset(b, '#', SIZE);
		memset(model, '#', SIZE);
		begin();
		OP(view_pread, file, b + to, size, at);
		OP(discard, b + from, length);
		script_run();
		/* A safepoint may have come before, and put all views into memory. */
		if (inside && b[to] == '#')
			left_out++;
		else
			memcpy(model + to, text + at, size);
		CHECK(!memcmp(b, model, SIZE), "turn %d", turn);
		if (check_failures > before) {
			printf("a view of [%zu, %zu), discarded [%zu, %zu)\n", to, to + size, from,
			       from + length);
			break;
		}
	}
	CHECK(left_out, "everything was put into memory");
	/* Try ranges of nothing. */
	begin();
	OP(view_pread, file, b, PAGE, 0);
	OP(discard, 0, 0);
	OP(discard, b + SIZE, SIZE);
	OP(discard, ~0ull, 1);
	OP(discard, b + 1, 0);
	script_run();
	CHECK(!memcmp(b, text, PAGE), "nobody's");
}

/* Writes a view by write and pwrite, to another file, to the same one, to its own place. */
static void writes(void)
{
	static char model[SIZE + PAGE];
	char *b = script_buffer;

	for (int turn = 0; turn < 200; turn++) {
		bool same = chance(2), append = !chance(8);
		size_t size = 1 + chance(20000), at = chance(SIZE - size),
		       place = chance(3) ? chance(SIZE - size) : at;
		size_t skip = chance(3) ? 0 : chance(size), ahead = chance(5);
		int to = same ? file : other, end = SIZE, w, before = check_failures;
		static char had[SIZE];

		MUST(pwrite(file, text, SIZE, 0) == SIZE && !ftruncate(file, SIZE));
		MUST(pwrite(other, text, SIZE, 0) == SIZE && !ftruncate(other, SIZE));
		memset(model, 0, sizeof(model));
		memcpy(model, text, SIZE);
		memcpy(had, text, SIZE);
		MUST(!fcntl(to, F_SETFL, append ? O_APPEND : 0));
		MUST(lseek(to, (off_t)place, SEEK_SET) >= 0);
		begin();
		OP(view_pread, file, b + ahead, size, at);
		for (size_t i = chance(6); i; i--) {
			size_t k = 1u << chance(4), s = chance(size);
			uint64_t value = chance(0);

			if (s + k > size)
				continue;
			memcpy(had + at + s, &value, k);
			OP(view_store, b + ahead + s, value, k);
		}
		if (turn % 2)
			w = SYS(write, to, b + ahead + skip, size - skip);
		else
			w = SYS(pwrite64, to, b + ahead + skip, size - skip, place);
		script_run();
		CHECK_RESULT(w, size - skip);
		CHECK(!memcmp(b + ahead, had + at, size), "the buffer has what was read");
		if (append) {
			place = SIZE;
			end = SIZE + (int)(size - skip);
		}
		memcpy(model + place, had + at + skip,
		       size - skip < SIZE + PAGE - place ? size - skip : SIZE + PAGE - place);
		check_bytes(to, 0, model, SIZE, "what was written");
		if (turn % 2)
			CHECK(lseek(to, 0, SEEK_CUR) == (off_t)(place + size - skip), "position");
		CHECK(lseek(to, 0, SEEK_END) == end, "size");
		MUST(!fcntl(to, F_SETFL, 0));
		MUST(!ftruncate(to, SIZE));
		CHECK(check_failures == before,
		      "turn %d: %zu bytes at %zu to %zu, from %zu of the view on, same %d, append "
		      "%d",
		      turn, size, at, place, skip, same, append);
	}
	MUST(pwrite(file, text, SIZE, 0) == SIZE && pwrite(other, text, SIZE, 0) == SIZE);
}

/* Makes calls that know nothing of views, which find the bytes in the buffer. */
static void ordinary(void)
{
	char *b = script_buffer, got[16];
	int pipes[2], w, p;

	MUST(!pipe(pipes));
	memset(b, 'Z', PAGE);
	begin();
	OP(view_pread, file, b, 1000, 77);
	w = SYS(write, pipes[1], b + 5, 16);
	OP(view_pread, file, b + 2000, 1000, 77);
	p = SYS(pipe, b + 2100);
	script_run();
	CHECK_RESULT(w, 16);
	CHECK(read(pipes[0], got, 16) == 16 && !memcmp(got, text + 82, 16), "through a pipe");
	CHECK_RESULT(p, 0);
	CHECK(!memcmp(b + 2000, text + 77, 100) && !memcmp(b + 2108, text + 185, 800),
	      "around what pipe wrote");
	close(((int *)(b + 2100))[0]);
	close(((int *)(b + 2100))[1]);
	close(pipes[0]);
	close(pipes[1]);
}

/* Makes specialised calls, with a name in a view, and with results that go to one. */
static void specialised(void)
{
	static const char name[] = "file";
	char *b = script_buffer;
	struct stat st, *at = (struct stat *)(b + 8);
	int f, n, r, s;

	MUST(pwrite(other, name, sizeof(name), 0) == sizeof(name));
	begin();
	OP(view_pread, file, b, 1000, 77);
	f = SYS(fstat, file, b + 8);
	OP(view_pread, file, b + 2000, 1000, 77);
	r = SYS(pread64, file, b + 2100, 100, 5000);
	OP(view_pread, file, b + 4000, 1000, 77);
	s = OP(seek_read, file, b + 4100, 100, 6000, SEEK_SET);
	OP(view_pread, other, b + 6000, 1000, 0);
	n = SYS(newfstatat, AT_FDCWD, b + 6000, b + 6500, 0);
	script_run();
	CHECK_RESULT(f, 0);
	CHECK_RESULT(r, 100);
	CHECK_RESULT(s, 100);
	CHECK_RESULT(n, 0);
	MUST(!fstat(file, &st));
	CHECK(!memcmp(b, text + 77, 8) && at->st_ino == st.st_ino && at->st_size == st.st_size &&
		      !memcmp(at + 1, text + 85 + sizeof(st), 1000 - 8 - sizeof(st)),
	      "attributes in a view");
	CHECK(!memcmp(b + 2000, text + 77, 100) && !memcmp(b + 2100, text + 5000, 100) &&
		      !memcmp(b + 2200, text + 277, 800),
	      "bytes that were read into a view");
	CHECK(!memcmp(b + 4000, text + 77, 100) && !memcmp(b + 4100, text + 6000, 100) &&
		      !memcmp(b + 4200, text + 277, 800),
	      "and sought before");
	CHECK(!strcmp(b + 6000, name) && ((struct stat *)(b + 6500))->st_ino == st.st_ino,
	      "a name in a view");
	MUST(pwrite(other, text, sizeof(name), 0) == sizeof(name) && !lseek(file, 0, SEEK_SET));
}

/* Waits for a byte: its sender may have written to the file before. */
static void waits(void)
{
	char *b = script_buffer;
	int pipes[2], v, c;
	pid_t pid;

	MUST(!pipe(pipes));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		while (!is_asleep(getppid()))
			usleep(1000);
		_exit(pwrite(file, "changed behind the view", 23, 77) != 23 ||
		      write(pipes[1], "!", 1) != 1);
	}
	memset(b, 'Z', PAGE);
	begin();
	v = OP(view_pread, file, b, 1000, 77);
	c = OP(readc, pipes[0]);
	script_run();
	CHECK_RESULT(v, 1000);
	CHECK_RESULT(c, '!');
	CHECK(!memcmp(b, text + 77, 1000), "what was read has changed");
	MUST(waitpid(pid, &c, 0) == pid && !c);
	MUST(pwrite(file, text, SIZE, 0) == SIZE);
	close(pipes[0]);
	close(pipes[1]);
}

/* Views a function's memory, which is another's after it has returned. */
static void returned(void)
{
	struct bpf_insn insns[64];
	size_t n = 0;

	insns[n++] = MOVR(7, 1);
	insns[n++] = CALL_LOCAL(0);
	size_t first = n - 1;
	insns[n++] = CALL_LOCAL(0);
	size_t second = n - 1;
	insns[n++] = EXIT;
	insns[first].imm = (int)(n - first - 1);
	const struct bpf_insn one[] = { MOV(1, PAGE),
					CALL_OP(RAW_OP_alloca),
					MOVR(6, 0),
					MOV(1, file),
					MOVR(2, 6),
					MOV(3, 1),
					MOV(4, 0),
					CALL_OP(RAW_OP_view_pread),
					MOV(1, file),
					MOVR(2, 6),
					MOV(3, PAGE),
					MOV(4, 0),
					CALL_OP(RAW_OP_view_pread),
					EXIT };
	memcpy(insns + n, one, sizeof(one));
	n += COUNT(one);
	insns[second].imm = (int)(n - second - 1);
	const struct bpf_insn two[] = { MOV(1, PAGE),
					CALL_OP(RAW_OP_alloca),
					MOVR(6, 0),
					STOREK(BPF_DW, 6, 64, 77),
					MOV(1, 0),
					CALL(SYS_umask),
					LOAD(BPF_DW, 0, 6, 64),
					EXIT };
	memcpy(insns + n, two, sizeof(two));
	n += COUNT(two);
	script_run_view(insns, n);
}

/* --- Guards --------------------------------------------------------------------------- */

static void guards(void)
{
	char *b = script_buffer, *mine = malloc(PAGE);
	int pipes[2], a, c, d, fd;

	/* Try memory elsewhere, no bytes, more than a view holds. */
	begin();
	a = OP(view_pread, file, mine, 100, 0);
	c = OP(view_pread, file, b, 0, 0);
	d = OP(view_pread, file, b, 2 * SIZE + 1, 0);
	script_run();
	CHECK_RESULT(a, 100);
	CHECK_RESULT(c, 0);
	CHECK_RESULT(d, SIZE);
	CHECK(!memcmp(mine, text, 100) && !memcmp(b, text, SIZE), "bytes");
	CHECK_GUARD_FAILED(MEMORY, 1);
	CHECK_GUARD_FAILED(LIMITED, 1 + 1);

	/*
	 * A descriptor not open for reading, no file, a negative position give the errors of the
	 * calls.
	 */
	fd = open("file", O_WRONLY);
	begin();
	a = OP(view_read, fd, b, 100);
	c = OP(view_read, 9999, b, 100);
	d = OP(view_pread, file, b, 100, -1);
	script_run();
	CHECK_RESULT(a, -EBADF);
	CHECK_RESULT(c, -EBADF);
	CHECK_RESULT(d, -EINVAL);
	close(fd);

	/* Try pipes; and O_DIRECT where it can be had. */
	MUST(!pipe(pipes) && write(pipes[1], "abc", 3) == 3);
	begin();
	a = OP(view_read, pipes[0], b, 100);
	c = OP(view_pread, pipes[0], b, 100, 0);
	script_run();
	CHECK_RESULT(a, 3);
	CHECK_RESULT(c, -ESPIPE);
	CHECK(!memcmp(b, "abc", 3), "from a pipe");
	CHECK_GUARD_FAILED(FS_CONSTANT, 2);
	close(pipes[0]);
	close(pipes[1]);
	fd = open("file", O_RDONLY | O_DIRECT);
	if (fd >= 0) {
		begin();
		a = OP(view_pread, fd, b, PAGE, 0);
		script_run();
		CHECK_RESULT(a, PAGE);
		CHECK_GUARD_FAILED(FS_CONSTANT, 1);
		close(fd);
	}

	/* Read a hole. */
	fd = make("hole", 100);
	MUST(!ftruncate(fd, 3 * PAGE));
	begin();
	a = OP(view_pread, fd, b, 3 * PAGE, 0);
	script_run();
	CHECK_RESULT(a, 3 * PAGE);
	CHECK_GUARD_FAILED(NO_HOLES, 1);
	CHECK(!memcmp(b, text, 100) && !b[100] && !b[3 * PAGE - 1], "a hole");
	close(fd);
	unlink("hole");
	free(mine);
}

/* --- What happens to the file while a view is held ------------------------------------- */

static void changes(void)
{
	char *b = script_buffer;
	int a, fd = make("change", SIZE), copy = dup(fd);

	MUST(copy >= 0);
	/* The program's own writes come after its reads. */
	memset(b + SIZE, 'N', PAGE);
	begin();
	OP(view_pread, fd, b, 2 * PAGE, 10);
	a = SYS(pwrite64, fd, b + SIZE, PAGE, 500);
	script_run();
	CHECK_RESULT(a, PAGE);
	CHECK(!memcmp(b, text + 10, 2 * PAGE), "read before it was written");
	check_bytes(fd, 500, b + SIZE, PAGE, "written");
	MUST(pwrite(fd, text, SIZE, 0) == SIZE);

	begin();
	OP(view_pread, fd, b, 2 * PAGE, 10);
	SYS(ftruncate, fd, 100);
	script_run();
	CHECK(!memcmp(b, text + 10, 2 * PAGE), "read before it was truncated");
	MUST(pwrite(fd, text, SIZE, 0) == SIZE);

	begin();
	OP(view_pread, fd, b, 2 * PAGE, 10);
	SYS(fallocate, fd, 3, 0, SIZE);
	script_run();
	CHECK(!memcmp(b, text + 10, 2 * PAGE), "read before the hole was punched");
	MUST(pwrite(fd, text, SIZE, 0) == SIZE);

	/* Put another file in its place, then close and remove both. */
	begin();
	OP(view_pread, fd, b, 2 * PAGE, 10);
	SYS(dup2, other, fd);
	a = OP(view_pread, fd, b + SIZE, 10, 0);
	SYS(close, fd);
	SYS(unlink, "change");
	SYS(close, copy);
	script_run();
	CHECK_RESULT(a, 10);
	CHECK(!memcmp(b, text + 10, 2 * PAGE) && !memcmp(b + SIZE, text, 10),
	      "of the file that was");
}

/* Another process writes, truncates and punches while views are made and looked at. */
static void races(void)
{
	int fd = make("race", SIZE), n[8];
	uint64_t fast = 0;
	pid_t pid = fork();
	double start = now_ms();
	char *b = script_buffer;

	MUST(pid >= 0);
	if (!pid) {
		for (;;) {
			switch (chance(4)) {
			case 0:
				ftruncate(fd, (off_t)chance(SIZE));
				break;
			case 1:
				fallocate(fd, 3, (off_t)chance(SIZE), (off_t)chance(SIZE) + 1);
				break;
			default:
				pwrite(fd, text, SIZE, 0);
			}
		}
	}
	while (now_ms() - start < 1500 || !fast) {
		size_t at = chance(SIZE - 3 * PAGE);

		begin();
		SYS(pread64, fd, b + SIZE, 1, 0);
		n[0] = OP(view_pread, fd, b, 3 * PAGE, at);
		n[1] = OP(count, b, 3 * PAGE, 'e');
		n[2] = SYS(pwrite64, other, b, PAGE, at);
		n[3] = OP(view_store, b + 100, 0x1234, 2);
		n[4] = SYS(pwrite64, fd, b, PAGE, at);
		script_run();
		CHECK(script_result[n[0]] >= 0 && script_result[n[0]] <= 3 * PAGE, "read %lld",
		      (long long)script_result[n[0]]);
		CHECK_RESULT(n[2], PAGE);
		CHECK_RESULT(n[4], PAGE);
		fast += FAST();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	unlink("race");
	MUST(pwrite(other, text, SIZE, 0) == SIZE);
}

static void one_place(const char *directory)
{
	MUST(!chdir(directory));
	directory_enter();
	file = make("file", SIZE);
	other = make("other", SIZE);
	reads();
	beyond_the_end();
	in_one_jiffy();
	overlaps();
	looks();
	discards();
	writes();
	ordinary();
	specialised();
	waits();
	returned();
	guards();
	changes();
	races();
	close(file);
	close(other);
	unlink("file");
	unlink("other");
	directory_leave();
}

int main(void)
{
	struct statfs fs;

	chance_init();
	script_init();
	for (int i = 0; i < SIZE; i++)
		text[i] = (char)('a' + chance(26));
	one_place("/tmp");
	if (!statfs("/mnt", &fs) && fs.f_type == 0xef53) {
		MUST(!setenv("TMPDIR", "/mnt", 1));
		one_place("/mnt");
	}
	return check_end();
}
