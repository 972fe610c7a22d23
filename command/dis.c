// SPDX-License-Identifier: MIT
/*
 * dis.c - `cosy dis`: prints the compounds in a file, with the validator's verdict and
 * the source lines they come from.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

#include "../common/say.h"
#include "command.h"
#include "contents.h"
#include "elf.h"
#include "source.h"

#define SECTION	 "cosy_compounds"
#define MAX_FILE (1ul << 30)

static void complain(const char *path, const char *reason)
{
	fflush(stdout);
	say("cosy dis: %s: %s", path, reason);
}

/* --- One compound ------------------------------------------------------------------------ */

static void print_header(const struct cosy_container *container)
{
	const struct cosy_compound *header = container->header;

	printf("compound ");
	if (container->str_size)
		cosy_print_clean(container->strings + header->name,
				 strlen(container->strings + header->name));
	else
		printf("(unnamed)");
	printf(": %u instructions, %u bytes of ctx", container->insn_cnt, header->ctx_size);
	if (header->max_steps)
		printf(", at most %llu steps", (unsigned long long)header->max_steps);
	if (header->max_kernel_ns)
		printf(", at most %llu ns in the kernel",
		       (unsigned long long)header->max_kernel_ns);
	putchar('\n');
}

static void print_line(const struct cosy_container *container, const struct cosy_line *line,
		       struct cosy_source *source)
{
	const char *path = container->strings + line->file, *text;
	size_t len;

	if (!line->line)
		return;
	printf("; ");
	cosy_print_clean(path, strlen(path));
	printf(":%u", line->line);
	text = cosy_source_line(source, path, line->line, &len);
	if (text) {
		printf("  ");
		cosy_print_clean(text, len);
	}
	putchar('\n');
}

static void print_function(const struct cosy_validated *program, u32 at)
{
	const struct cosy_function *function = cosy_function_of(program, at);

	printf("\nfunction %td: instructions %u to %u, %u word%s of spill frame\n",
	       function - program->functions, function->start, function->end - 1,
	       function->frame_words, function->frame_words == 1 ? "" : "s");
}

/* Prints an instruction, marked where jumps land (>) and where RUN may resume (*). */
static u32 print_insn(const struct cosy_container *container, const struct cosy_validated *program,
		      u32 at)
{
	u8 marks = program ? program->marks[at] : 0;
	char text[160];
	u32 slots;

	slots = cosy_disasm(container->insns, container->insn_cnt, at, text, sizeof(text));
	printf("%6u %c%c ", at, marks & COSY_MARK_TARGET ? '>' : ' ',
	       marks & COSY_MARK_RESUME ? '*' : ' ');
	cosy_print_clean(text, strlen(text));
	putchar('\n');
	return slots ? slots : 1;
}

static bool same_place(const struct cosy_line *a, const struct cosy_line *b)
{
	return a == b || (a && b && a->file == b->file && a->line == b->line);
}

static void print_code(const struct cosy_container *container, const struct cosy_validated *program,
		       struct cosy_source *source)
{
	const struct cosy_line *line, *last = NULL;

	for (u32 at = 0; at < container->insn_cnt;) {
		if (program && program->marks[at] & COSY_MARK_FUNCTION)
			print_function(program, at);
		line = cosy_line_find(container, at);
		if (line && !same_place(line, last))
			print_line(container, line, source);
		last = line;
		at += print_insn(container, program, at);
	}
}

/*
 * Prints a compound, up to the first invalid part.  Returns -EINVAL if the module would refuse it.
 */
static int print_compound(const char *path, const void *data, size_t size,
			  struct cosy_source *source)
{
	struct cosy_validated program;
	struct cosy_reject why;
	struct cosy_container container;
	char reason[220];
	int err;

	err = cosy_compound_open(data, size, &container, &why);
	if (err) {
		complain(path, why.reason);
		return err;
	}
	print_header(&container);
	err = cosy_validate(container.insns, container.insn_cnt, &program, &why);
	if (err) {
		snprintf(reason, sizeof(reason), "instruction %d: %s", (int)why.insn, why.reason);
		complain(path, reason);
		print_code(&container, NULL, source);
	} else {
		printf("%u function%s, %u resume point%s\n", program.function_cnt,
		       program.function_cnt == 1 ? "" : "s", program.resume_cnt,
		       program.resume_cnt == 1 ? "" : "s");
		print_code(&container, &program, source);
		cosy_validated_deinit(&program);
	}
	putchar('\n');
	return err;
}

/* --- Compounds back to back ------------------------------------------------------------------ */

/* Skips the zeros with which the linker pads compounds of different object files. */
static size_t skip_padding(const char *data, size_t size, size_t at)
{
	static const char zeros[8];

	while (size - at >= 8 && !memcmp(data + at, zeros, 8))
		at += 8;
	return at;
}

static int print_all(const char *path, const char *data, size_t size, struct cosy_source *source)
{
	size_t at = 0, left;
	int worst = 0, err;

	for (;;) {
		struct cosy_compound header;
		void *copy;

		at = skip_padding(data, size, at);
		left = size - at;
		if (left < 8 && (!left || !data[at]))
			return worst;
		if (left < sizeof(header)) {
			complain(path, "a compound is cut off");
			return -EINVAL;
		}
		memcpy(&header, data + at, sizeof(header));
		if (header.magic != COSY_MAGIC) {
			complain(path, "something other than a compound lies between them");
			return -EINVAL;
		}
		if (header.size < sizeof(header) || header.size > left) {
			complain(path, "a compound is cut off");
			return -EINVAL;
		}
		/* A copy is aligned, wherever the compound lies in the file. */
		copy = malloc(header.size);
		if (!copy) {
			complain(path, strerror(ENOMEM));
			return -ENOMEM;
		}
		memcpy(copy, data + at, header.size);
		err = print_compound(path, copy, header.size, source);
		free(copy);
		if (err)
			worst = err;
		at += (header.size + 7ull) & ~7ull;
		if (at > size)
			at = size;
	}
}

static int print_file(const char *path, const char *data, size_t size)
{
	struct cosy_source *source;
	struct cosy_section section = {.offset = 0, .size = size};
	const char *why;
	u32 magic;
	int err;

	if (cosy_elf_is(data, size)) {
		err = cosy_elf_find(data, size, SECTION, &section, &why);
		if (err == -ENOENT)
			complain(path, "it holds no compounds (no section " SECTION ")");
		else if (err)
			complain(path, why);
		if (err)
			return err;
	} else if (size < sizeof(magic) || memcpy(&magic, data, sizeof(magic)) == NULL ||
		   magic != COSY_MAGIC) {
		complain(path, "neither an ELF file nor a compound");
		return -EINVAL;
	}
	source = cosy_source_create();
	if (!source)
		return -ENOMEM;
	err = print_all(path, data + section.offset, section.size, source);
	cosy_source_destroy(source);
	return err;
}

/* --- The file --------------------------------------------------------------------------------- */

static int dis(const char *path)
{
	const char *why;
	size_t size;
	char *data = contents_read(path, MAX_FILE, &size, &why);
	int err;

	if (!data) {
		complain(path, why);
		return -EINVAL;
	}
	err = print_file(path, data, size);
	free(data);
	return err;
}

int command_dis(int argc, char **argv)
{
	int status = EXIT_FINE;

	if (argc < 2)
		return command_misused("dis", "no file is named");
	for (int i = 1; i < argc; i++)
		if (dis(argv[i]))
			status = EXIT_BAD;
	return status;
}
