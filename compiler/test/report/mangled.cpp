// C++'s functions have the names of the source in messages.
// RUN: %cosyc++ -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

namespace log {
void note(int value);
struct Sink {
  int take(long value);
};
} // namespace log

// CHECK: the region ends before the call of 'log::note(int)'
long sum(int fd, int n, log::Sink &sink) {
  long s = 0;
  COSY_START;
  for (int i = 0; i < n; i++) {
    char c;
    if (read(fd, &c, 1) != 1)
      break;
    if (c == 'n')
      log::note(i);
    s += c;
  }
  COSY_END;
  return s;
}

// CHECK: 'log::Sink::take(long)'
long all(int n, log::Sink &sink) {
  long s = 0;
  COSY_START;
  for (int i = 0; i < n; i++)
    s += sink.take(getppid());
  COSY_END;
  return s;
}
// CHECK-NOT: _ZN
