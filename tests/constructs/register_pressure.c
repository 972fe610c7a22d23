// SPDX-License-Identifier: MIT
// More values alive at once than BPF has registers.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long a = argc, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11,
	     l = 12;
	long m = 13, n = 14, o = 15, p = 16, q = 17, r = 18, s = 19, t = 20, u = 21, v = 22, w = 23,
	     x = 24;

	(void)argv;
	COSY_START;
	for (int round = 0; round < 50; round++) {
		a += b ^ x;
		b += c * 3;
		c ^= d + a;
		d += e;
		e -= f ^ b;
		f += g;
		g ^= h + c;
		h += i;
		i += j * 5;
		j ^= k;
		k += l + d;
		l -= m;
		m ^= n + e;
		n += o;
		o += p ^ f;
		p -= q;
		q ^= r + g;
		r += s;
		s += t * 7;
		t ^= u + h;
		u += v;
		v -= w ^ i;
		w += x;
		x ^= a + j;
		if (round % 16 == 0)
			a += getpid() > 0;
	}
	COSY_END;
	printf("%ld\n", a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n ^ o ^ p ^ q ^ r ^ s ^
				t ^ u ^ v ^ w ^ x);
	return 0;
}
