// RUN: %cosyc++ -fcosy-suggest=suggest.cpp:13 %s -Rcosy -c -o %t.o 2>&1 | FileCheck %s
// CHECK: suggest.cpp:13:{{.*}}remark: region compiled
// RUN: not %cosyc++ -fcosy-suggest=suggest.cpp:21 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=TEMPLATE %s
// TEMPLATE: error: -fcosy-suggest=suggest.cpp:21: the loop is in a template
// RUN: not %cosyc++ -fcosy-suggest=suggest.cpp:33 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=AGAIN %s
// AGAIN: error: -fcosy-suggest=suggest.cpp:33: the function has a marked region already
#include <unistd.h>
namespace files {
struct Counter {
  long total(int Fd) {
    char Byte;
    long All = 0;
    while (read(Fd, &Byte, 1) == 1)
      ++All;
    return All;
  }
};
template <typename T> T total(int Fd) {
  char Byte;
  T All = 0;
  while (read(Fd, &Byte, 1) == 1)
    ++All;
  return All;
}
} // namespace files
long both(int Fd) { return files::Counter().total(Fd) + files::total<long>(Fd); }

#include <cosy/cosy.h>
long marked(int Fd) {
  char Byte;
  long All = 0;
  COSY_START;
  while (read(Fd, &Byte, 1) == 1)
    ++All;
  COSY_END;
  return All;
}
