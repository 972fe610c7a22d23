# SPDX-License-Identifier: MIT
# Descriptors as a shell hands them about.
n=0
while read -r a b c; do n=$((n + a)); done <small
echo "$n $c"
exec 3<small
read -r -u 3 x
(read -r -u 3 y; echo "$y")
read -r -u 3 z
echo "$x $z"
head -n 2 <&3
read -r -N 17 -u 3 some
echo "$some"
exec 4<&3 3<&-
mapfile -t -n 5 -u 4 lines
printf '%s\n' "${lines[@]}"
tail -c 40 <&4
while read -r line; do
	cat <<-END
		here: $line
	END
done < <(head -n 20 text)
read -r first <<<"a here-string"
echo "$first"
{ read -r one; sed -n 2p; read -r after; echo "$one|$after"; } <text2
for file in many/[1-9]; do read -r -d '' whole <$file; echo "${#whole}"; done
cat > script <<'END'
echo "line 1"
echo "echo appended" >> script
echo "line 3"
END
bash script
printf 'a\nb\n' >in; exec 5<>in; read -r -u 5 l; echo "$l" ; echo c >&5; cat in
coproc tr a-z A-Z; echo "to the coprocess" >&"${COPROC[1]}"; eval "exec ${COPROC[1]}>&-"; cat <&"${COPROC[0]}"
