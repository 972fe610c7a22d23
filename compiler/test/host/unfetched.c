// A region says how many times what its loops lose by the estimate they lose in a kernel where
// loads of nearby bytes do not share a fetch: the second byte of struct cosy_premises' flags.
// RUN: %cosycc -O2 -S -emit-llvm %s -o - | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

static unsigned char bytes[4096];

// CHECK: @cosy.premises = private constant {{.*}} { i32 256,
long calls(long count)
{
	long made = 0;

	COSY_START;
	for (long i = 0; i < count; i++)
		made += getppid() > 0;
	COSY_END;
	return made;
}

// At least twice as much.
// CHECK: @cosy.premises.{{[0-9]+}} = private constant {{.*}} { i32 {{51[2-9]|5[2-9][0-9]|[6-9][0-9][0-9]|[1-9][0-9][0-9][0-9]}},
unsigned long hashes(int fd)
{
	unsigned long hash = 5381;
	long got;

	COSY_START;
	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		for (long i = 0; i < got; i++)
			hash = (hash ^ bytes[i]) * 0x100000001b3;
	COSY_END;
	return hash;
}
