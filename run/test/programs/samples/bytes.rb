# SPDX-License-Identifier: MIT
f = File.open("small", "rb")
n = 0
while (b = f.sysread(1) rescue nil) do n += b.ord end
puts n, f.sysseek(0, IO::SEEK_CUR)
f.sysseek(500)
100.times { n += f.sysread(5).sum }
pid = fork { f.sysread(10); exit! 3 }
Process.wait pid
puts n, $?.exitstatus, f.sysread(10), f.pread(10, 77)
puts IO.readlines("text").size, `tail -n 1 text`
puts 3.times.map { Thread.new { File.binread("large").sum } }.map(&:value).inspect
