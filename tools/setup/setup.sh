#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh [--only] [LIST...]: installs the missing packages of packages.txt (not with --only) and of
# the further lists beside it, with apt: as root or through sudo.  If neither is possible, reports
# them.  Quick and silent if nothing is missing.
set -eu
cd "$(dirname "$0")"

command -v apt-get >/dev/null || {
	echo "setup: this is no Debian; what is needed is in tools/setup/packages.txt" >&2
	exit 1
}

if [ "${1-}" = --only ]; then
	shift
else
	set -- "$@"
fi
# A package is also there when an installed one provides it.
missing=$(
	dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
		awk 'NR == FNR { if ($1 == "installed")
				for (i = 2; i <= NF; i++) { sub(/,$/, "", $i); have[$i] = 1 }
			       next }
		     { sub(/#.*/, "") }
		     NF && !($1 in have) { printf " %s", $1 }' - packages.txt "$@"
)
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
	as_root=sudo
else
	echo "setup: not root and no sudo; please have these packages installed:$missing" >&2
	exit 1
fi

echo "setup: installing$missing"
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}
# Shows apt's progress from its status lines: dlstatus:NUMBER:PER CENT:TEXT, then pmstatus:PACKAGE:...
progress() {
	awk -F: '$1 == "dlstatus" || $1 == "pmstatus" {
			printf "\rsetup: %s %3d %%", ($1 == "dlstatus" ? "fetching  " : "installing"), $3; said = 1; fflush() }
		 $0 == "failed" { failed = 1 }
		 END { if (said) print ""; exit failed }'
}
apt update
# shellcheck disable=SC2086
set -- install -y --no-install-recommends $missing
if [ -t 1 ]; then
	{ apt -o APT::Status-Fd=1 "$@" || echo failed; } | progress
else
	apt "$@" >/dev/null
fi
