// Calls that not every iteration makes are weighed by the probability of their path, and assumed
// counts never multiply to millions.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct node {
	struct node *next;
	int want;
	const char *name;
	struct stat st;
};

// The way in is at the call.
void wanted(int dir, struct node *head)
{
	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]?[0-9]?[0-9]?[0-9]}}, an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (struct node *p = head; p; p = p->next)
		if (p->want)
			p->want = fstatat(dir, p->name, &p->st, AT_SYMLINK_NOFOLLOW);
	COSY_END;
}

void skipped(int dir, struct node *head)
{
	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]?[0-9]?[0-9]?[0-9]}}, an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (struct node *p = head; p; p = p->next) {
		if (p->want < 0)
			continue;
		p->want = fstatat(dir, p->name, &p->st, AT_SYMLINK_NOFOLLOW);
	}
	COSY_END;
}

// As git compares its index.
static int under(const char *path, const char *dir, size_t len)
{
	return len > 0 && strncmp(path, dir, len) == 0 && path[len] == '/';
}

struct entry {
	unsigned mode, gone;
	char *path;
};

unsigned long refresh(struct entry **entries, size_t count, const char *missing, size_t length)
{
	unsigned long changed = 0;

	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]?[0-9]?[0-9]?[0-9]}}, an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (size_t i = 0; i < count; i++) {
		struct entry *e = entries[i];
		struct stat st;

		if (under(e->path, missing, length)) {
			e->gone = 1;
			continue;
		}
		if (lstat(e->path, &st) < 0)
			e->gone = errno == ENOENT;
		else
			changed += st.st_mode != e->mode;
	}
	COSY_END;
	return changed;
}

extern char *grow(char *p);
extern char *end;
extern void record(int from, int to);

// Several ways back to the head are one loop, whose iterations all read.
char *line(char *p, const char *q)
{
	char c;
	int esc = 0;

	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]?[0-9]?[0-9]?[0-9]}}, an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (;;) {
		if (read(0, &c, 1) != 1)
			break;
		if (!c)
			continue;
		if (c == '\\') {
			esc = 1;
			continue;
		}
		if (c == '\n')
			break;
		if (p + 2 > end)
			p = grow(p);
		if (strchr(q, c))
			*p++ = 1;
		*p++ = c;
		if (esc) {
			record(1, 2);
			esc = 0;
		}
	}
	COSY_END;
	return p;
}

// A search of unknown length is a guess, which the calls of each iteration outweigh.
long searches(int fd, char *buffer, size_t length)
{
	long found = 0;

	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: {{.*}}, an iteration of its loop saves {{[1-9][0-9]*}} instructions;
	COSY_START;
	while (pread(fd, buffer, length, found) > 0)
		found += memchr(buffer, '\n', length) != NULL;
	COSY_END;
	return found;
}

// Memory from elsewhere is written the ordinary way.
void put(int fd, const char *b, long n)
{
	// CHECK: skips.c:[[#@LINE+1]]:2: remark: {{.*}}an iteration of its loop {{saves|costs}} {{[0-9]?[0-9]}} instructions;
	COSY_START;
	for (long i = 0; i < n; i++)
		pwrite(fd, b, 100, i * 100);
	COSY_END;
}

// A local moves into the shared buffer.
void put_local(int fd, long n)
{
	char b[100] = "local";

	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (long i = 0; i < n; i++)
		pwrite(fd, b, sizeof(b), i * sizeof(b));
	COSY_END;
}

long computes(int n)
{
	long sum = 0;

	// CHECK: skips.c:[[#@LINE+1]]:2: remark: region runs natively{{.*}} no system call is left in it
	COSY_START;
	for (int i = 0; i < n; i++)
		sum += i * n;
	COSY_END;
	return sum;
}

static int join(char *path, size_t size, const char *directory, const char *name)
{
	size_t length = strlen(directory), more = strlen(name) + 1;

	if (length + 1 + more > size)
		return -1;
	memcpy(path, directory, length);
	path[length] = '/';
	memcpy(path + length + 1, name, more);
	return 0;
}

static int find(const char *const *directories, int count, const char *name)
{
	char path[256];
	struct stat st;

	for (int i = 0; i < count; i++) {
		if (join(path, sizeof(path), directories[i], name))
			continue;
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			return i;
	}
	return -1;
}

// A short function that makes other calls leaves its loop worth counting.
long find_all(const char *const *directories, long count)
{
	long found = 0;

	// CHECK: skips.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]?[0-9]?[0-9]?[0-9]}}, an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (long at = 0; at < count; at++)
		if (find(directories, 3, at % 1000 == 500 ? "missing" : "log") >= 0)
			found++;
	COSY_END;
	return found;
}
