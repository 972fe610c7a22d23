#!/bin/sh
# SPDX-License-Identifier: MIT
# prefix.sh SCRATCH BUILD PREFIX SOURCES - in a mount namespace of its own, installs BUILD under PREFIX in a
# layer over /usr and /opt, and builds and runs programs by the cosycc that is there, and by cc and pkg-config.
set -eu
scratch=$1 build=$2 prefix=$3 sources=$4
mount --make-rprivate /
mount -t tmpfs tmpfs "$scratch"
for folder in etc opt usr; do
	mkdir -p "$scratch/$folder" "$scratch/$folder.work" "/$folder"
	mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$scratch/$folder,workdir=$scratch/$folder.work" "/$folder"
done
find /opt /usr -name '*cosy*' | sort >"$scratch/before"
cmake --install "$build" --prefix "$prefix" >/dev/null
cd "$scratch"
PATH=$prefix/bin:$PATH

cosycc -O2 -Wall -Werror "$sources/consumer.c" -o c
echo "c: $(./c | tail -n 1)"

# libstdc++ includes the C library's headers by #include_next.
{
	echo '#include <cstdlib>'
	echo '#include <vector>'
	cat "$sources/consumer.c"
} >consumer.cpp
cosyc++ -O2 consumer.cpp -o c++
echo "c++: $(./c++ | tail -n 1)"

cosycc -O2 -shared-libcosy "$sources/consumer.c" -o shared
echo "shared: $(./shared | tail -n 1)"
echo "runpath: $(readelf -d shared | sed -n 's/.*RUNPATH.*\[\(.*\)\]/\1/p')" | sed 's/ $//'

export PKG_CONFIG_PATH="$(dirname "$(find "$prefix" -name cosy.pc)")"
eval "cc '$sources/consumer.c' -o gcc $(pkg-config --define-variable=prefix="$prefix" --cflags --libs cosy)"
# The dynamic linker finds /usr and /usr/local by itself, once the installation has told it.
case $prefix in
/usr*) ;;
*) export LD_LIBRARY_PATH="$prefix/lib" ;;
esac
echo "gcc: $(./gcc | tail -n 1)"

cd /
"$sources/../../tools/setup/uninstall.sh" "$build/install_manifest.txt"
find /opt /usr -name '*cosy*' | sort | comm -13 "$scratch/before" - | sed 's/^/left: /'
