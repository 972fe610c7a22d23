# SPDX-License-Identifier: MIT
"""Statements that call libc: files, directories, texts, formats, the heap, sorting."""

from __future__ import annotations

from writer import FOLDERS, NAMES, WORDS, Writer


class Calls(Writer):
    """Each function writes one statement, or a few that belong together."""

    # --- Files ---------------------------------------------------------------

    def open_file(self) -> None:
        r, s = self.rng, self.scope
        if not s.files:
            return
        fd = r.choice(s.files)
        flags = r.choice(
            ["O_RDONLY", "O_RDONLY", "O_RDWR", "O_RDWR | O_CREAT", "O_WRONLY | O_CREAT | O_TRUNC", "O_RDWR | O_APPEND"]
            + ["O_WRONLY | O_CREAT | O_EXCL", "O_RDONLY | O_NOFOLLOW", "O_RDONLY | O_DIRECTORY", "O_RDWR | O_CLOEXEC"]
        )
        self.line(f"if ({fd} >= 0)")
        self.line(f"\tclose({fd});")
        path = self.path()
        kind = r.randrange(6)
        if kind <= 2:
            self.line(f"{fd} = open({path}, {flags}, 0{r.choice(['644', '600', '755'])});")
        elif kind <= 4:
            self.line(f"{fd} = openat({r.choice(['AT_FDCWD', 'folder_fd'])}, {path}, {flags}, 0640);")
        else:
            self.line(f"{fd} = creat({path}, 0644);")
        self.into(f"{fd} < 0 ? errno : 1")

    def close_file(self) -> None:
        if self.scope.files:
            fd = self.rng.choice(self.scope.files)
            self.success(f"close({fd})")
            self.line(f"{fd} = -1;")

    def read_file(self) -> None:
        r, s = self.rng, self.scope
        if not s.files or not s.buffers:
            return
        fd, (name, size) = r.choice(s.files), r.choice(s.buffers)
        kind = self.turn(8)
        if kind <= 2:
            self.result(f"read({fd}, {name}, {self.below(size)})")
        elif kind <= 4:
            self.result(f"pread({fd}, {name}, {self.below(size)}, {self.below(90)})")
        elif kind == 5:
            other, most = r.choice(s.buffers)
            if other != name:
                parts = f"{{{name}, {r.randrange(size)}}}, {{{other}, {r.randrange(most)}}}"
                self.line(f"r = readv({fd}, (struct iovec[]){{{parts}}}, 2);")
                self.into("r < 0 ? errno * 3 : r")
                self.line(f"{other}[{most - 1}] = 0;")
        elif kind == 6 and self.loops < 2:
            rounds = self.name("k")
            outer = self.open(f"for (u32 {rounds} = 0; {rounds} < 40; {rounds}++)")
            self.line(f"r = read({fd}, {name}, {r.randrange(1, size)});")
            self.line("if (r <= 0)")
            self.line("\tbreak;")
            self.line(f"{name}[{size - 1}] = 0;")
            self.loops += 1
            self.into(f"hash_bytes({name}, r)" if self.chance(60) else f"{name}[0] + r")
            if self.chance(50):
                self.statement(0)
            self.loops -= 1
            self.close(outer)
        elif s.blocks:
            block = r.choice(s.blocks)
            self.line(f"r = {block} ? read({fd}, {block}, {block}_n) : 0;")
            self.into("r < 0 ? errno * 3 : r")
        self.line(f"{name}[{size - 1}] = 0;")

    def write_file(self) -> None:
        r, s = self.rng, self.scope
        if not s.files:
            return
        fd = r.choice(s.files)
        text, size = self.text()
        kind = self.turn(6)
        if kind <= 2:
            count = f"strlen({text})" if self.chance(50) else r.randrange(size)
            self.result(f"write({fd}, {text}, {count})")
        elif kind == 3:
            self.result(f"pwrite({fd}, {text}, {r.randrange(size)}, {self.below(300)})")
        elif kind == 4:
            other, most = self.text()
            parts = f"{{(char *){text}, {r.randrange(size)}}}, {{(char *){other}, {r.randrange(most)}}}"
            self.result(f"writev({fd}, (struct iovec[]){{{parts}}}, 2)")
        elif s.blocks:
            block = r.choice(s.blocks)
            self.result(f"{block} ? write({fd}, {block}, {block}_n % 300) : -7")

    def examine_file(self) -> None:
        r, s = self.rng, self.scope
        kind = self.turn(11)
        path = self.path()
        if kind <= 4:
            fd = r.choice([*s.files, "-1", "folder_fd"])
            links, at = r.choice(["0", "AT_SYMLINK_NOFOLLOW"]), r.choice(["AT_FDCWD", "folder_fd"])
            calls = [f"stat({path}, &st)", f"lstat({path}, &st)", f"fstat({fd}, &st)"]
            call = r.choice([*calls, f"fstatat({at}, {path}, &st, {links})"])
            self.line(f"r = {call};")
            size = "S_ISREG(st.st_mode) ? st.st_size * 8 + st.st_nlink : 0"
            self.into(f"r < 0 ? (u64)errno : mix(st.st_mode, {size})")
        elif kind == 5:
            self.success(f"access({path}, {r.choice(['F_OK', 'R_OK', 'W_OK | R_OK', 'X_OK'])})")
        elif kind == 6:
            self.success(f"faccessat(folder_fd, {path}, F_OK, 0)")
        elif kind == 7 and s.buffers:
            name, size = r.choice(s.buffers)
            at = "" if self.chance(60) else "folder_fd, "
            call = "readlinkat" if at else "readlink"
            self.result(f"{call}({at}{path}, {name}, {r.randrange(1, size)})")
            self.line(f"{name}[{size - 1}] = 0;")
        elif kind == 8 and s.files:
            fd = r.choice(s.files)
            whence = r.choice(["SEEK_SET", "SEEK_CUR", "SEEK_END"])
            self.result(f"lseek({fd}, (i64)({self.below(200)}) - {r.choice([0, 0, 5, 50])}, {whence})")
        elif s.files:
            fd = r.choice(s.files)
            self.result(r.choice([f"fcntl({fd}, F_GETFD)", f"fcntl({fd}, F_GETFL) & O_ACCMODE", f"isatty({fd})"]))

    def change_names(self) -> None:
        r, s = self.rng, self.scope
        path, other = self.path(), self.path()
        mode = r.choice(["0755", "0700", "0644", "0711"])
        calls = [
            f"unlink({path})",
            f"unlinkat(folder_fd, {path}, {r.choice(['0', 'AT_REMOVEDIR'])})",
            f"remove({path})",
            f"mkdir({path}, {mode})",
            f"mkdirat(folder_fd, {path}, {mode})",
            f"rmdir({path})",
            f"rename({path}, {other})",
            f"renameat(folder_fd, {path}, AT_FDCWD, {other})",
            f"link({path}, {other})",
            f'symlink("{r.choice(NAMES)}", {other})',
            f"chmod({path}, {mode})",
            f"truncate({path}, {self.below(700)})",
        ]
        if s.files:
            fd = r.choice(s.files)
            calls += [f"ftruncate({fd}, {self.below(700)})", f"fchmod({fd}, {mode})"]
        self.success(calls[self.turn(len(calls))])

    # --- Directories ---------------------------------------------------------

    def folder(self) -> str:
        return f'"{self.rng.choice(FOLDERS)}"' if self.chance(80) else self.path()

    def list_folder(self) -> None:
        """Whole and in any order, because that is the file system's."""
        r = self.rng
        outer = self.open("")
        dir_, entry, sum_ = self.name("dir"), self.name("entry"), self.name("sum")
        if self.chance(70):
            self.line(f"DIR *{dir_} = opendir({self.folder()});")
        else:
            fd = self.name("fd")
            self.line(f"int {fd} = open({self.folder()}, O_RDONLY | O_DIRECTORY);")
            self.line(f"DIR *{dir_} = fdopendir({fd});")
        self.line(f"struct {'dirent64' if self.chance(20) else 'dirent'} *{entry};")
        call = "readdir64" if "dirent64" in self.lines[-1] else "readdir"
        self.line(f"u64 {sum_} = {r.randrange(100)};")
        self.line(f"i64 place_{dir_} = 0;")
        self.line(f"if (!{dir_})")
        self.into("errno + 9")
        inner = self.open("else")
        self.scope.fixed.append(sum_)
        for again in range(r.choice([1, 1, 1, 2])):
            if again:
                self.line(f"rewinddir({dir_});")
            if self.chance(20):
                self.seek_folder(dir_, entry, call)
            loop = self.open(f"while (({entry} = {call}({dir_})))")
            self.loops += 1
            self.scope.read_only.append(f"{entry}->d_name")
            self.visit_entry(entry, sum_)
            self.loops -= 1
            self.close(loop)
        if self.chance(30):
            self.line(f"{sum_} += dirfd({dir_}) >= 0;")
        self.result(f"closedir({dir_})")
        self.close(inner)
        self.into(sum_)
        self.close(outer)

    def visit_entry(self, entry: str, sum_: str) -> None:
        r = self.rng
        if self.chance(50):
            self.line(f"if ({entry}->d_name[0] == '.')")
            self.line("\tcontinue;")
        for _ in range(r.randrange(1, 4)):
            kind = r.randrange(6)
            if kind == 0:
                self.line(f"{sum_} += {entry}->d_type * strlen({entry}->d_name);")
            elif kind == 1 and self.scope.buffers:
                name, size = max(self.scope.buffers, key=lambda b: b[1])
                form = r.choice(["%s", "sub/%s", "%.3s/x", "%-9s|"])
                self.line(f'{sum_} += snprintf({name}, {size}, "{form}", {entry}->d_name);')
                self.line(f"{sum_} += hash_bytes({name}, strlen({name})) & 0xffff;")
            elif kind == 2:
                self.line(f"if (fstatat(folder_fd, {entry}->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)")
                self.line(f"\t{sum_} += st.st_mode;")
            elif kind == 3:
                self.line(f"{sum_} += sign(strcmp({entry}->d_name, {self.text()[0]}));")
            else:
                self.line(f"{sum_} += hash_bytes({entry}->d_name, strlen({entry}->d_name)) * {r.randrange(1, 9)};")

    def seek_folder(self, dir_: str, entry: str, call: str) -> None:
        """Reads an entry again."""
        self.line(f"{entry} = {call}({dir_});")
        self.line(f"place_{dir_} = telldir({dir_});")
        self.line(f"if ({entry} && ({entry} = {call}({dir_}))) {{")
        self.line(f"\tu64 was = hash_bytes({entry}->d_name, strlen({entry}->d_name));")
        self.line("")
        self.line(f"\tseekdir({dir_}, place_{dir_});")
        self.line(f"\t{entry} = {call}({dir_});")
        self.line(f"\tr = was == hash_bytes({entry}->d_name, strlen({entry}->d_name));")
        self.line("}")
        self.into("r")
        self.line(f"rewinddir({dir_});")

    def scan_folder(self) -> None:
        outer = self.open("")
        list_, count, i = self.name("list"), self.name("count"), self.name("i")
        self.line(f"struct dirent **{list_} = NULL;")
        visible = "visible" if self.chance(60) else "NULL"
        self.line(f"int {count} = scandir({self.folder()}, &{list_}, {visible}, alphasort);")
        self.line(f"if ({count} < 0)")
        self.into("errno")
        loop = self.open(f"for (int {i} = 0; {i} < {count}; {i}++)")
        self.loops += 1
        self.scope.read_only.append(f"{list_}[{i}]->d_name")
        self.scope.fixed.append(i)
        self.into(f"hash_bytes({list_}[{i}]->d_name, strlen({list_}[{i}]->d_name))")
        if self.chance(50):
            self.statement_simple()
        self.line(f"free({list_}[{i}]);")
        self.loops -= 1
        self.close(loop)
        self.line(f"free({list_});")
        self.close(outer)

    # --- Texts ---------------------------------------------------------------

    def copy_text(self) -> None:
        r, s = self.rng, self.scope
        if not s.buffers:
            return
        name, size = r.choice(s.buffers)
        text, bytes_ = self.text(name)
        n = r.randrange(size)
        kind = self.turn(13)
        fits = f"if (strlen({text}) < {size})"
        both = f"if (strlen({name}) + strlen({text}) < {size})"
        if kind == 0:
            self.line(fits)
            self.line(f"\tstrcpy({name}, {text});")
        elif kind == 1:
            self.line(both)
            self.line(f"\tstrcat({name}, {text});")
        elif kind == 2:
            self.line(f"strncpy({name}, {text}, {n});")
        elif kind == 3:
            self.line(both)
            self.line(f"\tstrncat({name}, {text}, {self.below(9)});")
        elif kind == 4:
            self.line(fits)
            self.line(f"\tr = stpcpy({name}, {text}) - {name};")
            self.into("r")
        elif kind == 5:
            self.line(f"r = stpncpy({name}, {text}, {n}) - {name};")
            self.into("r")
        elif kind == 6:
            self.into(f"strlcpy({name}, {text}, {self.below(size + 1)})")
        elif kind == 7:
            self.into(f"strlcat({name}, {text}, {size if self.chance(60) else n})")
        elif kind == 8:
            most = min(size, bytes_)
            end = self.name("end")
            self.line(f"char *{end} = memccpy({name}, {text}, {r.choice([0, 97, 32, 61])}, {r.randrange(most + 1)});")
            self.into(f"{end} ? {end} - {name} : -1")
        elif kind == 9:
            most = min(size, bytes_)
            self.line(f"{r.choice(['memcpy', 'mempcpy'])}({name}, {text}, {self.below(most)});")
        elif kind == 10:
            half = size // 2
            self.line(f"memmove({name} + {self.below(half)}, {name} + {self.below(half)}, {self.below(half)});")
        elif kind == 11:
            self.line(f"memset({name}, {self.leaf()}, {self.below(size)});")
        else:
            self.line(f"{name}[{self.below(size)}] = {self.number(1)};")
        self.line(f"{name}[{size - 1}] = 0;")

    def search_text(self) -> None:
        r = self.rng
        (text, bytes_), (other, _) = self.text(), self.text()
        c = r.choice(["'a'", "' '", "'='", "0", "'/'", f"{self.leaf()}"])
        kind = self.turn(13)
        if kind == 0:
            self.into(f"strlen({text})")
        elif kind == 1:
            self.into(f"strnlen({text}, {self.below(20)})")
        elif kind <= 4:
            call = r.choice(["strchr", "strrchr", "strchrnul", "index", "rindex"])
            self.found(f"{call}({text}, {c})", text)
        elif kind == 5:
            self.found(f"{r.choice(['strstr', 'strcasestr', 'strpbrk'])}({text}, {other})", text)
        elif kind == 6:
            self.into(f"{r.choice(['strspn', 'strcspn'])}({text}, {other})")
        elif kind == 7:
            call = r.choice(["memchr", "memrchr"])
            self.found(f"{call}({text}, {c}, {r.randrange(bytes_ + 1)})", text)
        elif kind == 8:
            self.found(f"memmem({text}, {r.randrange(bytes_ + 1)}, {other}, strlen({other}))", text)
        elif kind == 9:
            self.into(f"sign({r.choice(['strcmp', 'strcasecmp'])}({text}, {other}))")
        elif kind == 10:
            call = r.choice(["strncmp", "strncasecmp"])
            self.into(f"sign({call}({text}, {other}, {self.below(9)}))")
        elif kind == 11:
            test = r.choice(["isalpha", "isdigit", "isspace", "isupper", "isxdigit", "ispunct"])
            self.into(f"!!{test}((u8)({text})[0]) + {r.choice(['tolower', 'toupper'])}((u8)({text})[0])")
        else:
            self.into(f"sign(memcmp({text}, {other}, {r.randrange(2)}))")

    def found(self, call: str, text: str) -> None:
        self.line(f"at = {call};")
        # Two equal literals need not be one object.
        self.into(
            f"at ? strlen(at) {'+ at[0]' if self.chance(50) else ''} : 99"
            if text[0] == '"'
            else f"at ? at - ({text}) : -1"
        )

    def parse_text(self) -> None:
        r = self.rng
        kind = r.randrange(6)
        if kind <= 3:
            text, _ = self.text()
            call = r.choice(["strtol", "strtoul", "strtoll", "strtoull"])
            base = r.choice([0, 0, 10, 10, 8, 16, 2, 36, 7])
            self.line("errno = 0;")
            end = self.name("end")
            self.line(f"char *{end} = NULL;")
            self.line(f"r = {call}({text}, {'NULL' if self.chance(20) else '&' + end}, {base});")
            self.into(f"mix(r, errno) + ({end} ? strlen({end}) : 5)")
        elif kind == 4:
            self.into(f"{r.choice(['atoi', 'atol', 'atoll'])}({self.text()[0]})")
        else:
            self.split_text()

    def split_text(self) -> None:
        r, s = self.rng, self.scope
        if not s.buffers or self.loops > 1:
            return
        name, size = r.choice(s.buffers)
        outer = self.open("")
        part, rest = self.name("part"), self.name("rest")
        between = r.choice([" ", ",", " ,;\\n", "=", "/"])
        if self.chance(50):
            self.line(f'char *{rest} = NULL, *{part} = strtok_r({name}, "{between}", &{rest});')
            loop = self.open(f'for (; {part}; {part} = strtok_r(NULL, "{between}", &{rest}))')
        else:
            self.line(f"char *{rest} = {name}, *{part};")
            loop = self.open(f'while (({part} = strsep(&{rest}, "{between}")))')
        self.into(f"hash_bytes({part}, strlen({part}))" if self.chance(50) else f"strtol({part}, NULL, 10)")
        if self.chance(30):
            self.line(f"if ({self.condition()})")
            self.line("\tbreak;")
        self.close(loop)
        self.close(outer)

    # --- Formats -------------------------------------------------------------

    def conversion(self, other_than: str, most: int) -> tuple[str, list[str]]:
        """A conversion and its arguments, of at most so many bytes if `most` is not 0."""
        r = self.rng
        kind = r.choice("ddiuxXocsssp%")
        width = precision = ""
        given: list[str] = []
        if not most and self.chance(35):
            width = r.choice(["1", "4", "9", "20", "*"])
            given += [f"(int)({self.below(25)}) - {r.choice([0, 0, 9])}"] if width == "*" else []
        if kind in "diuxXos" and self.chance(25) and not most:
            precision = r.choice([".", ".0", ".1", ".3", ".7", ".*"])
            given += [f"(int)({self.below(12)}) - {r.choice([0, 0, 2])}"] if precision == ".*" else []
        flags = "-" if self.chance(20) else ""
        if kind == "%":
            return "%%", []
        if kind == "s":
            if most:
                precision = ".8"
            return f"%{flags}{width}{precision}s", [*given, self.text(other_than)[0]]
        if kind == "c":
            return f"%{flags}{width}c", [*given, r.choice(["'a'", "'%'", f"(int)({self.number(1)})"])]
        if kind == "p":
            return f"%{flags}{width}p", [
                *given,
                r.choice(["NULL", "(void *)0x1234", f"(void *)(u64)({self.number(1)})"]),
            ]
        if self.chance(20):
            flags += "0"
        if kind in "di" and self.chance(25):
            flags += r.choice("+ ")
        if kind in "xXo" and self.chance(25):
            flags += "#"
        length, to = r.choice(
            [("", "i32"), ("", "i32"), ("l", "i64"), ("hh", "i32"), ("h", "i32"), ("ll", "long long"), ("z", "size_t")]
            + [("j", "intmax_t"), ("t", "ptrdiff_t")]
        )
        return f"%{flags}{width}{precision}{length}{kind}", [*given, f"({to})({self.number(1)})"]

    def format(self, other_than: str = "", short: bool = False) -> str:
        """A constant format and its arguments."""
        r = self.rng
        form, given = "", []
        for _ in range(r.choice([0, 1, 1, 2] if short else [0, 1, 1, 2, 2, 3])):
            conversion, arguments = self.conversion(other_than, 24 if short else 0)
            form += r.choice(["", "", "/", " ", "x=", "[", "a longer text: "][: 4 if short else 7]) + conversion
            given += arguments
        return ", ".join([f'"{form}{r.choice(["", "", ".", "]"])}"', *given])

    def format_text(self) -> None:
        r, s = self.rng, self.scope
        if not s.buffers:
            return
        name, size = r.choice(s.buffers)
        kind = self.turn(8)
        if kind <= 4:
            room = str(size) if self.chance(70) else self.below(size + 1)
            self.into(f"snprintf({name}, {room}, {self.format(name)})")
            if self.chance(30):
                self.into(f"hash_bytes({name}, strlen({name}))")
        elif kind == 5:
            self.into(f"snprintf(NULL, 0, {self.format()})")
        elif size >= 64:
            self.into(f"sprintf({name}, {self.format(name, True)})")
        else:
            error = r.choice(["errno", str(r.randrange(40)), self.below(140)])
            self.line(f'snprintf({name}, {size}, "%s", strerror({error}));')
        self.line(f"{name}[{size - 1}] = 0;")

    # --- The heap ------------------------------------------------------------

    def change_block(self) -> None:
        r, s = self.rng, self.scope
        if not s.blocks:
            return
        name = r.choice(s.blocks)
        kind = self.turn(7)
        size = r.choice(
            ["24", "200", "1 + " + self.below(90), "1 + " + self.below(5000), "70000 + " + self.below(300000)]
        )
        if kind <= 1:
            outer = self.open("")
            self.line(f"u32 size = {size};")
            self.line("")
            self.line(f"free({name});")
            self.line(f"{name} = {'malloc(size)' if kind else 'calloc(size, 1)'};")
            if kind:
                self.line(f"memset({name}, {r.randrange(256)}, size);")
            self.line(f"{name}_n = size;")
            self.close(outer)
        elif kind == 2:
            self.line(f"free({name});")
            self.line(f"{name} = NULL;")
            self.line(f"{name}_n = 0;")
        elif kind == 3 and self.loops < 3:
            self.grow_block(name)
        elif kind == 4:
            outer = self.open("")
            new = self.name("n")
            call = r.choice([f"realloc({name}, {new})", f"reallocarray({name}, {new}, 1)"])
            self.line(f"u32 {new} = {size};")
            self.line(f"{name} = {call};")
            self.line(f"if ({new} > {name}_n)")
            self.line(f"\tmemset({name} + {name}_n, {r.randrange(256)}, {new} - {name}_n);")
            self.line(f"{name}_n = {new};")
            self.close(outer)
        elif kind == 5 and len(s.blocks) > 1:
            other = r.choice([b for b in s.blocks if b != name])
            self.line(f"if ({name} && {other})")
            self.line(f"\tmemcpy({name}, {other}, {name}_n < {other}_n ? {name}_n : {other}_n);")
        else:
            self.line(f"if ({name})")
            self.line(f"\t{name}[{self.below(name + '_n')}] = {self.number(1)};")

    def grow_block(self, name: str) -> None:
        """An array that grows in a loop, twice as large each time."""
        i, count = self.name("i"), self.rng.choice(["20", "90", self.below(60)])
        room, used = self.name("room"), self.name("used")
        outer = self.open("")
        self.line(f"u32 {room} = {name}_n, {used} = {name}_n, {i}, m{i} = {count};")
        loop = self.open(f"for ({i} = 0; {i} < m{i}; {i}++)")
        self.line(f"if ({used} == {room}) {{")
        self.line(f"\t{room} = {room} ? {room} * 2 : 4;")
        self.line(f"\t{name} = realloc({name}, {room});")
        self.line("}")
        self.scope.fixed.append(i)
        self.line(f"{name}[{used}++] = {i} * 7;")
        self.close(loop)
        self.line(f"{name}_n = {used};")
        self.close(outer)

    def change_heap_text(self) -> None:
        r, s = self.rng, self.scope
        if not s.texts:
            return
        name = r.choice(s.texts)
        text, _ = self.text(name)
        new = self.name("new")
        call = f"strdup({text})" if self.chance(60) else f"strndup({text}, {self.below(9)})"
        outer = self.open("")
        self.line(f"char *{new} = {call};")
        self.line(f"free({name});")
        self.line(f"{name} = {new};")
        self.close(outer)

    def change_list(self) -> None:
        r, s = self.rng, self.scope
        if not s.lists:
            return
        head = r.choice(s.lists)
        kind = r.randrange(7)
        outer = self.open("")
        node = self.name("node")
        if kind <= 2:
            made = r.choice([f"malloc(sizeof(*{node}))", f"calloc(1, sizeof(*{node}))"])
            self.line(f"struct node *{node} = {made};")
            self.line(f"memset({node}, 0, sizeof(*{node}));")
            self.line(f"{node}->record.key = {self.number()};")
            self.line(f'snprintf({node}->record.name, 12, "%s", {self.text()[0]});')
            if kind < 2:
                self.line(f"{node}->next = {head};")
                self.line(f"{head} = {node};")
            else:  # where its key belongs
                self.line(f"struct node **at_{node} = &{head};")
                self.line(f"while (*at_{node} && (*at_{node})->record.key < {node}->record.key)")
                self.line(f"\tat_{node} = &(*at_{node})->next;")
                self.line(f"{node}->next = *at_{node};")
                self.line(f"*at_{node} = {node};")
        elif kind == 3:
            self.line(f"struct node *{node} = {head};")
            self.line(f"if ({node}) {{")
            self.line(f"\t{head} = {node}->next;")
            self.line(f"\tr = {node}->record.key;")
            self.line(f"\tfree({node});")
            self.line("}")
        elif kind == 4:  # the other way around
            self.line(f"struct node *{node} = NULL;")
            loop = self.open(f"while ({head})")
            self.line(f"struct node *next_{node} = {head}->next;")
            self.line("")
            self.line(f"{head}->next = {node};")
            self.line(f"{node} = {head};")
            self.line(f"{head} = next_{node};")
            self.close(loop)
            self.line(f"{head} = {node};")
        else:
            loop = self.open(f"for (struct node *{node} = {head}; {node}; {node} = {node}->next)")
            self.scope.numbers.append(f"{node}->record.value")
            self.scope.buffers.append((f"{node}->record.name", 12))
            self.scope.fixed.append(f"{node}->record.key")
            self.loops += 1
            self.into(f"{node}->record.key")
            if self.chance(60):
                self.statement_simple()
            self.loops -= 1
            self.close(loop)
        self.close(outer)

    # --- Sorting and searching -----------------------------------------------

    def sort(self) -> None:
        r, s = self.rng, self.scope
        kind = r.randrange(4)
        if kind == 0 and s.arrays:
            name, count = r.choice(s.arrays)
            self.line(f"qsort({name}, {r.choice([count, self.below(count + 1)])}, sizeof(i32), compare_numbers);")
        elif kind == 1 and s.arrays:
            name, count = r.choice(s.arrays)
            key, found = self.name("key"), self.name("found")
            outer = self.open("")
            self.line(f"i32 {key} = {self.leaf()}, *{found};")
            self.line(f"qsort({name}, {count}, sizeof(i32), compare_numbers);")
            self.line(f"{found} = bsearch(&{key}, {name}, {count}, sizeof(i32), compare_numbers);")
            self.into(f"{found} ? *{found} + 1 : 7")
            self.close(outer)
        elif kind == 2:
            self.sort_records()
        else:
            words = r.sample(WORDS, r.randrange(2, 8))
            list_, i = self.name("list"), self.name("i")
            outer = self.open("")
            self.line(f"const char *{list_}[] = {{{', '.join(chr(34) + w + chr(34) for w in words)}}};")
            self.line(f"qsort({list_}, {len(words)}, sizeof(*{list_}), compare_texts);")
            self.line(f"for (u32 {i} = 0; {i} < {len(words)}; {i}++)")
            self.into(f"hash_bytes({list_}[{i}], strlen({list_}[{i}]))")
            self.close(outer)

    def sort_records(self) -> None:
        r = self.rng
        records, i, count = self.name("records"), self.name("i"), r.randrange(2, 24)
        outer = self.open("")
        self.line(f"struct record {records}[{count}] = {{0}};")
        loop = self.open(f"for (u32 {i} = 0; {i} < {count}; {i}++)")
        self.scope.fixed.append(i)
        self.line(f"{records}[{i}].key = {self.number()};")
        self.line(f"{records}[{i}].value = {i};")
        self.close(loop)
        self.line(f"qsort({records}, {count}, sizeof(*{records}), compare_records);")
        self.line(f"for (u32 {i} = 0; {i} < {count}; {i}++)")
        self.into(f"{records}[{i}].key + {records}[{i}].value")
        if self.chance(50):
            found = self.name("found")
            self.line(f"struct record *{found} = bsearch(&{records}[{r.randrange(count)}], {records}, {count}, ")
            self.lines[-1] += f"sizeof(*{records}), compare_records);"
            self.into(f"{found} ? {found}->key : -1")
        self.close(outer)

    # Defined by those who write whole functions.
    def statement(self, depth: int) -> None:
        raise NotImplementedError

    def statement_simple(self) -> None:
        raise NotImplementedError
