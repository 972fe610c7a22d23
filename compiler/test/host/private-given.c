// A local whose address the region passes to functions of the program is also in the compound's
// context, unless a function keeps the address. The host then needs no frame in the buffer.
// RUN: %cosycc -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

struct report {
	unsigned int number, state;
	char text[56];
};

char *kept;

static void state_set(struct report *report, unsigned int state)
{
	report->state = state % 5;
	report->text[state % 50] = 'x';
}

static void report_make(struct report *report, unsigned int number)
{
	report->number = number;
	state_set(report, number / 7);
}

static void report_keep(struct report *report)
{
	kept = report->text;
}

// CHECK-LABEL: @given(
// CHECK-NOT: __cosy_frame_enter
// CHECK: __cosy_run
// CHECK-NOT: __cosy_frame_enter
// CHECK: {{^}}}
long given(int fd, int count)
{
	struct report report;
	long put = 0;

	COSY_START;
	for (int i = 0; i < count; i++) {
		report_make(&report, i);
		put += pwrite(fd, &report, sizeof(report), i * 64L);
	}
	COSY_END;
	return put;
}

// CHECK-LABEL: @given_and_kept(
// CHECK: __cosy_frame_enter(i64 64)
// CHECK: {{^}}}
long given_and_kept(int fd, int count)
{
	struct report report;
	long put = 0;

	COSY_START;
	for (int i = 0; i < count; i++) {
		report_keep(&report);
		put += pwrite(fd, &report, sizeof(report), i * 64L);
	}
	COSY_END;
	return put;
}
