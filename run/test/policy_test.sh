#!/bin/bash
# SPDX-License-Identifier: MIT
# policy_test.sh COSY STACK_TEST - tests cosy-run.conf(5): which rule counts, what it does, and what
# is said about a wrong file.
set -u
cosy=$1 stack_test=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/dir/deep" "$work/home/.config/cosy"
export HOME=$work/home
unset XDG_CONFIG_HOME
failed=0
for file in file dir/file dir/deep/file 'a file'; do head -c 50000 /dev/urandom >"$work/$file"; done
conf=$work/conf

fail() {
	echo "FAIL: $*"
	cat "$work/err"
	failed=1
}

# run OPTION... FILE: reads FILE by bytes and tells what became of it
run() {
	local file=${!#}
	"$cosy" run "${@:1:$#-1}" --explain "$file" dd if="$file" of=/dev/null bs=1 status=none 2>"$work/err" ||
		fail "dd did not run"
}

# becomes WHAT FILE RULES: fails unless WHAT is in the explanation
becomes() {
	printf '%s\n' "$3" >"$conf"
	run --policy "$conf" "$work/$2"
	grep -q -- "$1" "$work/err" || fail "'$2' with '$3' does not say '$1'"
}

off='not specialised: POLICY'
on='specialised$\|: specialised'
becomes "$on" file ''
becomes "$off" file ': off'
becomes "$off.*; rule $conf:3" file "# a comment

: off   # and another"
becomes "$off" file "file $work/file : off"
becomes "$on" file "file $work/fil : off"
becomes "$on" file "file $work/filee : off"
becomes "$off" file "file $work/* : off"
becomes "$off" file "file $work/f?l* : off"
becomes "$on" dir/file "file $work/* : off"
becomes "$off" dir/file "file $work/*/file : off"
becomes "$on" dir/deep/file "file $work/*/file : off"
becomes "$off" dir/deep/file "file $work/** : off"
becomes "$off" dir/deep/file "file $work/**/f*e : off"
becomes "$on" dir/deep/file "file $work/**/f*x : off"
becomes "$off" dir/deep/file "file **/deep/* : off"
becomes "$off" 'a file' "file \"$work/a file\" : off"
# The first rule that names a setting counts.
becomes "$on.*; rule $conf:1" dir/file "file $work/dir/* : on
file $work/** : off"
becomes "$off.*; rule $conf:1" file "file $work/** : window=8K
: off
: on"
becomes "$off" file 'program dd : off'
becomes "$off" file 'program d* : off'
becomes "$off" file 'program **/dd : off'
becomes "$on" file 'program cat : off'
becomes "$on" file "program cat file $work/file : off"
becomes "$off" file "program dd file $work/file : off"
fs=$(stat -f -c %T "$work")
case $fs in
ext2/ext3) name=ext4 ;;
*) name=$fs ;;
esac
becomes "$off" file "filesystem $name : off"
becomes "$on" file "filesystem squashfs : off"

# Test limits: 4 KiB at a time, and no memory for a second window.
printf ': window=4K\n' >"$conf"
"$cosy" run --stats --policy "$conf" dd if="$work/file" of=/dev/null bs=100 status=none 2>"$work/err"
grep -q ' 1[0-9] fetches of' "$work/err" || fail "window=4K"
printf ': memory=4K\n' >"$conf"
run --policy "$conf" "$work/file"
grep -q 'not specialised: MEMORY' "$work/err" || fail "memory=4K"
# The option counts where no rule says how much.
run --memory=1M --policy "$conf" "$work/file"
grep -q 'not specialised: MEMORY' "$work/err" || fail "memory=4K with --memory=1M"
: >"$conf"
run --memory=4K --policy "$conf" "$work/file"
grep -q 'not specialised: MEMORY' "$work/err" || fail "--memory=4K"
run --memory=64K --policy "$conf" "$work/file"
grep -q "$on" "$work/err" || fail "--memory=64K"
"$cosy" run --memory=64X true 2>"$work/err" && fail "--memory=64X"
grep -q 'memory=64X: at character 3: a size' "$work/err" || fail "--memory=64X"
"$cosy" run --memory=1K true 2>"$work/err" && fail "--memory=1K"
grep -q 'between 4K' "$work/err" || fail "--memory=1K"

