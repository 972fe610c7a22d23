// SPDX-License-Identifier: MIT
// C++: classes, references, templates, lambdas, operators, overloads.
// expect: compiled
#include <array>
#include <cosy/cosy.h>
#include <cstdio>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace
{
class Counter
{
	long Value = 0;
	int Step;

      public:
	explicit Counter(int Step) : Step(Step) {}
	Counter &operator+=(long N)
	{
		Value += N * Step;
		return *this;
	}
	long value() const
	{
		return Value;
	}
};

template <typename T, int N> struct Ring {
	std::array<T, N> Data{};
	int At = 0;
	void push(T V)
	{
		Data[At] = V;
		At = (At + 1) % N;
	}
	template <typename F> long fold(F Fn) const
	{
		long R = 0;
		for (T V : Data)
			R = Fn(R, V);
		return R;
	}
};

struct Base {
	virtual ~Base() = default;
	virtual int kind() const
	{
		return 1;
	}
};
struct Derived final : Base {
	int kind() const override
	{
		return 2;
	}
};
} // namespace

int main()
{
	Counter Total(3);
	long Folded = 0;
	std::pair<int, long> P{1, 2};
	size_t Length = 0;
	Derived D;
	int Kind = 0;

	COSY_START;
	Ring<short, 5> R;
	auto Twice = [&Total](int N) { return Total.value() + 2 * N; };

	for (int I = 0; I < 12; ++I) {
		Total += I + (getpid() > 0);
		R.push(Twice(I));
	}
	Folded = R.fold([](long A, short V) { return A * 7 + V; });
	auto &[First, Second] = P;
	First += 10;
	std::swap(Folded, Second);
	std::string_view View("from a view");
	Length = View.substr(5).size();
	Kind = D.kind();
	COSY_END;
	std::printf("%ld %ld %d %ld %zu %d\n", Total.value(), Folded, P.first, P.second, Length,
		    Kind);
}
