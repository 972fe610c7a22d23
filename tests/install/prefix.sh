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

# docs/use/building.md: assembler output for gcc, preprocessed text, as distcc sends it.
cosycc -O2 -S -fno-integrated-as "$sources/consumer.c" -o assembler.s
cc assembler.s -o by-assembler -L"$(dirname "$(find "$prefix" -name libcosy.a)")" -l:libcosy.a
cosycc -O2 -E "$sources/consumer.c" -o preprocessed.i
cosycc -O2 preprocessed.i -o by-preprocessor
for program in by-assembler by-preprocessor; do
	echo "$program: $("./$program" | tail -n 1), $(cosy dis "$program" | grep -c '^compound') compounds"
done

# Projects of other people's, each with a program that has a region and one that calls libcosy.
cmake -S "$sources/cmake" -B by-cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build by-cmake >/dev/null
# A compiler by any other name, and a launcher that the project had before.
cmake -S "$sources/cmake" -B by-launcher -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER_LAUNCHER=env >/dev/null
cmake --build by-launcher --target marked >/dev/null
for folder in by-cmake by-launcher; do
	echo "$folder: $("$folder/marked" | tail -n 1), $(cosy dis "$folder/marked" | grep -c '^compound') compounds"
done
echo "by-cmake, plain: $(by-cmake/plain)"
if [ "$prefix" = /usr/local ]; then
	CC=cosycc meson setup by-meson "$sources/meson" >/dev/null
	meson compile -C by-meson >/dev/null
	cp -r "$sources/autotools" "$sources/consumer.c" "$sources/builder.c" .
	mkdir by-autotools
	cd autotools
	cp ../consumer.c ../builder.c .
	autoreconf --install >/dev/null 2>&1
	cd ../by-autotools
	../autotools/configure CC=cosycc CFLAGS=-O2 >/dev/null
	make -s >/dev/null
	cd ..
	for folder in by-meson by-autotools; do
		echo "$folder: $("$folder/marked" | tail -n 1), $(cosy dis "$folder/marked" | grep -c '^compound') compounds"
		echo "$folder, plain: $("$folder/plain")"
	done
fi

cd /
"$sources/../../tools/setup/uninstall.sh" "$build/install_manifest.txt"
find /opt /usr -name '*cosy*' | sort | comm -13 "$scratch/before" - | sed 's/^/left: /'
