/* SPDX-License-Identifier: MIT */
/*
 * Tests views at their edges (docs/inside/views.md): stores beside them, memory and files that end
 * where a view would go on, folios that are given back, and files that may not be written.
 */
#include "script.h"
#include <linux/fs.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>

enum { PAGE = 4096, PAGES = 40, SIZE = PAGES * PAGE, HUGE = 2 << 20, PART = 100 };

static char text[SIZE];
static int file; /* has the text */

/* Gets the shared buffer, with no memory after it. */
static void buffer_get(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = SCRIPT_BUFFER };
	char *room =
		mmap(NULL, SCRIPT_BUFFER + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	script_fd = raw_open();
	MUST(room != MAP_FAILED && !raw_ioctl(script_fd, COSY_IOC_SETBUF, &setbuf));
	script_buffer = mmap(room, SCRIPT_BUFFER, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     script_fd, 0);
	MUST(script_buffer == room);
}

/* Makes the ordinary read of a file system that a RUN begins with. */
static void begin_with(int fd)
{
	script_begin();
	SYS(pread64, fd, script_buffer + SCRIPT_BUFFER - 8, 1, 0);
}

static void begin(void)
{
	begin_with(file);
}

/* Makes a file of `size` bytes of the text, on the disk, too, and in the cache. */
static int make(const char *name, size_t size)
{
	static char bytes[SIZE];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	MUST(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	MUST(!fsync(fd) && pread(fd, bytes, size, 0) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	return fd;
}

static void check_bytes(int fd, off_t at, const char *wanted, size_t size, const char *what)
{
	static char found[SIZE];

	CHECK(pread(fd, found, size, at) == (ssize_t)size && !memcmp(found, wanted, size), "%s",
	      what);
}

/* --- Stores beside a view ------------------------------------------------------------------ */

struct store {
	size_t at, size;
};

/* Views a page, makes these stores, at most eight, and looks at them and at all of it in the view. */
static void stores_make(const struct store *store, size_t count, const char *what)
{
	char *b = script_buffer, model[PAGE + 8];
	int same, sum, load[8], found = 0;

	memset(b, 'Z', 2 * PAGE);
	memcpy(model, text, PAGE);
	memset(model + PAGE, 'Z', 8);
	begin();
	OP(view_pread, file, b, PAGE, 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0x1111111111111111 * (i + 1);

		memcpy(model + store[i].at, &value, store[i].size);
		OP(view_store, b + store[i].at, value, store[i].size);
	}
	for (size_t i = 0; i < count; i++)
		load[i] = OP(view_load, b + store[i].at, store[i].size);
	same = OP(memcmp, b, model, sizeof(model));
	sum = OP(count, b, sizeof(model), 0x11);
	script_run();
	for (size_t i = 0; i < count; i++)
		CHECK(!memcmp(&script_result[load[i]], model + store[i].at, store[i].size),
		      "%s: store %zu is loaded as %#llx", what, i,
		      (unsigned long long)script_result[load[i]]);
	CHECK_RESULT(same, 0);
	for (size_t i = 0; i < sizeof(model); i++)
		found += model[i] == 0x11;
	CHECK_RESULT(sum, found);
	CHECK(!memcmp(b, model, sizeof(model)), "%s: other bytes at the end", what);
}

#define STORES(what, ...)                                                                          \
	stores_make((const struct store[]){ __VA_ARGS__ },                                         \
		    COUNT(((struct store[]){ __VA_ARGS__ })), what)

static void stores(void)
{
	STORES("over another", { 100, 8 }, { 100, 8 }, { 103, 2 });
	STORES("wider", { 100, 1 }, { 100, 8 });
	STORES("over another's end", { 100, 8 }, { 104, 8 });
	STORES("over another's beginning", { 100, 8 }, { 96, 8 });
	STORES("beside each other", { 100, 8 }, { 108, 8 }, { 92, 8 }, { 99, 1 });
	STORES("four", { 8, 8 }, { 800, 4 }, { 1600, 2 }, { 2400, 1 });
	STORES("five", { 8, 8 }, { 800, 4 }, { 1600, 2 }, { 2400, 1 }, { 3200, 8 });
	STORES("many", { 8, 8 }, { 400, 8 }, { 800, 8 }, { 1200, 8 }, { 1600, 8 }, { 2000, 8 },
	       { 2400, 8 }, { 2800, 8 });
	STORES("over the end", { 100, 8 }, { PAGE - 4, 8 });
}

/* Looks backwards, over a store and from a view into the memory before it. */
static void backwards(void)
{
	char *b = script_buffer;
	int at = 100, over, before;

	/* What the file has before the view, and the view has not. */
	while (memchr(text + at, text[at - 1], 4))
		at++;
	memset(b, 'Z', 2 * PAGE);
	begin();
	OP(view_pread, file, b + PAGE, 4, at);
	before = OP(memrchr, b, text[at - 1], PAGE + 4);
	OP(view_pread, file, b + PAGE, PART, 0);
	OP(view_store, b + PAGE + 50, '#', 1);
	over = OP(memrchr, b, '#', PAGE + PART);
	script_run();
	CHECK_RESULT(before, 0);
	CHECK_RESULT(over, (intptr_t)b + PAGE + 50);
}

/* --- Where memory ends ---------------------------------------------------------------------- */

/* A RUN's first read of a file system is the ordinary one. */
static void first(void)
{
	int r[2];

	stale_file_systems();
	script_begin();
	r[0] = OP(view_pread, file, script_buffer, PAGE, 0);
	r[1] = OP(view_pread, file, script_buffer, PAGE, PAGE);
	script_run();
	CHECK_RESULT(r[0], PAGE);
	CHECK_RESULT(r[1], PAGE);
	CHECK_GUARD_FAILED(FRESH, 1);
	CHECK_FAST_CALLS(1);
}

/* The buffer ends within what is read or written: the result is the call's. */
static void memory_ends(void)
{
	char *end = script_buffer + SCRIPT_BUFFER, *mine = malloc(PAGE);
	int other = make("other", PAGE), r[6];
	long read, written, appended;

	read = pread(file, end - 10, 100, 0) < 0 ? -errno : 10;
	written = pwrite(other, end - 10, 100, 0) < 0 ? -errno : 10;
	appended = pwrite(other, end - 10, 100, PAGE) < 0 ? -errno : 10;
	MUST(mine);
	memset(mine, 'M', PAGE);
	begin();
	r[0] = OP(view_pread, file, end - 10, 100, 0);
	r[1] = SYS(pwrite64, other, end - 10, 100, 0);
	r[2] = SYS(pwrite64, other, end - 10, 100, PAGE);
	r[3] = SYS(pwrite64, other, mine, 100, 2000);
	r[4] = SYS(pwrite64, other, end, 100, 0);
	r[5] = SYS(pwrite64, other, NULL, 100, 0);
	script_run();
	CHECK_RESULT(r[0], read);
	CHECK_RESULT(r[1], written);
	CHECK_RESULT(r[2], appended);
	CHECK_RESULT(r[3], 100);
	CHECK_RESULT(r[4], -EFAULT);
	CHECK_RESULT(r[5], -EFAULT);
	/* A few bytes from other memory are specialised, unless they cannot be read. */
	CHECK_GUARD_FAILED(MEMORY, 5);
	check_bytes(other, 2000, mine, 100, "from other memory");
	free(mine);
	MUST(!close(other) && !unlink("other"));
}

/* More than a view or a write has room for. */
static void long_ones(void)
{
	char *b = script_buffer;
	int other = make("other", SIZE), r[5];

	for (int i = 0; i < SIZE; i++)
		b[i] = (char)(i / 7);
	begin();
	r[0] = OP(view_pread, file, b + SIZE, 32 * PAGE, 1);
	r[1] = OP(view_pread, file, b + 3 * SIZE, SIZE, 0);
	r[2] = SYS(pwrite64, other, b, SIZE, 0);
	r[3] = SYS(write, other, b, SIZE);
	r[4] = SYS(pwrite64, other, b, 0, 0);
	script_run();
	CHECK_RESULT(r[0], 32 * PAGE);
	CHECK_RESULT(r[1], SIZE);
	CHECK_RESULT(r[2], SIZE);
	CHECK_RESULT(r[3], SIZE);
	CHECK_RESULT(r[4], 0);
	CHECK_GUARD_FAILED(LIMITED, 5);
	CHECK(!memcmp(b + SIZE, text + 1, 32 * PAGE) && !memcmp(b + 3 * SIZE, text, SIZE), "read");
	check_bytes(other, 0, b, SIZE, "written");
	MUST(!close(other) && !unlink("other"));
}

/*
 * Two functions in turn: the first one's view goes on after its memory, where the second one has
 * its own then.
 */
static void returned(void)
{
	static const struct bpf_insn call_two[] = { MOVR(7, 1), CALL_LOCAL(2), CALL_LOCAL(16),
						    EXIT };
	const struct bpf_insn first[] = {
		MOV(1, PAGE), CALL_OP(RAW_OP_alloca),
		MOVR(6, 0),   MOV(1, file),
		MOVR(2, 6),   MOV(3, 1),
		MOV(4, 0),    CALL_OP(RAW_OP_view_pread),
		MOV(1, file), MOVR(2, 6),
		ADD(2, 2048), MOV(3, 2 * PAGE),
		MOV(4, 0),    CALL_OP(RAW_OP_view_pread),
		MOV(0, 0),    EXIT,
	};
	const struct bpf_insn second[] = {
		MOV(1, 3 * PAGE),
		CALL_OP(RAW_OP_alloca),
		MOVR(6, 0),
		STOREK(BPF_DW, 6, 2 * PAGE, 77),
		MOV(1, 022),
		CALL(SYS_umask),
		LOAD(BPF_DW, 0, 6, 2 * PAGE),
		EXIT,
	};
	struct bpf_insn insns[COUNT(call_two) + COUNT(first) + COUNT(second)];

	memcpy(insns, call_two, sizeof(call_two));
	memcpy(insns + COUNT(call_two), first, sizeof(first));
	memcpy(insns + COUNT(call_two) + COUNT(first), second, sizeof(second));
	insns[1].imm = COUNT(call_two) - 2;
	insns[2].imm = COUNT(call_two) + COUNT(first) - 3;
	script_run_view(insns, COUNT(insns));
}

/* --- Folios are given back --------------------------------------------------------------------- */

/* Returns a file of memory whose `size` bytes are there. */
static int memory_make(size_t size)
{
	int fd = memfd_create("view", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	return fd;
}

/* A file whose pages somebody holds cannot be sealed against writing. */
static void check_released(int fd, const char *what)
{
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), "%s: pages are held: %s", what,
	      strerror(errno));
	MUST(!close(fd));
}

static void released(void)
{
	static char got[SIZE];
	char *b = script_buffer;
	int fd, s[2], r;

	fd = memory_make(SIZE);
	begin_with(fd);
	OP(view_pread, fd, b, 3 * PAGE, 100);
	script_run();
	CHECK(!AT_ONCE() || FAST(), "no view");
	check_released(fd, "a view");

	fd = memory_make(SIZE);
	begin_with(fd);
	for (int i = 0; i < 3; i++)
		OP(view_pread, fd, b, PAGE, i * 2 * PAGE);
	script_run();
	check_released(fd, "at the same place");

	fd = memory_make(SIZE);
	begin_with(fd);
	for (int i = 0; i < 8; i++)
		OP(view_pread, fd, b + i * 2 * PAGE, PAGE, i * PAGE);
	script_run();
	check_released(fd, "more than there are");

	fd = memory_make(SIZE);
	begin_with(fd);
	OP(view_pread, fd, b, PAGE, 0);
	OP(view_pread, fd, b + 2 * PAGE, PAGE, 2 * PAGE);
	OP(view_pread, fd, b + PAGE / 2, 2 * PAGE, 4 * PAGE);
	script_run();
	check_released(fd, "that overlap");

	fd = memory_make(SIZE);
	begin_with(fd);
	OP(view_pread, fd, b, PAGE, 0);
	OP(discard, b, 2 * PAGE);
	script_run();
	check_released(fd, "discarded");

	/* Pages from the second one on are a hole. */
	fd = memory_make(PAGE);
	MUST(!ftruncate(fd, SIZE));
	begin_with(fd);
	r = OP(view_pread, fd, b, 3 * PAGE, 0);
	script_run();
	CHECK_RESULT(r, 3 * PAGE);
	CHECK_GUARD_FAILED(NO_HOLES, 1);
	check_released(fd, "of a hole");

	fd = memory_make(SIZE);
	begin_with(fd);
	r = SYS(pwrite64, fd, b, 3 * PAGE, 100);
	script_run();
	CHECK_RESULT(r, 3 * PAGE);
	CHECK(!AT_ONCE() || FAST(), "an ordinary write");
	check_released(fd, "written");

	fd = memory_make(PAGE);
	MUST(!ftruncate(fd, SIZE));
	begin_with(fd);
	r = SYS(pwrite64, fd, b, 3 * PAGE, 100);
	script_run();
	CHECK_RESULT(r, 3 * PAGE);
	CHECK_GUARD_FAILED(NO_HOLES, 1);
	check_released(fd, "written into a hole");

	fd = memory_make(SIZE);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	begin_with(fd);
	OP(view_pread, fd, b, 3 * PAGE, 100);
	r = OP(lend, s[0], b, 3 * PAGE, 0);
	script_run();
	CHECK_RESULT(r, 3 * PAGE);
	MUST(!shutdown(s[0], SHUT_WR));
	for (ssize_t n, at = 0; (n = read(s[1], got, sizeof(got))) > 0; at += n)
		CHECK(!memcmp(got, text + 100 + at, (size_t)n), "other bytes");
	close(s[0]);
	close(s[1]);
	check_released(fd, "lent");
}

/* --- Writes ----------------------------------------------------------------------------------- */

/* A file that is not open for writing, or for reading. */
static void modes(void)
{
	char *b = script_buffer;
	int other = make("other", SIZE), in = open("other", O_RDONLY),
	    out = open("other", O_WRONLY), r[5];

	MUST(in >= 0 && out >= 0);
	memset(b, 'N', SIZE);
	begin();
	r[0] = SYS(pwrite64, in, b, 100, 0);
	r[1] = SYS(write, in, b, 100);
	OP(view_pread, file, b + SIZE, PAGE, PAGE);
	r[2] = SYS(pwrite64, in, b + SIZE, PAGE, SIZE);
	r[3] = OP(view_pread, out, b + SIZE, 100, 0);
	r[4] = OP(view_read, out, b + SIZE, 100);
	script_run();
	for (size_t i = 0; i < COUNT(r); i++)
		CHECK_RESULT(r[i], -EBADF);
	check_bytes(other, 0, text, SIZE, "written to a file that was open for reading");
	CHECK(lseek(other, 0, SEEK_END) == SIZE, "it grew");
	close(in);
	close(out);
	MUST(!close(other) && !unlink("other"));
}

/* Memory beside a view, and part of one, to the end of a file: not the view's own write. */
static void sources(void)
{
	char *b = script_buffer;
	int other = make("other", PAGE), r[3];

	memset(b, 'Z', SIZE);
	begin();
	OP(view_pread, file, b + PAGE, PAGE, 3 * PAGE);
	r[0] = SYS(pwrite64, other, b + 4 * PAGE, PAGE, PAGE);
	OP(view_pread, file, b + PAGE, PAGE, 3 * PAGE);
	r[1] = SYS(pwrite64, other, b + 2 * PAGE - 10, 100, 2 * PAGE);
	OP(view_pread, file, b + PAGE, PAGE, 3 * PAGE);
	r[2] = SYS(pwrite64, other, b + PAGE - 10, 100, 2 * PAGE + 100);
	script_run();
	CHECK_RESULT(r[0], PAGE);
	CHECK_RESULT(r[1], 100);
	CHECK_RESULT(r[2], 100);
	check_bytes(other, PAGE, b + 4 * PAGE, PAGE, "from beside the view");
	check_bytes(other, 2 * PAGE, b + 2 * PAGE - 10, 100, "from the view's end on");
	check_bytes(other, 2 * PAGE + 100, b + PAGE - 10, 100, "to the view's beginning");
	CHECK(b[PAGE - 10] == 'Z' && !memcmp(b + PAGE, text + 3 * PAGE, PAGE) && b[2 * PAGE] == 'Z',
	      "the buffer");
	MUST(!close(other) && !unlink("other"));
}

/* Writes into the middle of what a view has of the same file. */
static void middle(void)
{
	char *b = script_buffer;
	int other = make("other", SIZE), r;

	for (int i = 0; i < 5; i++) {
		/* Where the view has some before what is written, and after it; begins, or ends there. */
		static const struct {
			long at, count;
		} writes[] = {
			{ 3 * PAGE, 100 }, { PAGE, 100 },	    { 5 * PAGE - 1, 1 },
			{ PAGE - 50, 51 }, { PAGE - 50, 5 * PAGE },
		};

		MUST(pwrite(other, text, SIZE, 0) == SIZE);
		memset(b, 'N', SIZE);
		begin();
		OP(view_pread, other, b, 4 * PAGE, PAGE);
		r = SYS(pwrite64, other, b + 8 * PAGE, writes[i].count, writes[i].at);
		script_run();
		CHECK_RESULT(r, writes[i].count);
		CHECK(!memcmp(b, text + PAGE, 4 * PAGE), "write %d shows in what was read", i);
		check_bytes(other, writes[i].at, b + 8 * PAGE, (size_t)writes[i].count, "written");
	}
	MUST(!close(other) && !unlink("other"));
}

/* --- Others are told --------------------------------------------------------------------------- */

/* Returns the mask of all events of a file since then. */
static uint32_t events(int notify)
{
	char buffer[4096] __attribute__((aligned(8)));
	ssize_t size = read(notify, buffer, sizeof(buffer));
	uint32_t mask = 0;

	for (ssize_t at = 0; at < size;) {
		const struct inotify_event *event = (void *)(buffer + at);

		mask |= event->mask;
		at += (ssize_t)sizeof(*event) + event->len;
	}
	return mask;
}

static void told(void)
{
	int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), other = make("other", PAGE);
	char *b = script_buffer;
	uint32_t mask;

	MUST(notify >= 0 && inotify_add_watch(notify, "other", IN_ACCESS | IN_MODIFY) >= 0);
	begin();
	OP(view_pread, other, b, 100, 0);
	script_run();
	CHECK(!AT_ONCE() || FAST(), "no view");
	mask = events(notify);
	CHECK(mask == IN_ACCESS, "a view: %#x", mask);
	begin();
	OP(view_pread, file, b, 100, 0);
	SYS(pwrite64, other, b, 100, PAGE);
	script_run();
	CHECK(!AT_ONCE() || FAST() >= 2, "an ordinary write");
	mask = events(notify);
	CHECK(mask == IN_MODIFY, "a view that is written: %#x", mask);
	close(notify);
	MUST(!close(other) && !unlink("other"));
}

