// SPDX-License-Identifier: MIT
// A region that throws ends before, and what it throws is caught around it.
// expect: compiled
// guest: static
#include <cosy/cosy.h>
#include <cstdio>
#include <unistd.h>

static int run(int N)
{
	try {
		COSY_START;
		if (getpid() > 0 && N > 2)
			throw N * 2;
		N += 10;
		COSY_END;
	} catch (int Caught) {
		return -Caught;
	}
	return N;
}

int main()
{
	std::printf("%d %d\n", run(1), run(5));
}
