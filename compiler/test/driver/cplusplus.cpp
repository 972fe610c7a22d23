// cosyc++ and .cpp files work: a region in a class template's member.
// REQUIRES: links
// RUN: %cosyc++ -O2 -Rcosy %s -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %t | FileCheck %s
// RUN: env COSY_MODE=interp %t | FileCheck %s
// REMARK: remark: region compiled
// CHECK: 30 4
#include <cosy/cosy.h>
#include <iostream>
#include <unistd.h>

template <typename T> struct Sum {
  T Value{};
  void add(T Count) {
    COSY_START;
    for (T I = 0; I < Count; ++I)
      Value += getpid() > 0;
    COSY_END;
  }
};

int main() {
  Sum<long> L;
  Sum<short> S;
  L.add(30);
  S.add(4);
  std::cout << L.Value << " " << S.Value << std::endl;
}