/* --- Huge pages --------------------------------------------------------------------------------- */

/* Views and writes the middle of a huge page: each page is that of its place. */
static void huge(void)
{
	char *b = script_buffer;
	int fd, other, r, w, v;

	if (geteuid() || mkdir("huge", 0700) ||
	    mount("none", "huge", "tmpfs", 0, "huge=always,size=64m")) {
		printf("no file system of huge pages: not tested\n");
		rmdir("huge");
		return;
	}
	fd = open("huge/file", O_RDWR | O_CREAT, 0600);
	other = open("huge/other", O_RDWR | O_CREAT, 0600);
	MUST(fd >= 0 && other >= 0);
	for (off_t at = 0; at < 2 * HUGE; at += HUGE / 16)
		MUST(pwrite(fd, text + at % PAGE, HUGE / 16, at) == HUGE / 16);
	MUST(pwrite(fd, text, SIZE, HUGE / 2) == SIZE);
	begin_with(fd);
	v = OP(view_pread, fd, b, 5 * PAGE, HUGE / 2 + 3 * PAGE + 100);
	w = SYS(pwrite64, other, b, 5 * PAGE, 0);
	r = SYS(pwrite64, fd, b + PAGE, PAGE, HUGE / 2 + 20 * PAGE);
	script_run();
	CHECK_RESULT(v, 5 * PAGE);
	CHECK_RESULT(w, 5 * PAGE);
	CHECK_RESULT(r, PAGE);
	CHECK(!memcmp(b, text + 3 * PAGE + 100, 5 * PAGE), "the buffer");
	check_bytes(other, 0, text + 3 * PAGE + 100, 5 * PAGE, "written elsewhere");
	check_bytes(fd, HUGE / 2 + 20 * PAGE, text + 4 * PAGE + 100, PAGE, "written within");
	check_bytes(fd, HUGE / 2, text, 20 * PAGE, "before it");
	check_bytes(fd, HUGE / 2 + 21 * PAGE, text + 21 * PAGE, SIZE - 21 * PAGE, "after it");
	close(fd);
	close(other);
	CHECK(!umount("huge") && !rmdir("huge"), "the mount is still in use");
}

