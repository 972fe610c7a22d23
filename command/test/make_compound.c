// SPDX-License-Identifier: MIT
/* make_compound.c - writes a compound for `cosy dis` to show: make_compound NAME SOURCE */
#include <stdio.h>
#include <stdlib.h>

#include <cosy/builder.h>

int main(int argc, char **argv)
{
	struct cosy_builder *b = cosy_builder_create(argc > 1 ? argv[1] : "");
	struct cosy_error error;
	int i, f;
	size_t len;
	void *bytes;

	if (argc != 3 || !b)
		return 2;
	i = cosy_var(b);
	f = cosy_function(b, 1);
	cosy_at(b, argv[2], 3);
	cosy_return(b, cosy_ref(cosy_param(b, 0)));
	cosy_end(b);
	cosy_at(b, argv[2], 1);
	cosy_limit_steps(b, 500);
	cosy_for(b, i, cosy_int(0), COSY_LT, cosy_int(10), 1);
	cosy_at(b, argv[2], 2);
	cosy_getpid(b, COSY_NO_VAR);
	cosy_invoke(b, COSY_NO_VAR, f, 1, (struct cosy_value[]){cosy_ref(i)});
	cosy_end(b);
	if (cosy_compile(b, &bytes, &len, &error)) {
		fprintf(stderr, "statement %u: %s\n", error.statement, error.reason);
		return 1;
	}
	fwrite(bytes, 1, len, stdout);
	free(bytes);
	cosy_builder_destroy(b);
	return fflush(stdout) != 0;
}
