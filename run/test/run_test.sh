#!/bin/sh
# SPDX-License-Identifier: MIT
# run_test.sh COSY - tests `cosy run` itself: statuses, words, options, what it leaves alone.
set -u
cosy=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
head -c 5000 /dev/zero >"$work/file"

# is WHAT GOT WANT: fails unless GOT is WANT
is() {
	[ "$2" = "$3" ] && return
	echo "FAIL: $1: $2, not $3"
	failed=1
}

# says WHAT PATTERN: fails unless the last command's standard error has the pattern
says() {
	grep -q "$2" "$work/err" && return
	echo "FAIL: $1 does not say: $2"
	cat "$work/err"
	failed=1
}

status() {
	"$cosy" run "$@" >"$work/out" 2>"$work/err"
	echo $?
}

is "no program" "$(status)" 2
is "--help" "$(status --help)" 0
# Each option has its line, and no line is wider than a terminal.
for option in stats explain memory alone policy no-daemon relax help; do
	grep -q "^  --$option\b" "$work/out" || is "--help about --$option" nothing "a line"
done
is "lines of --help over 80 columns" "$(grep -c '.\{81\}' "$work/out")" 0
is "an unknown option" "$(status --what true)" 2
is "a kind that cannot be relaxed" "$(status --relax=trunc,trunk true)" 2
says "a kind that cannot be relaxed" "at character 7"
is "no kind" "$(status --relax= true)" 2
is "a program that is not there" "$(status no-such-program-here)" 127
is "a file that is no program" "$(status "$work/file")" 126
mkdir -p "$work/first/true"
is "a directory of that name" "$(PATH="$work/first:$PATH" status true)" 0
is "an exit status" "$(status sh -c 'exit 7')" 7
is "options of the program" "$(status sh -c 'exit $#' x --stats --explain)" 2
is "death by a signal" "$(status sh -c 'kill -KILL $$')" 137

is "a process identity" "$(sh -c 'echo $$; exec "$0" run sh -c "echo \$\$"' "$cosy" | uniq | wc -l)" 1
is "an other preload" "$(LD_PRELOAD=libc.so.6 "$cosy" run sh -c 'echo "${LD_PRELOAD%%:*}"')" libc.so.6

# A program that takes the variables out of an environment does not find them there again.
is "variables taken out" "$("$cosy" run --relax=trunc -- env -u COSY_RUN_RELAX -u COSY_RUN_POLICY env |
	grep -c COSY_READ_'[RP]')" 0
is "variables taken out twice" "$("$cosy" run --relax=trunc -- env -u COSY_RUN_RELAX -u COSY_RUN_POLICY \
	sh -c 'env; sh -c env' | grep -c COSY_READ_'[RP]')" 0
is "variables left there" "$(COSYD_SOCKET=/none "$cosy" run --relax=trunc -- env -u COSY_RUN_POLICY env |
	grep -c -e ^COSYD_SOCKET= -e ^COSY_RUN_RELAX=)" 2

# It says in clear words what it leaves alone, and runs that.
cp /bin/true "$work/setuid" && chmod u+s "$work/setuid"
is "a set-user-ID program" "$(status "$work/setuid")" 0
says "a set-user-ID program" "set-user-ID"
printf '#!/bin/sh\nexit 5\n' >"$work/script" && chmod +x "$work/script"
is "a script" "$(status "$work/script")" 5
# The one line is execve's error.
for interpreter in none file/none round; do
	ln -sf round "$work/round"
	printf '#!%s\n' "$work/$interpreter" >"$work/script"
	status "$work/script" >"$work/status"
	is "lines about a script of $interpreter" "$(wc -l <"$work/err")" 1
	says "a script of $interpreter" "^cosy run: $work/script: "
	[ "$interpreter" != none ] || is "a script of no file" "$(cat "$work/status")" 127
done
echo 'exit $1' >"$work/plain" && chmod +x "$work/plain"
is "a script that names no interpreter" "$(status "$work/plain" 7)" 7
mkfifo "$work/fifo"
is "a FIFO" "$(timeout -s KILL 600 "$cosy" run "$work/fifo" 2>"$work/err"; echo $?)" 126
says "a FIFO" "Permission denied"
if printf 'int main(void){return 6;}' | ${CC:-cc} -static -x c - -o "$work/static" 2>/dev/null; then
	is "a static program" "$(status "$work/static")" 6
	says "a static program" "linked statically"
	printf '#!%s\n' "$work/static" >"$work/script" && printf '#! %s x\n' "$work/script" >"$work/plain"
	is "a script of a script of a static program" "$(status "$work/plain")" 6
	says "a script of a script of a static program" "/plain is run by $work/static, which is linked statically: it runs as it is"