# Read files without naming them; the user's rules come first.
printf ': off\n' >"$work/home/.config/cosy/run.conf"
run "$work/file"
grep -q "$off.*; rule $HOME/.config/cosy/run.conf:1" "$work/err" || fail "the user's own rules"
printf ': on\n' >"$conf"
run --policy "$conf" "$work/file"
grep -q "$on" "$work/err" || fail "--policy in place of the user's own rules"
XDG_CONFIG_HOME=$work/none run "$work/file"
grep -q "$on" "$work/err" || fail "XDG_CONFIG_HOME"
rm "$work/home/.config/cosy/run.conf"

# Where rules could be that this user may not see there are none.
XDG_CONFIG_HOME=/$(printf '%300s' | tr ' ' x) run "$work/file"
grep -q "$on" "$work/err" || fail "XDG_CONFIG_HOME that is too long"
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 "$work" "$work/home" && chmod 700 "$work/home/.config"
if [ "$(id -u)" = 0 ] && $nobody test -x "$cosy"; then
	$nobody "$cosy" run true 2>"$work/err" || fail "a .config of another user"
else
	echo "not run: a .config of another user: it takes root, setpriv(1), and $cosy for everybody"
fi

# Rules take little stack, also where they look at paths, and long ones.
long=$work/$(printf '%0250d' 0)
mkdir "$long" && cp "$work/file" "$long/file"
printf '%s\n' 'program /usr/nothing file **/nothing : off' 'file **/nothing : off' 'program /usr/** : relax=none' \
	": window=64K" "file $long/* : off" >"$conf"
for file in "$work/file" "$long/file"; do
	"$cosy" run --no-daemon --policy "$conf" --explain "$file" "$stack_test" alone "$file" >"$work/out" 2>"$work/err" ||
		fail "a small stack, $(tail -1 "$work/err")"
done
grep -q "$off" "$work/err" || fail "a long path is not matched"

# relaxes NUMBER FILE RULES OPTION...: fails unless so many opens of FILE are relaxed
relaxes() {
	printf '%s\n' "$3" >"$conf"
	"$cosy" run --stats --policy "$conf" "${@:4}" -- perl -e \
		'open F, ">", $ARGV[0]; syswrite F, "x"; close F; sysopen F, $ARGV[0], 513; syswrite F, "abc"; close F' \
		"$work/$2" 2>"$work/err"
	[ "$(cat "$work/$2")" = abc ] || fail "'$2' is not abc"
	[ "$(grep -o 'trunc [0-9]*' "$work/err" | sed 's/.* //')" = "$1" ] ||
		fail "'$2' with '$3' ${*:4}: not $1 relaxed"
}
if command -v perl >/dev/null; then
	relaxes '' file ''
	relaxes 2 file '' --relax=trunc
	relaxes 2 file ': relax=trunc'
	relaxes 2 file "file $work/file : relax=coalesce,trunc"
	relaxes '' file "file $work/dir/* : relax=trunc"
	relaxes '' file ': relax=none' --relax=trunc
	relaxes '' file ': relax=coalesce' --relax=trunc
	relaxes '' file ': off' --relax=trunc
fi

# An overlay truncates what is in its upper directory without breaking leases.
cat >"$work/overlay" <<'END'
cd "$1" && mkdir lower 'upper, here' inner merged || exit 1
mount -t overlay none -o 'lowerdir=lower,upperdir=upper\, here,workdir=inner' merged 2>err || exit 77
head -c 50000 /dev/zero >merged/file
"$2" run --explain "$1/upper, here/file" dd if="upper, here/file" of=/dev/null bs=1 status=none 2>err
umount merged
mount -t overlay none -o "lowerdir=lower,upperdir=$1/upper\\, here,workdir=inner" merged 2>>err || exit 1
"$2" run --explain "$1/upper, here/file" dd if="upper, here/file" of=/dev/null bs=1 status=none 2>>err
umount merged
"$2" run --explain "$1/upper, here/file" dd if="upper, here/file" of=/dev/null bs=1 status=none 2>>err
END
mkdir "$work/overlays"
unshare -m sh "$work/overlay" "$work/overlays" "$cosy" 2>"$work/err"
case $? in
0)
	cp "$work/overlays/err" "$work/err"
	[ "$(grep -c "$off.*; rule an overlay's upper directory" "$work/err")" = 2 ] || fail "an overlay's upper directory"
	grep -q ': specialised' "$work/err" || fail "the same directory without an overlay"
	;;
*) echo "no overlays: $(cat "$work/err" "$work/overlays/err" 2>/dev/null)" ;;
esac

