// A composite is worth what its calls are, also as the only call of a region.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// What it finds is counted after it, by its result.
// RUN: %ir %s | FileCheck %s --check-prefix=COUNTS
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <cosy/move.h>
#include <fcntl.h>
#include <linux/cosy.h>

// COUNTS-LABEL: define {{.*}}@list(
// COUNTS: [[FOUND:%.*]] = call i64 @cosy_scan_dir(
// COUNTS: [[BYTES:%.*]] = call i64 @llvm.smax.i64(i64 [[FOUND]], i64 0)
// COUNTS: mul i64 [[BYTES]], {{[1-9]}}
long list(int fd, char *buffer)
{
	long ret;

	// CHECK: composites.c:[[#@LINE+1]]:2: remark: gain: entering the kernel saves {{[1-9][0-9][0-9][0-9][0-9]}} instructions;
	COSY_START;
	ret = cosy_scan_dir(fd, buffer, 65536, 0);
	COSY_END;
	return ret;
}

long walk(struct cosy_tree *tree, char *buffer)
{
	long ret;

	// CHECK: composites.c:[[#@LINE+1]]:2: remark: gain: entering the kernel saves {{[1-9][0-9][0-9][0-9][0-9]}} instructions;
	COSY_START;
	ret = cosy_scan_tree(tree, buffer, 65536);
	COSY_END;
	return ret;
}

int arrivals(int fd, char *buffer)
{
	int ret;

	// CHECK: composites.c:[[#@LINE+1]]:2: remark: gain: entering the kernel saves {{[1-9][0-9][0-9][0-9]}} instructions;
	COSY_START;
	ret = cosy_epoll_read(fd, buffer, 65536, 16, -1);
	COSY_END;
	return ret;
}

// Three calls, and an iteration has no more.
long files(int dir, const char *const *names, int count, char *buffer)
{
	long sum = 0;

	// CHECK: composites.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{1[0-9][0-9][0-9]}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++)
		sum += cosy_read_file(dir, names[i], buffer, 4096, O_RDONLY);
	COSY_END;
	return sum;
}

long records(int fd, char *buffer, int count)
{
	long sum = 0;

	// CHECK: composites.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{9[0-9][0-9]|1[01][0-9][0-9]}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++)
		sum += cosy_seek_read(fd, buffer, 64, i * 4096, SEEK_SET);
	COSY_END;
	return sum;
}

// Writes from memory of unknown origin.
void store(int dir, const char *const *names, int count, const char *bytes)
{
	// CHECK: composites.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[23][0-9][0-9]}} instructions;
	COSY_START;
	for (int i = 0; i < count; i++)
		cosy_write_file(dir, names[i], bytes, 100, O_WRONLY | O_CREAT);
	COSY_END;
}