/* --- Frozen file systems ------------------------------------------------------------------------- */

static _Atomic bool *ended;
static int ready_now[2], frozen_now[2]; /* pipes */

/*
 * Writes from memory over what is there, or from a view to the end.  Reads and writes by ordinary calls
 * before the file system is frozen, so that it counts as fresh.
 */
static void writes_frozen(void *at_end)
{
	int other = open("other", O_RDWR), before = open("before", O_RDWR), r[4];
	char *apart;

	buffer_get();
	apart = script_buffer + PAGE;
	memset(script_buffer, 'N', PAGE);
	begin();
	OP(view_pread, file, apart, PAGE, 0);
	r[1] = SYS(pwrite64, before, apart, PAGE, 0);
	r[2] = SYS(write, ready_now[1], apart, 1);
	r[3] = SYS(read, frozen_now[0], apart, 1);
	if (at_end)
		OP(view_pread, file, script_buffer, PAGE, PAGE);
	r[0] = SYS(pwrite64, other, script_buffer, PAGE, at_end ? PAGE : 0);
	script_run();
	*ended = true;
	CHECK_RESULT(r[0], PAGE);
	CHECK_RESULT(r[1], PAGE);
	CHECK_RESULT(r[2], 1);
	CHECK_RESULT(r[3], 1);
}

