// SPDX-License-Identifier: MIT
const fs = require("fs"), crypto = require("crypto"), child = require("child_process");
const fd = fs.openSync("small", "r"), byte = Buffer.alloc(1);
let n = 0;
while (fs.readSync(fd, byte, 0, 1, null)) n += byte[0];
console.log(n, fs.readSync(fd, byte, 0, 1, 77), byte[0]);
console.log(child.execFileSync("tail", ["-n", "1", "text"]).toString());
const hash = crypto.createHash("sha1");
fs.createReadStream("large", { highWaterMark: 511 }).on("data", d => hash.update(d))
  .on("end", () => console.log(hash.digest("hex"), JSON.parse(fs.readFileSync("values.json")).length));