fi
# glibc's dynamic linker may be anywhere, and have another name.
linker=$(realpath "$(ldd /bin/true | grep -o '/[^ ]*ld-linux[^ ]*')")
deep=$work/store/0123456789abcdefghijklmnopqrstuvwxyz-glibc-2.36/lib
mkdir -p "$deep" && ln -s "$linker" "$deep/ld-linux-x86-64.so.2" && ln -s "$linker" "$work/ld.so"
for linker in "$deep/ld-linux-x86-64.so.2" "$work/ld.so"; do
	printf '%s\n' '#include <fcntl.h>' '#include <unistd.h>' 'int main(int n, char **args)' \
		'{ int fd = open(args[1], O_RDONLY); char c; while (read(fd, &c, 1) > 0) n++; return n == 5002 ? 8 : 9; }' |
		${CC:-cc} -w -Wl,--dynamic-linker="$linker" -x c - -o "$work/linked"
	is "a dynamic linker elsewhere" "$(status --stats "$work/linked" "$work/file")" 8
	says "a dynamic linker elsewhere" "1 specialised"
done

# gcc's sanitizers are libraries that want to see the calls: nothing is specialised, and they do.
printf '%s\n' '#include <fcntl.h>' '#include <stdlib.h>' '#include <unistd.h>' \
	'int main(int count, char **args) { char *four = malloc(4); int fd = open(args[1], O_RDONLY);' \
	'for (int i = 0; i < 99; i++) if (read(fd, four, 1) != 1) return 8;' \
	'return count > 2 && read(fd, four, count + 2) == 5 ? 9 : 7; }' >"$work/sanitized.c"
if ${CC:-cc} -w -fsanitize=address "$work/sanitized.c" -o "$work/sanitized" 2>/dev/null; then
	export ASAN_OPTIONS=detect_leaks=0
	is "a sanitized program" "$(status --stats "$work/sanitized" "$work/file")" 7
	says "a sanitized program" "LIBC_NEXT 1"
	is "a sanitized child" "$(status sh -c '"$0" "$1"; exit $?' "$work/sanitized" "$work/file")" 7
	is "a sanitized program that is wrong" "$(status "$work/sanitized" "$work/file" more)" 1
	says "a sanitized program that is wrong" "heap-buffer-overflow"
	unset ASAN_OPTIONS
else
	echo "not run: a sanitized program: ${CC:-cc} -fsanitize=address makes none"
fi

# What ended windows for good is named.
printf '%s\n' '#include <fcntl.h>' '#include <sys/prctl.h>' '#include <unistd.h>' \
	'int main(int count, char **args) { char byte; int fd; prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);' \
	'fd = open(args[count - 1], O_RDONLY); while (read(fd, &byte, 1) == 1); return 0; }' >"$work/confined.c"
if ${CC:-cc} -w "$work/confined.c" -o "$work/confined" 2>/dev/null; then
	is "a confined program" "$(status --stats "$work/confined" "$work/file")" 0
	says "a confined program" "^cosy: nothing was served: UNCONFINED does not hold"
	is "a confined program" "$(status --explain "$work/file" "$work/confined" "$work/file")" 0
	says "a confined program" "not specialised: UNCONFINED"
fi

# libc's functions are found however a program is started.
linker=$(readelf -lW /bin/cat | sed -n 's/.*interpreter: \(.*\)]/\1/p')
[ -z "$linker" ] || is "a program started by its linker" "$(status "$linker" "$(command -v head)" -c 3 "$work/file")" 0
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$work/root"
	library=$("$cosy" run sh -c 'echo "$LD_PRELOAD"')
	for file in /bin/dd $(ldd /bin/dd | grep -o '/[^ ]*') "$library"; do
		mkdir -p "$work/root${file%/*}" && cp "$file" "$work/root$file"
	done
	cp "$work/file" "$work/root"
	is "a root directory without /proc" "$(LD_PRELOAD=$library COSY_RUN_STATS=9 \
		chroot "$work/root" /bin/dd if=/file of=/copy bs=1 status=none 9>"$work/err"; echo $?)" 0
	says "a root directory without /proc" "1 specialised"
	is "a root directory without /proc" "$(cmp "$work/file" "$work/root/copy")" ""
fi

# --explain names the guard.
is "--explain" "$(status --explain "$work/file" dd if="$work/file" of=/dev/null bs=1 status=none)" 0
says "--explain" "specialised"
is "--explain" "$(status --explain "$work/file" dd if="$work/file" of=/dev/null bs=100k status=none)" 0
says "--explain" "EARNED"
exec 9>>"$work/file"
is "--explain" "$(status --explain "$work/file" dd if="$work/file" of=/dev/null bs=1 status=none)" 0
says "--explain" "READ_ONLY"
exec 9>&-
# Its lines do not go to what has the number of standard error by then.
is "--explain" "$(status --explain "$work/file" sh -c 'exec 2>"$1"; dd if="$0" of=/dev/null bs=1 status=none' \
	"$work/file" "$work/own")" 0
