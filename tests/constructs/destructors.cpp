// SPDX-License-Identifier: MIT
// Destructors inside the region run on every way out of it; exceptions pass by
// and are caught outside.
// expect: compiled
// guest: static
#include <cosy/cosy.h>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

static int Closed;

struct File {
	int Fd;
	explicit File(const char *Path) : Fd(open(Path, O_RDONLY)) {}
	~File()
	{
		if (Fd >= 0 && close(Fd) == 0)
			++Closed;
	}
};

static int run(int N)
{
	COSY_START;
	File A("/dev/null");
	for (int I = 0; I < 4; ++I) {
		File B("/dev/zero");
		char C[8];
		if (read(B.Fd, C, 8) != 8 || C[3])
			return -1;
		if (I == N)
			return I;
		if (N == 9)
			break;
	}
	COSY_END;
	if (N > 5)
		throw std::runtime_error("outside");
	return 100;
}

int main()
{
	for (int N : {0, 2, 5, 6, 9}) {
		try {
			int R = run(N);
			std::printf("%d ", R);
		} catch (const std::exception &E) {
			std::printf("%s ", E.what());
		}
	}
	std::printf("%d\n", Closed);
}
