# Interposes libc's functions one after the other before the program $1, which prints the functions
# that come to call it natively.  The regions of these have to stay native.
set -e
for name in openat read write lseek epoll_wait send recv sendmsg pwrite getdents64 fstatat; do
	library=$1.$name.so
	cosycc -O2 -fPIC -shared -DNAME=$name "$2" -o "$library"
	LD_PRELOAD=$library COSY_MODE=native "$1" | sort >"$1.called"
	LD_PRELOAD=$library COSY_MODE=interp COSY_DEBUG=1 "$1" 2>&1 >"$1.out" |
		sed -n "s/.*\.c:[0-9]* \([a-z_]*\) stays native: $name() is .*/\1/p" | sort >"$1.native"
	echo "$name called:" $(cat "$1.called")
	echo "$name native:" $(cat "$1.native")
	comm -23 "$1.called" "$1.native" | sed "s/$/ calls $name() only where it is native/"
done
