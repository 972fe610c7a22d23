// SPDX-License-Identifier: MIT
/* Builds a compound by hand, with nothing but the installed headers and library. */
#include <cosy/builder.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	struct cosy_builder *b = cosy_builder_create("installed");
	int64_t words[2] = {0, 0};
	struct cosy_loaded *loaded;
	struct cosy_error error;
	struct cosy *cosy;
	int i, pid;

	if (cosy_init(&cosy) || !b)
		return 1;
	i = cosy_var(b);
	pid = cosy_var(b);
	cosy_for(b, i, cosy_int(0), COSY_LT, cosy_int(10), 1);
	cosy_getpid(b, pid);
	cosy_end(b);
	if (cosy_build(cosy, b, &loaded, &error)) {
		fprintf(stderr, "statement %u: %s\n", error.statement, error.reason);
		return 1;
	}
	if (cosy_run(cosy, loaded, words, sizeof(words), NULL, &error))
		return 2;
	printf("%ld loops, process %s\n", (long)words[0], words[1] == getpid() ? "right" : "wrong");
	cosy_unload(loaded);
	cosy_builder_destroy(b);
	cosy_free(cosy);
	return 0;
}
