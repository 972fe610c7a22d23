// SPDX-License-Identifier: MIT
// A local that only the region names, but a pointer to it outlives the region.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int use(const char *p)
{
	char noise[200];

	memset(noise, 'z', sizeof(noise));
	return p[0] + noise[3];
}

int main(void)
{
	char text[16], *kept = NULL;
	struct {
		char *p;
	} holder;

	COSY_START;
	strcpy(text, "still here");
	kept = text + (getpid() > 0);
	holder.p = kept;
	COSY_END;
	COSY_START;
	char other[64];
	memset(other, 'y', sizeof(other));
	holder.p += read(-1, other, 5) + 1;
	COSY_END;
	printf("%d %s %s\n", use(kept), kept, holder.p);
	return 0;
}
