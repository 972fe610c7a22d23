// SPDX-License-Identifier: MIT
/* Checks what a recording's reader refuses, and text that a program chose. */
#include <stdlib.h>
#include <string.h>

#include "record/event.h"
#include "show/show.h"
#include "test/check.h"

static struct event_header header = {
	.magic = EVENT_MAGIC, .version = EVENT_VERSION, .size = sizeof(header)};

static struct event_call call = {.event = {.size = sizeof(call), .kind = EVENT_CALL}, .pid = 1};

/* Reads what `bytes` hold after a header. */
static int next(const void *bytes, size_t size, const char **why)
{
	_Alignas(8) char buffer[EVENT_MAX_SIZE];
	struct event_header read;
	FILE *file = tmpfile();
	int ret;

	MUST(file && event_file_begin(file, &header));
	MUST(!size || fwrite(bytes, size, 1, file) == 1);
	rewind(file);
	MUST(event_file_header(file, &read, why) == 1);
	ret = event_file_next(file, (struct event *)buffer, why);
	fclose(file);
	return ret;
}

static void test_header(void)
{
	struct event_header read, other = header;
	const char *why = NULL;
	FILE *file = tmpfile();

	MUST(file);
	CHECK_EQ(event_file_header(file, &read, &why), -1);
	CHECK(why);
	other.version++;
	rewind(file);
	MUST(event_file_begin(file, &other));
	rewind(file);
	CHECK_EQ(event_file_header(file, &read, &why), -1);
	fclose(file);
}

static void test_events(void)
{
	struct {
		struct event_call call;
		char path[16];
	} with = {.call = call};
	struct event_stack stack = {.event = {.size = sizeof(stack), .kind = EVENT_STACK}};
	struct event_gap gap = {.event = {.size = sizeof(gap), .kind = EVENT_GAP}};
	const char *why = NULL;

	CHECK_EQ(next(&call, 0, &why), 0);
	CHECK_EQ(next(&call, sizeof(call), &why), 1);
	CHECK_EQ(next(&call, 8, &why), -1);
	CHECK_EQ(next(&call, sizeof(call) - 8, &why), -1);
	/* A path that does not end, and one that is longer than its event. */
	with.call.event.size = sizeof(with);
	with.call.path_size = 4;
	memcpy(with.call.path, "abcd", 4);
	CHECK_EQ(next(&with, sizeof(with), &why), -1);
	with.call.path[3] = 0;
	CHECK_EQ(next(&with, sizeof(with), &why), 1);
	with.call.path_size = 24;
	CHECK_EQ(next(&with, sizeof(with), &why), -1);
	/* Frames that are not there. */
	CHECK_EQ(next(&stack, sizeof(stack), &why), 1);
	stack.frames = 1;
	CHECK_EQ(next(&stack, sizeof(stack), &why), -1);
	stack.frames = UINT32_MAX;
	CHECK_EQ(next(&stack, sizeof(stack), &why), -1);
	/* More time than there is. */
	CHECK_EQ(next(&gap, sizeof(gap), &why), 1);
	gap.user = EVENT_MAX_TIME + 1;
	CHECK_EQ(next(&gap, sizeof(gap), &why), -1);
	with.call = call;
	with.call.event.kind = EVENT_KINDS;
	CHECK_EQ(next(&with, sizeof(with), &why), -1);
	with.call.event.kind = 0;
	CHECK_EQ(next(&with, sizeof(with), &why), -1);
	with.call.event.kind = EVENT_CALL;
	with.call.event.size = sizeof(call) + 4;
	CHECK_EQ(next(&with, sizeof(with), &why), -1);
}

static void shows_within(unsigned int width, const char *text, enum show_escape escape,
			 const char *want)
{
	char *got;
	size_t size;
	FILE *to = open_memstream(&got, &size);

	MUST(to);
	show_text(to, text, escape, width);
	fclose(to);
	if (strcmp(got, want))
		fprintf(stderr, "%s is not %s\n", got, want);
	CHECK(!strcmp(got, want));
	free(got);
}

static void shows(const char *text, enum show_escape escape, const char *want)
{
	shows_within(0, text, escape, want);
}

static void test_cut(void)
{
	shows_within(5, "abcde", SHOW_TERMINAL, "abcde");
	shows_within(5, "abcdef", SHOW_TERMINAL, "abc..");
	shows_within(5, "abcd\xc3\x9f", SHOW_TERMINAL, "abcd\xc3\x9f");
	shows_within(5, "ab\x1b\xc3\x9f\xc3\x9f\x1b", SHOW_TERMINAL, "ab?..");
	shows_within(2, "abc", SHOW_TERMINAL, "..");
}

static void test_text(void)
{
	/* Colours, a title, a return, C1's CSI, bytes that are no UTF-8, writing that goes back. */
	shows("a\x1b[31mb", SHOW_TERMINAL, "a?[31mb");
	shows("a\x1b]0;t\x07\rb", SHOW_TERMINAL, "a?]0;t??b");
	shows("a\xc2\x9b"
	      "31mb",
	      SHOW_TERMINAL, "a?31mb");
	shows("a\x9b\xff\xc3", SHOW_TERMINAL, "a???");
	shows("\xe2\x80\xae"
	      "cod.exe",
	      SHOW_TERMINAL, "?cod.exe");
	shows("gr\xc3\xb6\xc3\x9f"
	      "e \xe6\x96\x87",
	      SHOW_TERMINAL,
	      "gr\xc3\xb6\xc3\x9f"
	      "e \xe6\x96\x87");
	shows("\"\\\n</script>", SHOW_JSON, "\\u0022\\u005c\\u000a\\u003c/script\\u003e");
	shows("<b onclick='x'>&\x1b", SHOW_HTML,
	      "&#60;b onclick=&#39;x&#39;&#62;&#38;\xef\xbf\xbd");
	/* Longer forms of short characters, and surrogates. */
	shows("\xc0\xbc"
	      "b\xed\xa0\x80",
	      SHOW_HTML,
	      "\xef\xbf\xbd\xef\xbf\xbd"
	      "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

int main(void)
{
	test_header();
	test_events();
	test_text();
	test_cut();
	return check_result();
}
