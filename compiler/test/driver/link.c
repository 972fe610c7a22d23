// Linking adds libcosy, to a program; a library is given its run path, only as needed.
// RUN: %cosycc -### %s 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: %cosycc -### -shared-libcosy %s 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: %cosycc -### -shared -fPIC %s 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: %cosycc -### -static %s 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: %cosycc -### -static -shared-libcosy %s 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: %cosycc -### -nostdlib %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -r %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -m32 %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### 2>&1 | FileCheck %s --check-prefix=NONE
// PROGRAM: "-fpass-plugin={{.*}}CosyPass.so"
// PROGRAM: "-l:libcosy.a"
// PROGRAM-NOT: "-rpath"
// SHARED: "-rpath"{{.*}}"--as-needed" "-lcosy"
// STATIC: "-static"
// STATIC-SAME: "-l:libcosy.a"
// STATIC-NOT: "-rpath"
// NONE-NOT: libcosy.a
int main(void)
{
	return 0;
}
