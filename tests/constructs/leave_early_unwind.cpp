// SPDX-License-Identifier: MIT
// Output on ways out of a region whose locals have destructors.
// expect: compiled
#include <cosy/cosy.h>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

static int Closed;

struct Handle {
	int FD;
	explicit Handle(const char *Name) : FD(open(Name, O_RDONLY)) {}
	~Handle()
	{
		if (FD >= 0 && !close(FD))
			Closed++;
	}
};

static int run(const char *Name, int Turns)
{
	int Bytes = 0;
	COSY_START;
	for (int I = 0; I < Turns; I++) {
		Handle File(I == 7 ? "/nonexistent" : Name);
		char Buffer[16];
		if (File.FD < 0) {
			std::puts("cannot open");
			return -Bytes;
		}
		ssize_t Got = read(File.FD, Buffer, sizeof(Buffer));
		if (Got < 0) {
			Handle Other("/dev/null");
			std::printf("cannot read, %d\n", Other.FD >= 0);
			break;
		}
		Bytes += static_cast<int>(Got);
	}
	COSY_END;
	return Bytes;
}

int main()
{
	std::printf("%d\n", run("/proc/self/exe", 5));
	std::printf("%d\n", run("/proc/self/exe", 20));
	std::printf("%d\n", run("/", 20));
	std::printf("%d closed\n", Closed);
}
