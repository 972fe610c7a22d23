// SPDX-License-Identifier: MIT
// Floating-point values that are only moved: copied, chosen, passed, returned.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

struct sample {
	double value;
	float weight;
	int id;
};

static struct sample pick(struct sample a, struct sample b, int first)
{
	return first ? a : b;
}

int main(int argc, char **argv)
{
	struct sample s[6] = {{1.5, 2.5f, 1}, {-0.0, 3.25f, 2}, {9.75, -1.0f, 3}};
	double d[4] = {1.0, 2.0, 3.0, 4.0}, kept = 0;
	float f = argc * 0.5f;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 3; i++) {
		s[5 - i] = s[i];
		s[i].value = d[i + 1];
		s[i].weight = f;
	}
	s[0] = pick(s[4], s[5], argc > 1);
	kept = getpid() > 0 ? s[3].value : d[0];
	d[0] = 7.5;
	COSY_END;
	for (int i = 0; i < 6; i++)
		printf("%g %g %d, ", s[i].value, s[i].weight, s[i].id);
	printf("%g %g\n", kept, d[0]);
	return 0;
}
