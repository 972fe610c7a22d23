// SPDX-License-Identifier: MIT
// The address of a function is the host's, though its body is not for compounds.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static void say(int x)
{
	printf("say %d\n", x);
}

int main(void)
{
	void (*f)(int) = NULL;
	int same = 0;

	COSY_START;
	if (getpid() > 0)
		f = say;
	same = f == say;
	COSY_END;
	f(same);
	return 0;
}
