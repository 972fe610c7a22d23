# SPDX-License-Identifier: MIT
# awk -f failures.awk LastTestsFailed.log LastTest.log - what each test that failed said
# last, and which of its parts failed, of the files that ctest leaves in Testing/Temporary.
BEGIN { most = 25 }
FILENAME == ARGV[1] { failed[substr($0, index($0, ":") + 1)] = 1; next }
/^[0-9]+\/[0-9]+ Testing: / { name = substr($0, index($0, "Testing: ") + 9); count = told = 0; inside = 0; next }
/^Output:$/ { inside = 1; next }
/^<end of output>$/ {
	inside = 0
	if (!(name in failed))
		next
	print "--- " name ":"
	for (i = 0; i < told && i < most; i++)
		print substr(verdict[i], 1, 500)
	for (i = count > most ? count - most : 0; i < count; i++)
		print substr(line[i % most], 1, 500)
}
inside && /^vm: |FAILED/ { verdict[told++] = $0 }
inside { line[count++ % most] = $0 }
