// What linking adds: libcosy, its run path, only as needed.
// RUN: %cosycc -### %s 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: %cosycc -### -static %s 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: %cosycc -### -nostdlib %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -r %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -m32 %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### 2>&1 | FileCheck %s --check-prefix=NONE
// SHARED: "-fpass-plugin={{.*}}CosyPass.so"
// SHARED: "-rpath"{{.*}}"--as-needed" "-lcosy"
// STATIC: "-static"
// STATIC-SAME: "-lcosy"
// STATIC-NOT: "-rpath"
// NONE-NOT: "-lcosy"
int main(void)
{
	return 0;
}