# preloads NUMBER RULES COMMAND OPTION...: fails unless a child has so many mappings of it
preloads() {
	printf '%s\n' "$2" >"$conf"
	got=$("$cosy" run --policy "$conf" "${@:4}" sh -c "$3")
	[ "${got:-0}" "$1" 0 ] || fail "'$2' ${*:4}: $3: $got mappings"
}
count='grep -c libcosy-run'
preloads -gt '' "$count /proc/self/maps; true"
preloads -eq '' "$count /proc/self/maps; true" --alone
preloads -eq '' "$count /proc/self/maps; true" '--alone=cat,gr*'
preloads -gt '' "$count /proc/self/maps; true" --alone=cat
preloads -gt '' "$count /proc/\$\$/maps; true" --alone
preloads -eq ': alone' "$count /proc/self/maps; true"
preloads -eq 'program grep : alone' "$count /proc/self/maps; true"
preloads -gt 'program g : alone' "$count /proc/self/maps; true"
preloads -eq 'program **/bin/grep : alone' "$(command -v grep) -c libcosy-run /proc/self/maps; true"
preloads -gt "program grep : preloaded
: alone" "$count /proc/self/maps; true"
# A program that is left alone starts others alone; other libraries stay.
preloads -eq '' "env $count /proc/self/maps; true" --alone=env
printf '\n' >"$conf"
got=$(LD_PRELOAD=libm.so.6 "$cosy" run --policy "$conf" --alone sh -c 'env; true' | grep '^LD_PRELOAD')
[ "$got" = LD_PRELOAD=libm.so.6 ] || fail "--alone with another library preloaded: $got"
# libc may stand before the library: its functions are found there, too.
LD_PRELOAD=libc.so.6 "$cosy" run --policy "$conf" --alone sh -c 'env' >"$work/out" || fail "libc preloaded"
"$cosy" run --alone=a,,b true 2>"$work/err" && fail "an empty pattern is taken"
grep -q 'alone:1:3: .*missing' "$work/err" || fail "an empty pattern"

# wrong PLACE REASON LINE...: fails unless a file of these lines is refused so
wrong() {
	printf '%s\n' "${@:3}" >"$conf"
	if "$cosy" run --policy "$conf" true 2>"$work/err"; then
		fail "'${*:3}' is taken"
	fi
	grep -q "^cosy run: $conf:$1: .*$2" "$work/err" || fail "'${*:3}' does not say $1: $2"
}
wrong 1:1 'none of program, file and filesystem' 'files /x : off'
wrong 1:11 'whole process' 'file /x : alone'
wrong 1:10 '":" and settings' 'file /abc'
wrong 2:6 'is missing' '# fine' 'file : off'
wrong 1:6 'begins with' 'file etc : off'
wrong 1:12 'no file system is called "nfs"' 'filesystem nfs : off'
wrong 1:2 'a setting is missing' ':'
wrong 1:3 'none of on, off' ': of'
wrong 1:6 'none of on, off' ': on perhaps'
wrong 1:15 'relax= takes' ': relax=trunc,trunk'
wrong 1:12 'a size is a number' ': window=64X'
wrong 1:10 'between 4K' ': window=4'
wrong 1:10 'between 4K' ': window=99999999999999999999999'
wrong 1:10 'between 4K' ': window=9999999999999G'
wrong 1:10 'whole process' 'file * : memory=1M'
wrong 1:6 'quote is not closed' 'file "/x : off'
wrong 1:2 'control character' "$(printf ':\001')"
"$cosy" run --policy "$work/none" true 2>"$work/err" && fail "a policy that is not there"
grep -q "none: No such file" "$work/err" || fail "a policy that is not there"
exit $failed
