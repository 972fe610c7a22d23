# SPDX-License-Identifier: MIT
# Positions of perl's own buffers beside the kernel's, seeks, ends, children.
use strict;
open my $f, "<", "small" or die;
my ($b, $n);
while (sysread $f, $b, 1) { $n += ord $b }
print "$n ", sysseek($f, 0, 1), "\n";
sysseek $f, 100, 0;
for (1 .. 50) { sysread $f, $b, 3; print $b }
print `tail -c 30 small`, sysseek($f, 0, 1), "\n";
sysread $f, $b, 9; print "$b\n";
unless (fork) { sysread $f, $b, 7; print "child $b\n"; exit }
wait;
sysread $f, $b, 7; print "parent $b\n";
open my $t, "<", "text" or die;
seek $t, 5000, 0; my $line = <$t>; $line = <$t>;
print $line, tell($t), "\n";
seek $t, -40, 2; print <$t>, eof($t), " ", tell($t), "\n";
open STDIN, "<&", $f or die;
sysread STDIN, $b, 2 for 1 .. 99;
exec "md5sum";
