// SPDX-License-Identifier: MIT
/*
 * build_load.c - a builder's compound, loaded: apart, because programs that only build do not load.
 */
#include <stdlib.h>

#include <cosy/builder.h>

int cosy_build(struct cosy *cosy, struct cosy_builder *b, struct cosy_loaded **ret,
	       struct cosy_error *error)
{
	void *compound;
	size_t len;
	int err = cosy_compile(b, &compound, &len, error);

	if (err)
		return err;
	err = cosy_load(cosy, compound, len, ret, error);
	free(compound);
	return err;
}