static void frozen(void)
{
	int directory = open(".", O_RDONLY | O_DIRECTORY), other, before, status;
	static char zeros[PAGE];
	pid_t pid;

	MUST(directory >= 0 && !pipe(ready_now) && !pipe(frozen_now));
	if (ioctl(directory, FIFREEZE, 0)) {
		printf("nothing that can be frozen here: %s\n", strerror(errno));
		MUST(!close(directory));
		return;
	}
	MUST(!ioctl(directory, FITHAW, 0));
	before = make("before", PAGE);
	for (int at_end = 0; at_end < 2; at_end++) {
		other = make("other", PAGE);
		*ended = false;
		pid = child_start();
		if (!pid) {
			writes_frozen(at_end ? zeros : NULL);
			_exit(check_end());
		}
		MUST(read(ready_now[0], zeros, 1) == 1);
		MUST(!ioctl(directory, FIFREEZE, 0) && write(frozen_now[1], zeros, 1) == 1);
		WAIT_FOR(0, *ended || is_blocked(pid) || has_ended(pid));
		CHECK(!*ended, "a write did not wait until the file system was thawed");
		check_bytes(other, 0, text, PAGE, "written to a frozen file system");
		CHECK(lseek(other, 0, SEEK_END) == PAGE, "a frozen file grew");
		MUST(!ioctl(directory, FITHAW, 0));
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK_CHILD(status);
		MUST(!close(other) && !unlink("other"));
	}
	MUST(!close(before) && !unlink("before") && !close(directory));
}

int main(void)
{
	chance_init();
	buffer_get();
	ended = shared_memory(sizeof(*ended));
	directory_enter();
	for (int i = 0; i < SIZE; i++)
		text[i] = (char)('a' + chance(26));
	file = make("file", SIZE);
	first();
	stores();
	backwards();
	memory_ends();
	long_ones();
	returned();
	released();
	modes();
	sources();
	middle();
	told();
	huge();
	frozen();
	MUST(!close(file) && !unlink("file"));
	directory_leave();
	return check_end();
}
