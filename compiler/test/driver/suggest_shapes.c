// -fcosy-suggest where a line is not what it looks like: debug information has the line at which a
// macro is used, not the one at which it is written.
// RUN: %ir -fcosy-suggest=suggest_shapes.c:28 %s -Rcosy 2>&1 | FileCheck --check-prefix=CALL %s
// CALL: suggest_shapes.c:27:{{.*}}remark: region compiled
// RUN: %ir -fcosy-suggest=suggest_shapes.c:38 %s -Rcosy 2>&1 | FileCheck --check-prefix=LOOP %s
// LOOP: suggest_shapes.c:38:{{.*}}remark: region compiled
// RUN: not %cosycc -fcosy-suggest=suggest_shapes.c:17 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=WRITTEN %s
// WRITTEN: error: -fcosy-suggest=suggest_shapes.c:17: no loop begins there, or is around it, that can be marked
// RUN: not %cosycc -fcosy-suggest=suggest_shapes.c:51 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=GOTO %s
// GOTO: suggest_shapes.c:51:{{.*}}error: -fcosy-suggest=suggest_shapes.c:51: the function has a computed goto
// The function beside it has none.
// RUN: %ir -fcosy-suggest=suggest_shapes.c:64 %s -Rcosy 2>&1 | FileCheck --check-prefix=BESIDE %s
// BESIDE: suggest_shapes.c:64:{{.*}}remark: region compiled
#include <unistd.h>

#define GET(fd, buffer)                                                                            \
	(read((fd), (buffer), sizeof(buffer)))
#define GET_ALL(fd, buffer, n, all)                                                                \
	while (((n) = GET(fd, buffer)) > 0)                                                        \
		(all) += (n)

long total(int fd, int turns)
{
	char buffer[16];
	long all = 0;

	for (int i = 0; i < turns; i++)
		all += GET(fd, buffer);
	return all;
}

long total_all(int fd)
{
	char buffer[16];
	long all = 0;
	ssize_t n;

	GET_ALL(fd, buffer, n, all);
	return all;
}

/* No variable with a clean-up may be where a computed goto might jump. */
long interpret(int fd, const char *program)
{
	static const void *const operations[] = {&&get, &&end};
	char buffer[16];
	long all = 0;

	goto *operations[(int)*program++];
get:
	for (int i = 0; i < 100; i++)
		all += read(fd, buffer, sizeof(buffer));

	goto *operations[(int)*program++];
end:
	return all;
}

long beside(int fd)
{
	char buffer[16];
	long all = 0;

	for (int i = 0; i < 100; i++)
		all += read(fd, buffer, sizeof(buffer));
	return all;
}
