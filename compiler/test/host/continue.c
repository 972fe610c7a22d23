// A loop with `continue` has one way back to its head, and keeps what a pragma said of it.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <fcntl.h>
#include <sys/stat.h>

struct node {
	struct node *next;
	int want;
	const char *name;
	struct stat st;
};

// CHECK-LABEL: define {{.*}}@wanted(
// CHECK: {{^}}while.cond.cosy.back{{.*}}:
// CHECK-NEXT: br label %while.cond{{.*}}, !llvm.loop ![[#LOOP:]]
// CHECK: ![[#LOOP]] = distinct !{![[#LOOP]]{{.*}}, ![[#UNROLL:]]}
// CHECK: ![[#UNROLL]] = !{!"llvm.loop.unroll.disable"}
void wanted(int dir, struct node *head)
{
	COSY_START;
#pragma clang loop unroll(disable)
	while (head) {
		struct node *p = head;

		head = head->next;
		if (p->want < 3)
			continue;
		if (p->want == 5) {
			p->want++;
			continue;
		}
		p->want = fstatat(dir, p->name, &p->st, 0);
	}
	COSY_END;
}
