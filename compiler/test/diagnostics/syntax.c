// A missing mark is a syntax error, a jump into a region one of clang's.
// RUN: not %cosycc -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=INTO
// RUN: not %cosycc -DMISSING -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=MISSING
#include <cosy/cosy.h>

#ifdef MISSING
void missing(void)
{
	COSY_START;
}
// MISSING: error: expected '}'
#else
void into(int n)
{
	if (n)
		goto inside;
	// INTO: syntax.c:[[@LINE-1]]:3: error: cannot jump from this goto statement
	COSY_START;
inside:
	n++;
	COSY_END;
}
#endif
