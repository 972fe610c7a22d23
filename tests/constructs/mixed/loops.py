# SPDX-License-Identifier: MIT
"""Loops over bytes, numbers and records by pointers and indexes, whose loads and stores the compiler joins."""

from __future__ import annotations

from calls import Calls


class Loops(Calls):
    """Each function writes a loop of its own kind."""

    def scan(self) -> None:
        forms = [self.scan_text, self.change_text, self.copy_bytes, self.compare_texts]
        forms += [self.scan_numbers, self.shift_numbers, self.scan_block, self.scan_records]
        outer = self.open("")
        forms[self.turn(len(forms))]()
        self.close(outer)

    def step(self) -> str:
        """What a loop does to its sum `h` with a value `c`."""
        return self.rng.choice(
            ["h = h * 31 + c", "h += c", "h ^= c << (c & 7)", "h += c == 'a'", "h = h > c ? h : c", "h = mix(h, c)"]
        )

    def scan_text(self) -> None:
        r = self.rng
        text, _ = self.text()
        self.line(f"const char *p = {text};")
        self.line(f"u64 h = {r.randrange(9)};")
        if self.chance(40):
            skipped = r.choice(["isspace((u8)*p)", "*p == ' ' || *p == '-'", "*p && *p != '='"])
            self.line(f"while ({skipped})")
            self.line("\tp++;")
        end = r.choice(["*p", "*p && *p != ','", "*p >= ' '", "(c = *p) != 0", "isalnum((u8)*p)"])
        self.line("u8 c = 0;")
        self.line(f"for (; {end}; p++) {{")
        self.line("\tc = *p;")
        if self.chance(40):
            letter = r.choice("a x")
            self.line(f"\tif (c == '{letter}')")
            self.line(f"\t\t{r.choice(['continue', 'break', 'h += 7'])};")
        self.line(f"\t{self.step()};")
        self.line("}")
        self.into("h + *p")

    def change_text(self) -> None:
        r = self.rng
        if not self.scope.buffers:
            return
        name, size = r.choice(self.scope.buffers)
        if self.chance(60):
            change = r.choice(
                ["*p = toupper((u8)*p)", "*p ^= 1", "if (*p == 'a') *p = 'b'", "*p = *p == ' ' ? '_' : *p"]
            )
            self.line(f"for (char *p = {name}; *p; p++)")
            self.line(f"\t{change};")
        else:  # the other way around
            self.line(f"char *p = {name}, *q = {name} + strlen({name});")
            self.line("while (p < q) {")
            self.line("\tchar c = *p;")
            self.line("")
            self.line("\t*p++ = *--q;")
            self.line("\t*q = c;")
            self.line("}")
        self.into(f"hash_bytes({name}, {size})")

    def copy_bytes(self) -> None:
        r = self.rng
        if not self.scope.buffers:
            return
        name, size = r.choice(self.scope.buffers)
        text, bytes_ = self.text(name)
        kind = r.randrange(3)
        if kind == 0:
            self.line(f"char *d = {name}, *end = {name} + {size - 1};")
            self.line(f"const char *s = {text};")
            self.line("while (d < end && (*d++ = *s++))")
            self.line("\t;")
        elif kind == 1:
            self.line(f"u32 count = {self.below(min(size, bytes_))};")
            self.line("for (u32 i = 0; i < count; i++)")
            self.line(f"\t{name}[i] = ({text})[i]{r.choice(['', ' + 1', ' ^ i'])};")
        else:  # within one buffer, at a small distance
            distance = r.randrange(1, min(9, size))
            self.line(f"for (u32 i = {distance}; i < {size}; i++)")
            self.line(f"\t{name}[i] = {name}[i - {distance}]{r.choice(['', ' + 1', ' ^ (char)i'])};")
        self.line(f"{name}[{size - 1}] = 0;")
        self.into(f"hash_bytes({name}, {size})")

    def compare_texts(self) -> None:
        r = self.rng
        (text, _), (other, _) = self.text(), self.text()
        self.line(f"const char *p = {text}, *q = {other};")
        same = r.choice(["*p == *q", "tolower((u8)*p) == tolower((u8)*q)", "(*p | 32) == (*q | 32)"])
        self.line(f"while (*p && *q && {same})")
        self.line("\tp++, q++;")
        self.into("(u8)*p * 256 + (u8)*q")

    def scan_numbers(self) -> None:
        r, s = self.rng, self.scope
        if not s.arrays:
            return
        name, count = r.choice(s.arrays)
        self.line(f"i64 h = {r.randrange(9)};")
        head = r.choice(
            [
                f"for (u32 i = 0; i < {count}; i++)",
                f"for (u32 i = {count}; i-- > 0;)",
                f"for (u32 i = 0; i < {count}; i += 2)",
            ]
        )
        self.line(f"{head} {{")
        self.line(f"\ti64 c = {name}[i];")
        self.line("")
        if self.chance(50):
            self.line(f"\tif (c {r.choice(['> 100', '== 3', '< 0'])})")
            self.line(f"\t\t{r.choice(['break', 'continue', 'h ^= i'])};")
        step = r.choice(["h = mix(h, c)", "h = c < h ? c : h", "h += c & 0xffff", f"h ^= c, {name}[i] = (i32)h"])
        self.line(f"\t{step};")
        self.line("}")
        self.into("h")

    def shift_numbers(self) -> None:
        """Each store is what a later round loads."""
        r, s = self.rng, self.scope
        if not s.arrays:
            return
        name, count = r.choice(s.arrays)
        distance = r.randrange(1, count)
        change = r.choice(["", " ^ (i32)i", " / 3", " & 0xff"])
        if self.chance(50):
            self.line(f"for (u32 i = {distance}; i < {count}; i++)")
            self.line(f"\t{name}[i] = {name}[i - {distance}]{change};")
        else:
            self.line(f"for (u32 i = 0; i + {distance} < {count}; i++)")
            self.line(f"\t{name}[i] = {name}[i + {distance}]{change};")
        self.into(f"hash_bytes({name}, {count * 4})")

    def scan_block(self) -> None:
        r, s = self.rng, self.scope
        if not s.blocks:
            return
        name = r.choice(s.blocks)
        distance = r.choice([1, 2, 3, 7, 8, 16])
        self.line("u64 h = 1;")
        self.line(f"if ({name})")
        if self.chance(50):
            self.line(f"for (const u8 *p = {name}, *end = {name} + {name}_n; p < end; p++) {{")
            self.line("\tu8 c = *p;")
        else:
            self.line(f"for (u32 i = {distance}; i < {name}_n; i++) {{")
            if self.chance(60):
                self.line(f"\t{name}[i] += {name}[i - {distance}];")
            self.line(f"\tu8 c = {name}[i];")
        self.line("")
        self.line(f"\t{self.step()};")
        if self.chance(30):
            self.line(f"\tif (c == {r.randrange(256)})")
            self.line("\t\tbreak;")
        self.line("}")
        self.into("h")

    def scan_records(self) -> None:
        r = self.rng
        count = r.randrange(2, 12)
        self.line(f'struct record list[{count}] = {{{{.key = 3, .name = "x"}}}}, *found = NULL;')
        self.line(f"for (u32 i = 1; i < {count}; i++) {{")
        self.line(f"\tlist[i] = list[i - {r.choice(['1', '(i & 1)', 'i'])}];")
        self.line(f"\tlist[i].key = (list[i].key * 5 + i) & {r.choice([7, 63, 1023])};")
        self.line("\tlist[i].high = list[i].key;")
        self.line("}")
        self.line(f"for (struct record *p = list; p < list + {count}; p++) {{")
        self.line(f"\tif (p->key {r.choice(['>', '==', '<'])} {self.leaf()} && !found)")
        self.line("\t\tfound = p;")
        self.line(f"\tp->value += {r.choice(['p->key', 'p->high * 2', 'p - list', 'p->low'])};")
        self.line("}")
        self.into("found ? found - list : 77")
        self.into(f"hash_record(&list[{r.randrange(count)}])")

    def transfer_numbers(self) -> None:
        """Reads and writes numbers, whole arrays, and members of structs."""
        r, s = self.rng, self.scope
        if not s.files:
            return
        fd = r.choice(s.files)
        targets = [(name, f"{r.randrange(1, count + 1) * 4}") for name, count in s.arrays]
        targets += [(f"&{record}.value", "8") for record in s.records] + [
            (f"&{record}.key", "4") for record in s.records
        ]
        if not targets:
            return
        at, size = r.choice(targets)
        call = r.choice(
            ["read({0}, {1}, {2})", "pread({0}, {1}, {2}, 8)", "write({0}, {1}, {2})", "pwrite({0}, {1}, {2}, 4)"]
        )
        self.result(call.format(fd, at, size))

    def keep_errno(self) -> None:
        """What a call that succeeds leaves there."""
        r = self.rng
        if self.chance(40):
            self.line(f"errno = {r.randrange(1, 99)};")
        else:
            self.into("errno")
