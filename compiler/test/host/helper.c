// The call at which a loop is counted may be a helper's: it counts what the helper saves, and what
// the iterations before it lost counts once.  Other calls of helpers count where they are made.
// RUN: %ir %s | FileCheck %s
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SAYS
#include <cosy/cosy.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct node {
	struct node *next;
	int want, size;
	const char *name;
};

static int look(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, 0) < 0 ? -1 : (int)st.st_size;
}

// CHECK-LABEL: define {{.*}}@wanted(
// CHECK: sub i64 {{9[0-3][0-9]}}, %
// SAYS: helper.c:[[#@LINE+3]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
void wanted(int dir, struct node *p)
{
	COSY_START;
	for (; p; p = p->next)
		if (p->want)
			p->size = look(dir, p->name);
	COSY_END;
}

static int seen(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, 0) < 0 ? -1 : faccessat(dir, name, R_OK, 0);
}

// CHECK-LABEL: define {{.*}}@both(
// CHECK-COUNT-2: sub i64 {{[19][0-9][0-9]+}}, %{{[0-9]+}}
// CHECK-LABEL: define {{.*}}@seen(
void both(int dir, struct node *p)
{
	COSY_START;
	for (; p; p = p->next)
		if (p->want == 1)
			p->size = look(dir, p->name);
		else if (p->want == 2)
			p->size = seen(dir, p->name);
	COSY_END;
}

static int maybe(int dir, struct node *p)
{
	if (!p->name)
		return -1;
	return look(dir, p->name);
}

// One that makes its call on a path only is inlined, so that the call counts where it is made.
// SAYS: helper.c:[[#@LINE+3]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
long sometimes(int dir, struct node *p)
{
	COSY_START;
	for (; p; p = p->next)
		p->size = maybe(dir, p);
	COSY_END;
	return 0;
}
