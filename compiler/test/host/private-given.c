// A local whose address the region passes to functions of the program is also in the compound's
// context, unless a function keeps the address. The host then needs no frame in the buffer.
// RUN: %cosycc -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <cosy/cosy.h>
#include <string.h>
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

// A function may return an address in what it is given, and so do some of libc's.
static char *after_slash(char *path)
{
	char *last = NULL;

	for (; *path; path++)
		if (*path == '/')
			last = path;
	return last ? last + 1 : NULL;
}

// CHECK-LABEL: @given_and_returned(
// CHECK-NOT: __cosy_frame_enter
// CHECK: __cosy_run
// CHECK-NOT: __cosy_frame_enter
// CHECK: {{^}}}
long given_and_returned(int fd, int count)
{
	char path[200];
	long put = 0;

	COSY_START;
	for (int i = 0; i < count; i++) {
		char *name;

		if (!getcwd(path, sizeof(path)))
			break;
		name = after_slash(strcat(path, "/x"));
		if (!name)
			break;
		put += pwrite(fd, name, 1, strcspn(path, "x"));
	}
	COSY_END;
	return put;
}

static char *either(char *a, char *b)
{
	return a[0] ? a : b;
}

// It may also be an address in something else.
// CHECK-LABEL: @given_and_confused(
// CHECK: __cosy_frame_enter(i64
// CHECK: {{^}}}
long given_and_confused(int fd, int count, char *other)
{
	char text[56];
	long put = 0;

	COSY_START;
	for (int i = 0; i < count; i++) {
		if (read(fd, text, sizeof(text)) < 1)
			break;
		put += pwrite(fd, either(text, other), 1, i);
	}
	COSY_END;
	return put;
}