says "--explain" "specialised"
is "a file that the program opened as its standard error" "$(cat "$work/own")" ""
# A program may close what `cosy run` has kept, or have a file of its own there; its standard error
# may be another file besides.
if command -v bash >/dev/null; then
	for option in "--explain=$work/file" --stats; do
		for redirected in '1000>&-' '1000>$1' '2>$1' '1000>&- 2>$1' '1000>$1 2>&1000'; do
			: >"$work/own"
			is "$option $redirected" "$(status "$option" bash -c \
				"exec $redirected; exec 9<\$0; exec 9<&-" "$work/file" "$work/own")" 0
			case $redirected in
			1000*2*) is "$option $redirected" "$(cat "$work/err")" "" ;;
			*) says "$option $redirected" "^cosy: " ;;
			esac
			is "a file of the program's own, $redirected" "$(cat "$work/own")" ""
		done
	done
else
	echo "no bash: descriptors of two digits are not closed"
fi
is "--explain of no file" "$(status --explain "$work/none" true)" 2
is "--stats" "$(status --stats dd if="$work/file" of=/dev/null bs=1 status=none)" 0
says "--stats" "1 specialised; reads: 49"
says "--stats" "estimated [0-9]* us "
# Where nothing is served --stats says so, and why: also of a program that opens nothing, but once.
is "--stats of no file" "$(status --stats true)" 0
says "--stats of no file" "^cosy: nothing was served: no file was opened"
is "--stats of two programs" "$(status --stats sh -c 'true; /bin/true; exit 0')" 0
is "--stats of two programs" "$(grep -c "nothing was served" "$work/err")" 1
is "--stats of large reads" "$(status --stats dd if="$work/file" of=/dev/null bs=100k status=none)" 0
says "--stats of large reads" "^cosy: nothing was served: too few reads.*(EARNED)"
cat >"$work/both.pl" <<'END'
open(F, "+<", $ARGV[0]) && sysread(F, $b, 1) while $n++ < 99
END
if command -v perl >/dev/null; then
	is "--stats of files opened for both" "$(status --stats perl "$work/both.pl" "$work/file")" 0
	says "--stats of files opened for both" "99 files were opened for reading and writing.*(READ_ONLY)"
	is "--explain of a file opened for both" "$(status --explain "$work/file" perl "$work/both.pl" "$work/file")" 0
	says "--explain of a file opened for both" "opened for writing, not specialised: READ_ONLY"
else
	echo "no perl: files opened for both are not tried"
fi
# Nor is --explain silent.
is "--explain of a file that is not opened" "$(status --explain "$work/file" true)" 0
says "--explain of a file that is not opened" "true ([0-9]*) has not opened it"
is "--explain of a directory" "$(status --explain "$work" true)" 0
says "--explain of a directory" "is no regular file"
is "--relax=none" "$(status --relax=none sh -c 'exit ${COSY_RUN_RELAX:+1}')" 0
exec 9>>"$work/file"
is "--stats of a file that is written" "$(status --stats dd if="$work/file" of=/dev/null bs=1 status=none)" 0
says "--stats of a file that is written" "^cosy: nothing was served: READ_ONLY does not hold"
exec 9>&-
# No writer may wait for a thread that waits for a processor.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -p "$work/bin" "$work/lib/cosy" && cp "$cosy" "$work/bin/cosy" && cp "$library" "$work/lib/cosy/"
	chmod 755 "$work" "$work/bin" "$work/lib" "$work/lib/cosy"
	cp "$work/file" "$work/other" && chown 65534 "$work/other"
	nobody="nice -n $((0 - $(nice))) setpriv --reuid=65534 --regid=65534 --clear-groups"
	$nobody "$work/bin/cosy" run --explain "$work/other" dd if="$work/other" of=/dev/null bs=1 status=none 2>"$work/err"
	says "a program of ordinary priority" ": specialised"
	$nobody nice -n 5 "$work/bin/cosy" run --no-daemon --explain "$work/other" dd if="$work/other" of=/dev/null bs=1 status=none 2>"$work/err"
	says "a program of lower priority" "LEASE_THREAD"
	nice -n 5 "$cosy" run --explain "$work/file" dd if="$work/file" of=/dev/null bs=1 status=none 2>"$work/err"
	says "a lower priority that may be taken back" ": specialised"
else
	echo "no other users: not run by root, or there is no setpriv(1)"
fi
# Without a standard error its number is the first file's.
"$cosy" run --stats sh -c 'exec 2>"$1"; echo data >&2' x "$work/second" 2>&-
is "--stats without standard error" "$(cat "$work/second")" data
exit $failed
