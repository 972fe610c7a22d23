// SPDX-License-Identifier: MIT
/*
 * gen_table.c - prints calls.json: each system call and operation that a compound may make, or why
 * it may not, for bindings to other languages and for tools.
 *
 *	abi		"x86-64": the numbers of `calls` are this machine's
 *	calls		number, name, arguments, specialised; denied (the reason) instead of the latter two
 *	operations	number (as a compound has it), name, arguments, calls that it makes
 *	functions	libc's function, the call or operation that cosycc takes it for, arguments
 *
 * `arguments` has a letter each: i s32 and u u32, d a descriptor, l 64 bits, p memory that is
 * written, r that is read, s a path, P memory that holds addresses, 0 nothing: that argument is
 * always 0.  Functions have neither d nor s.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/cosy.h>

static bool later; /* whether a row comes before this one */

static void begin_rows(const char *name)
{
	printf(",\n  \"%s\": [", name);
	later = false;
}

static void begin_row(void)
{
	printf("%s\n    {", later ? "," : "");
	later = true;
}

/* Prints text in quotes.  The table's text is printable ASCII. */
static void print_text(const char *key, const char *text)
{
	printf("\"%s\": \"", key);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('"');
}

static void print_call(unsigned int number, const char *name, const char *arguments,
		       bool specialised)
{
	begin_row();
	printf("\"number\": %u, ", number);
	print_text("name", name);
	printf(", ");
	print_text("arguments", arguments);
	printf(", \"specialised\": %s}", specialised ? "true" : "false");
}

static void print_denied(unsigned int number, const char *name, const char *reason)
{
	begin_row();
	printf("\"number\": %u, ", number);
	print_text("name", name);
	printf(", ");
	print_text("denied", reason);
	putchar('}');
}

static void print_operation(unsigned int number, const char *name, const char *arguments,
			    const char *const calls[], unsigned int count)
{
	begin_row();
	printf("\"number\": %u, ", COSY_OP_BASE + number);
	print_text("name", name);
	printf(", ");
	print_text("arguments", arguments);
	printf(", \"calls\": [");
	for (unsigned int i = 0, printed = 0; i < count; i++) {
		unsigned int before = 0;

		while (strcmp(calls[before], calls[i]))
			before++;
		if (before == i)
			printf("%s\"%s\"", printed++ ? ", " : "", calls[i]);
	}
	printf("]}");
}

static void print_function(const char *name, const char *call, const char *arguments)
{
	begin_row();
	print_text("name", name);
	printf(", ");
	print_text("call", call);
	printf(", ");
	print_text("arguments", arguments);
	putchar('}');
}

int main(void)
{
	printf("{\n  \"abi\": \"x86-64\"");
	begin_rows("calls");
#define COSY_CALL(number, name, args, flags)		 print_call(number, #name, args, false);
#define COSY_FAST_CALL(number, name, args, flags, views) print_call(number, #name, args, true);
#define COSY_THUNK_CALL(number, name, args, flags)	 print_call(number, #name, args, true);
#define COSY_DENY(number, name, why)			 print_denied(number, #name, why);
#include "../../core/ops.def"
	printf("\n  ]");
	begin_rows("operations");
#define TEXT_OF(call)			   #call
#define COSY_OP(number, name, args, flags) print_operation(number, #name, args, NULL, 0);
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	print_operation(number, #name, args,                                                       \
			(const char *const[]){COSY_COMPOSITE_EACH(TEXT_OF, __VA_ARGS__)}, 4);
#include "../../core/ops.def"
	printf("\n  ]");
	begin_rows("functions");
#define COSY_WRAP(function, call, args)		print_function(#function, #call, args);
#define COSY_WRAP_OP(function, operation, args) print_function(#function, #operation, args);
#include "../../core/ops.def"
	printf("\n  ]\n}\n");
	return ferror(stdout) || fflush(stdout);
}
