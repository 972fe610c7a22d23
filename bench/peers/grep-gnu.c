// SPDX-License-Identifier: MIT
/* Does grep.h by grep itself. */
#include "grep.h"

#include "command.h"

#define OUTPUT "../grep-output"

/* Returns the sum of the counts that grep printed. */
static long output_sum(void)
{
	FILE *output = fopen(OUTPUT, "r");
	long count, sum = 0;

	while (output && fscanf(output, "%ld", &count) == 1)
		sum += count;
	if (output)
		fclose(output);
	return sum;
}

static long grep_files(long count)
{
	static char names[COMMAND_WORDS][11];
	static char *argv[COMMAND_WORDS + 4] = {"grep", "-cF", TEXT};

	for (long i = 0; i < count && i < COMMAND_WORDS; i++) {
		grep_name(names[i], i);
		argv[i + 3] = names[i];
	}
	argv[count + 3] = NULL;
	if (grep_checked) {
		argv[1] = "-hcF";
		command_run(argv, OUTPUT);
		argv[1] = "-cF";
		return output_sum();
	}
	command_timed(argv, (char *[]){"grep", "--version", NULL}, OUTPUT);
	return 0;
}
