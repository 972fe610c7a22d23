// A program without regions needs no libcosy at run time.
// REQUIRES: links
// RUN: %cosycc %s -o %t && llvm-readelf -d %t | FileCheck %s
// CHECK-NOT: libcosy
int main(void)
{
	return 0;
}
