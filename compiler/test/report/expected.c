// What __builtin_expect and [[likely]] say weighs the path of a call, also in a function that the
// region calls.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <fcntl.h>
#include <sys/stat.h>

struct node {
	struct node *next;
	int want;
	const char *name;
	struct stat st;
};

void mostly(int dir, struct node *p)
{
	// CHECK: expected.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[89][0-9][0-9]}} instructions;
	COSY_START;
	for (; p; p = p->next) {
		if (__builtin_expect(p->want != 3, 0))
			continue;
		p->want = fstatat(dir, p->name, &p->st, 0);
	}
	COSY_END;
}

void hardly(int dir, struct node *p)
{
	// CHECK: expected.c:[[#@LINE+1]]:2: remark: {{.*}}an iteration of its loop costs {{[1-9][0-9]?}} instructions;
	COSY_START;
	for (; p; p = p->next) {
		if (__builtin_expect(p->want != 3, 1))
			continue;
		p->want = fstatat(dir, p->name, &p->st, 0);
	}
	COSY_END;
}

static int look(int dir, struct node *p)
{
	if (__builtin_expect(p->want == 3, 1))
		return fstatat(dir, p->name, &p->st, 0);
	return 0;
}

void called(int dir, struct node *p)
{
	// CHECK: expected.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[89][0-9][0-9]}} instructions;
	COSY_START;
	for (; p; p = p->next)
		p->want = look(dir, p);
	COSY_END;
}
