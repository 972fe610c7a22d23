// SPDX-License-Identifier: MIT
// The standard library's algorithms are user functions like any other.
// expect: compiled
// expect-O0: compiled
#include <algorithm>
#include <array>
#include <cosy/cosy.h>
#include <cstdio>
#include <numeric>
#include <unistd.h>

int main()
{
	std::array<int, 40> A;
	long Sum = 0;
	int Found = -1, Biggest = 0;

	for (size_t I = 0; I < A.size(); ++I)
		A[I] = (I * 7919) % 101;
	COSY_START;
	std::sort(A.begin(), A.end());
	Found = std::lower_bound(A.begin(), A.end(), 50) - A.begin();
	Biggest = *std::max_element(A.begin(), A.end());
	std::reverse(A.begin() + 5, A.begin() + 15);
	Sum = std::accumulate(A.begin(), A.end(), 0L, [](long S, int V) { return S * 3 + V; });
	Sum += getpid() <= 0;
	COSY_END;
	std::printf("%ld %d %d %d\n", Sum, Found, Biggest, A[7]);
}
