// SPDX-License-Identifier: MIT
/*
 * gen_calls.c - prints <cosy/calls.h>: for each call and operation that a
 * compound may make, the builder's function of that name.  With an argument it
 * prints <cosy/operations.h>: the numbers of the operations.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <linux/cosy.h>

static void print(unsigned int number, const char *name, const char *args)
{
	unsigned int count = strlen(args);

	printf("static inline void cosy_%s(struct cosy_builder *b, int dst", name);
	for (unsigned int i = 0; i < count; i++)
		printf(",\n\t\tstruct cosy_value arg%u", i);
	printf(")\n{\n");
	if (!count) {
		printf("\tcosy_call(b, dst, %uu, 0, NULL);\n}\n\n", number);
		return;
	}
	printf("\tconst struct cosy_value args[] = {");
	for (unsigned int i = 0; i < count; i++)
		printf("%s arg%u", i ? "," : "", i);
	printf(" };\n\n\tcosy_call(b, dst, %uu, %u, args);\n}\n\n", number, count);
}

static void print_number(unsigned int number, const char *name)
{
	printf("#define COSY_OPERATION_");
	for (; *name; name++)
		putchar(toupper((unsigned char)*name));
	printf(" 0x%xu\n", number);
}

static void print_operations(void)
{
	printf("/* SPDX-License-Identifier: MIT */\n"
	       "/*\n * operations.h - generated from core/ops.def: the numbers of the operations "
	       "that a"
	       " compound may call,\n * beside those of system calls (SYS_* of <sys/syscall.h>).\n "
	       "*/\n"
	       "#ifndef COSY_OPERATIONS_H\n#define COSY_OPERATIONS_H\n\n");
#define COSY_CALL(number, name, args, flags)
#define COSY_OP(number, name, args, flags) print_number(COSY_OP_BASE + (number), #name);
#include "../../core/ops.def"
	printf("\n#endif /* COSY_OPERATIONS_H */\n");
}

static void print_calls(void)
{
	printf("/* SPDX-License-Identifier: MIT */\n"
	       "/* calls.h - generated from core/ops.def; included by <cosy/builder.h>. */\n"
	       "/* Included first, it includes that header, which includes this one again. */\n"
	       "#ifndef COSY_BUILDER_H\n#include <cosy/builder.h>\n"
	       "#elif !defined(COSY_CALLS_H)\n#define COSY_CALLS_H\n\n");
#define COSY_CALL(number, name, args, flags) print(number, #name, args);
#define COSY_OP(number, name, args, flags)   print(COSY_OP_BASE + (number), #name, args);
#include "../../core/ops.def"
	printf("#endif /* COSY_CALLS_H */\n");
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		print_operations();
	else
		print_calls();
	return ferror(stdout) || fflush(stdout);
}
