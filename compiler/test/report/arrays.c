// A loop over an array counts its iterations by its index, so an `if` around the call does not keep
// the region native.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// In an iteration without a call, the native code is the same as in a loop outside of a region.
// RUN: %cosycc -O2 -fno-discard-value-names -S -emit-llvm -o - %s | FileCheck %s --check-prefix=NATIVE
#include <cosy/cosy.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
	char *path;
	int skip;
	struct stat st;
};

long entries(struct entry *all, int count)
{
	long bad = 0;

	// CHECK: arrays.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++) {
		if (all[i].skip)
			continue;
		bad += lstat(all[i].path, &all[i].st) < 0;
	}
	COSY_END;
	return bad;
}

long names(char **names, int count)
{
	long bad = 0;
	struct stat st;

	// CHECK: arrays.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++)
		if (names[i][0] != '.' && stat(names[i], &st) < 0)
			bad++;
	COSY_END;
	return bad;
}

// A pointer counts iterations as well, in steps of its element's size.
long arguments(char **argv)
{
	long bad = 0;
	struct stat st;

	// CHECK: arrays.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (; *argv; argv++)
		if (**argv != '-' && stat(*argv, &st) < 0)
			bad++;
	COSY_END;
	return bad;
}

// NATIVE-LABEL: define {{.*}}@descriptors(
// NATIVE: [[LAST:%cosy.last[^ ]*]] = phi i32
// NATIVE: sub i32 %{{.*}}, [[LAST]]
long descriptors(const int *fds, int count)
{
	long open = 0;

	// CHECK: arrays.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9]*}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++)
		if (fds[i] >= 0)
			open += fcntl(fds[i], F_GETFD) >= 0;
	COSY_END;
	return open;
}

// An inner loop that seldom makes a call loses more than its calls save.
long seldom(const char *const *lines, int count, int fd)
{
	char byte;
	long found = 0;

	// CHECK: arrays.c:[[#@LINE+1]]:2: remark: region runs natively: it is expected to lose in the kernel (-fcosy-force runs it there): entering the kernel costs {{[0-9]+}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++)
		for (const char *c = lines[i]; *c; c++)
			if (__builtin_expect(*c == '\n', 0))
				found += pread(fd, &byte, 1, c - lines[i]) == 1 && byte == '\n';
	COSY_END;
	return found;
}
