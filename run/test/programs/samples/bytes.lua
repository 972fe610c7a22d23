-- SPDX-License-Identifier: MIT
local f = assert(io.open("small", "rb"))
f:setvbuf("no")
local n = 0
for c in function() return f:read(1) end do n = n + c:byte() end
print(n, f:seek())
f:seek("set", 1000)
print(f:read("l"), f:read("n"), f:seek("cur", 10), f:seek("end"))
for line in io.lines("text") do n = n + #line end
print(n, io.popen("head -c 20 text"):read("a"))
