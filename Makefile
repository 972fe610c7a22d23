# SPDX-License-Identifier: MIT
# Short names for the usual commands.  Everything is built by CMake; each of these
# first installs what is missing (tools/setup).  PRESET: release, dev or fuzz.
PRESET ?= release
BUILD = $(if $(filter release,$(PRESET)),build,build-$(PRESET))
JOBS ?= $(shell nproc)
KERNEL ?= 6.12
SANITIZER ?= kasan
FUZZ_SECONDS ?= 3600
FUZZ_SEED ?= $(shell date +%s)
SAME_ROUNDS ?= 500
SAME_SEED ?= 100000
WATCH_ROUNDS ?= 3400
WATCH_PASSES ?= 32
WATCH_SEED ?= 1
RUN_OPERATIONS ?= 10000000
RUN_SEED ?= 1
RUN_OPTIONS ?=
FUZZ_KERNEL ?= 6.12-kasan
FUZZ_SMP ?= 2
FUZZ_MEMORY ?= 0
FORMATS ?= 10000000
FORMAT_SEED ?= 1
PROGRAMS ?= 20000
PROGRAMS_FIRST ?= 1
FUZZ_CORPUS ?= $(BUILD)/tests/vm/fuzz/corpus.txt
MOVE_STEPS ?= 500000
MOVE_SEED ?= 1
MOVE_KIND ?= both
MOVE_SMP ?= 2
MOVE_LEFT ?= 24
WRITER_OPENS ?= 100000
# Whether the compiler's warnings are errors, and whether cosycc's remarks on the examples are printed.
WERROR ?= ON
REMARKS ?= OFF
TESTS ?=
MACHINES ?=
RELEASE ?= trixie

.DEFAULT_GOAL := all
.PHONY: help quick nightly all bench bench-metadata bench-move bench-packages bench-predictions bench-run \
	bench-servers demo demo-on test test-kernel test-on \
	check naming vm vm-container fuzz fuzz-format fuzz-module fuzz-planted fuzz-programs fuzz-run stale-run programs-run \
	suites-run suites-metadata \
	same watch-long move-long move-lacking move-pressure mutants page vm-debug format tables install uninstall deb test-packages clean setup configure

# Builds quietly: one line of progress on a terminal, else only what compilers have to say.
build = if [ -t 1 ]; then cmake --build --preset $(PRESET) $(1); else \
	echo "building $(or $(2),everything) in $(BUILD)/"; cmake --build --preset $(PRESET) $(1) -- --quiet; fi

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z -]*:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

all: configure ## install missing build tools, build into build/ (the default)
	@$(call build)

demo: configure ## perl under cosy run, regions beside plain C and io_uring, a tree of files copied
	@$(call build,--target demo_programs,the demo)
	@python3 examples/demo.py --build $(BUILD)

# A fixed core of the tests, and those of the folders that changed.
quick: all ## a core of the tests and those of changed folders
	@python3 -B tests/run.py quick --build $(BUILD) --jobs $(JOBS)

# What a change has to pass.  TESTS: a regular expression of names, whatever they are left out of.
test: all ## what a change must pass; about 22 minutes; TESTS=REGEX: some of them
	@python3 -B tests/run.py test --build $(BUILD) --jobs $(JOBS) $(if $(TESTS),--only '$(TESTS)')

# Everything: each test under each kernel with 16 times as many random steps, the newest kernel of all, a kernel with
# KASAN, mutants, and an hour of random calls on /dev/cosy under KASAN.  All of it runs, whatever fails.
nightly: all ## everything: all kernels, more random steps, KASAN, mutants, an hour of fuzzing; many hours
	@tools/setup/setup.sh packages-install.txt packages-deb.txt packages-deb-test.txt packages-release.txt packages-suites.txt
	@status=0; python3 -B tests/run.py nightly --build $(BUILD) --jobs $(JOBS) || status=$$?; \
		for step in "test-kernel KERNEL=7.3" "vm-debug SANITIZER=kasan" mutants fuzz-module \
			"suites-metadata OPTIONS=--short"; do \
			echo "nightly: make $$step"; $(MAKE) --no-print-directory $$step || status=$$?; \
		done; exit $$status

# The guest programs in machines with one kernel, as KERNEL=7.3, in a build directory of its own; TESTS names others
# of that kernel's tests.  Ends with what was skipped, and what the module leaves to ordinary calls there, and why.
test-kernel: setup ## the guest programs under KERNEL=7.3
	@tools/setup/setup.sh packages-release.txt
	@cmake --preset $(PRESET) -B build-$(KERNEL) -DCOSY_KERNELS=$(KERNEL) >/dev/null
	@cmake --build build-$(KERNEL)
	@status=0; ctest --test-dir build-$(KERNEL) --output-on-failure -j $(JOBS) \
		-R '$(or $(TESTS),^vm-(branches|deny|extable|guest|command-doctor)[-a-z0-9]*)-$(subst .,\.,$(KERNEL))$$' || status=$$?; \
		grep -hE '^(off|skipped) ' build-$(KERNEL)/Testing/Temporary/LastTest.log | sort -u; \
		python3 tests/vm/vm.py run --kernel $(KERNEL) --put build-$(KERNEL)/bin/cosy \
			--put build-$(KERNEL)/command/cosy-inspect -- cosy doctor || status=$$?; \
		exit $$status

# The same on another Debian, in a chroot that is kept: RELEASE is bookworm or trixie, TESTS a regular expression.
test-on demo-on: setup ## `make test` or `make demo` on another Debian, RELEASE=bookworm or trixie, in a chroot
	@tools/setup/setup.sh packages-release.txt
	@tests/release/release.py $(RELEASE) -- make $(@:-on=) JOBS=$(JOBS) TESTS='$(TESTS)'

# What is to hold for the sources themselves: form, spelling, links, names.
check: configure ## the sources themselves: form, spelling, links, names, sentences
	@ctest --preset $(PRESET) -L check

# The names of cosycc's sources as well, by clang-tidy, which takes some minutes.
naming: all
	@tools/check/naming.py --build $(BUILD) --all

# Everything that docs/measured/compounds.md shows, in about half an hour.
bench: all ## measure again, write docs/measured/compounds.md
	@tools/setup/setup.sh packages-bench.txt
	@tools/setup/setup.sh packages-release.txt
	@bench/all.sh $(BUILD) $(KERNEL)

# What docs/measured/packages.md shows, in about an hour: other projects' programs with marks.
bench-packages: all
	@tools/setup/setup.sh packages-suites.txt
	@bench/runs.py --build $(BUILD) --kernel $(KERNEL) --workload packages --count 3
	@bench/runs.py --build $(BUILD) --kernel $(KERNEL) --workload packages --fs ext4 --files 5000 --count 3

# What docs/measured/windows.md shows, in about an hour: this machine's programs under `cosy run --metadata`.
bench-metadata: all
	@tools/setup/setup.sh packages-bench-run.txt
	@rm -f $(BUILD)/bench/metadata.jsonl
	@bench/metadata.py --build $(BUILD) --kernels 6.12,7.3 --fs tmpfs,ext4 --json $(BUILD)/bench/metadata.jsonl
	@bench/metadata.py --json $(BUILD)/bench/metadata.jsonl --page

# What docs/measured/moving.md shows, in a few minutes.
bench-move: all
	@python3 tests/vm/vm.py run --kernel $(KERNEL) --icount --mem 1024 --put $(BUILD)/bench/move -- /t/move
	@python3 tests/vm/vm.py run --kernel $(KERNEL) --icount --mem 1024 --env COSY_TIER=always --put $(BUILD)/bench/relay -- /t/relay

# What `cosy profile` finds in squid and PostgreSQL, which docs/measured/servers.md shows; some minutes, as root.
bench-servers: all
	@tools/setup/setup.sh packages-bench-run.txt
	@profile/bench/servers.py --build $(BUILD)

# Whether what `cosy profile` predicts is so, which docs/measured/predictions.md shows: of `cosy run` in some
# minutes, of regions in a virtual machine in a quarter of an hour.
bench-predictions: all
	@tools/setup/setup.sh packages-bench-run.txt
	@profile/bench/predictions.py --build $(BUILD)
	@profile/bench/regions.py --build $(BUILD) --kernel $(KERNEL)

# Everything that docs/measured/cosy-run.md shows, in about a quarter of an hour.
bench-run: all ## measure `cosy run` again, write docs/measured/cosy-run.md
	@tools/setup/setup.sh packages-bench-run.txt
	@rm -f $(BUILD)/run/bench/results.jsonl
	@run/bench/measure.py --build $(BUILD) --json $(BUILD)/run/bench/results.jsonl
	@run/bench/document.py $(BUILD)/run/bench/results.jsonl
	@tools/check/figures.py

# In the guest: /t/cosy and /t/plain, the examples; /t/bin/cosy; /t/FILE, each file of FILES.
vm: all ## a shell in a virtual machine with cosy.ko, KERNEL=6.1, FILES="yours to take along"
	@mkdir -p $(BUILD)/vm/bin && \
		ln -sfn $(abspath $(BUILD))/bin/cosy $(abspath $(BUILD))/command/cosy-inspect $(BUILD)/vm/bin
	@python3 tests/vm/vm.py shell --kernel $(KERNEL) --put $(BUILD)/examples/cosy --put $(BUILD)/examples/plain \
		--put $(BUILD)/vm/bin $(addprefix --put ,$(FILES))

# The examples in containers, with /dev/cosy and the seccomp filters of Podman, Docker and systemd; of root's and of
# a user's, by crun and by Podman.
vm-container: all ## the examples in containers, under the filters of Podman, Docker and systemd
	@for kernel in 6.1 6.12; do \
		python3 -B tests/vm/container.py --whole --build $(BUILD) --kernel $$kernel || exit 1; \
	done

fuzz: PRESET = fuzz
fuzz: all ## the fuzzers of core, FUZZ_SECONDS=3600
	@COSY_FUZZ_SECONDS=$(FUZZ_SECONDS) COSY_FUZZ_SEED=$(FUZZ_SEED) ctest --preset fuzz -j $(JOBS) --timeout $$(($(FUZZ_SECONDS) + 600)) --verbose

fuzz-format: all ## formats of snprintf in compounds against the C library's, FORMATS=10000000
	@$(BUILD)/lib/test/lib_format_test $(FORMATS) $(FORMAT_SEED)

# Random programs that mix libc's functions in, from the seed PROGRAMS_FIRST on: compiling takes a fifth of a second each.
fuzz-programs: all ## random programs: plain, native twin, interpreter, kernel, PROGRAMS=20000
	@tests/constructs/mixed/long.sh $(BUILD) $(KERNEL) $(PROGRAMS_FIRST) $(PROGRAMS)

# Random sequences of ioctls and calls on /dev/cosy, guided by the coverage of cosy.ko where the kernel tells it.
# FUZZ_CORPUS keeps what they found for the next time; FUZZ_MEMORY: MB for all of them, 0 for as many as there are.
fuzz-module: all ## random calls on /dev/cosy under KASAN, FUZZ_SECONDS=3600
	@tools/setup/setup.sh packages-debug.txt
	@tests/vm/fuzz/fuzz.py --build $(BUILD) --kernel $(FUZZ_KERNEL) --smp $(FUZZ_SMP) --memory $(FUZZ_MEMORY) --seed $(FUZZ_SEED) \
		--seconds $(FUZZ_SECONDS) --keep $(FUZZ_CORPUS) $(if $(wildcard $(FUZZ_CORPUS)),--corpus $(FUZZ_CORPUS))

# Whether such sequences find bugs that are planted in the module.
fuzz-planted: all
	@tests/vm/fuzz/planted.py --build $(BUILD) --kernel $(KERNEL)

# Random calls under `cosy run` against the kernel's own, and a reader against a writer.
fuzz-run: all ## random calls under `cosy run` against the kernel's own, RUN_OPERATIONS=10000000
	@run/test/fuzz/long.sh $(BUILD) $(RUN_OPERATIONS) $(RUN_SEED) $(RUN_OPTIONS)

stale-run: all
	@COSY_RUN_EAGER=1 $(BUILD)/bin/cosy run -- $(BUILD)/run/test/run_stale_test $(WRITER_OPENS)

# Programs under `cosy run` and without: the same output, status and files.
programs-run: all
	@tools/setup/setup.sh packages-bench-run.txt
	@run/test/programs/compare.sh $(BUILD)/bin/cosy run/test/programs/short.list
	@run/test/programs/compare.sh $(BUILD)/bin/cosy run/test/programs/long.list

# Other projects' own test suites under `cosy run` and without, test by test: bash, git, perl, CPython.  Hours; what they
# are built from is kept.  SUITES names some of them.
suites-run: all ## the test suites of bash, git, perl, CPython under `cosy run`; hours
	@tools/setup/setup.sh packages-suites.txt
	@run/test/suites/suites.py --cosy $(BUILD)/bin/cosy --cache $(or $(COSY_CACHE),$(HOME)/.cache/cosy)/suites $(SUITES)

# Tests of theirs that query many files, in virtual machines, plainly and under `cosy run --metadata`.  OPTIONS: --short,
# --kernel, --fs; see the program.
suites-metadata: all ## tests of git, CPython, coreutils, findutils, tar, rsync under `cosy run --metadata`; hours
	@tools/setup/setup.sh packages-suites.txt packages-release.txt
	@run/test/suites/machine.py --build $(BUILD) $(OPTIONS) $(SUITES)

# The page of `cosy profile --html` in headless Chromium.
page: all
	@tools/setup/setup.sh packages-page.txt
	@ctest --preset $(PRESET) -R profile/page --output-on-failure

same: all ## random calls, plain against specialised, on each file system, SAME_ROUNDS=500
	@tests/vm/same/long.sh $(BUILD)/tests/vm/same/same $(SAME_SEED) $(SAME_ROUNDS)

# A round compares 640 answers with system calls after a change, and before that WATCH_PASSES times about 200 with what
# a system call answered once; root and an ordinary user go WATCH_ROUNDS each, on tmpfs and on ext4.
watch-long: all ## answers of metadata windows against the kernel's, WATCH_ROUNDS=3400: 100 million
	@python3 tests/vm/vm.py run --kernel $(KERNEL) --smp 2 --timeout 86400 --append=cosy.metadata=1 \
		--disk $(BUILD)/tests/vm/guest/empty --put $(BUILD)/tests/vm/guest/watch_same \
		--put $(BUILD)/tests/vm/guest/watch_during --put $(BUILD)/lib/cosy/libcosy-run-metadata.so \
		--put tests/vm/guest/watch.sh --module tests/vm/oracle --put tests/vm/oracle/oracle.sh -- sh /t/oracle.sh sh -c \
		"sh /t/watch.sh long /tmp $(WATCH_ROUNDS) $(WATCH_SEED) $(WATCH_PASSES) && \
		sh /t/watch.sh long /mnt $(WATCH_ROUNDS) $(WATCH_SEED) $(WATCH_PASSES)"

# Random steps with pages that move, against a model: MOVE_STEPS on each of MOVE_SMP processors, where the
# allocator watches.  MOVE_KIND: pages (4 KB), huge (2 MB), both, or pinned (4 KB that others may pin).
# QEMU makes fast string operations byte by byte: without them pages are cleared and copied by words.
move-long: all ## random steps with pages that move, MOVE_STEPS=500000
	@python3 tests/vm/vm.py run --kernel $(KERNEL) --smp $(MOVE_SMP) --mem 768 --timeout 86400 \
		--cpu max,-erms,-fsrm --append=slub_debug=FZPU --put $(BUILD)/tests/vm/guest/guest/move_random \
		--put tests/vm/guest/move_long.sh -- sh /t/move_long.sh $(MOVE_STEPS) $(MOVE_SEED) $(MOVE_KIND)

# The same where what the module asks memory for fails at one point or another of nearly each step; MOVE_KIND
# names one kind, or several.
move-lacking: all
	@python3 tests/vm/vm.py run --kernel $(KERNEL) --smp $(MOVE_SMP) --mem 1536 --timeout 86400 \
		--cpu max,-erms,-fsrm --append=slub_debug=FZPU --module tests/vm/failing \
		--put $(BUILD)/tests/vm/guest/guest/move_random --put tests/vm/failing/move_lacking.sh \
		-- sh /t/move_lacking.sh $(MOVE_STEPS) $(MOVE_SEED) $(MOVE_KIND)

# The same where all memory but MOVE_LEFT MB is taken, on four processors.
move-pressure: all
	@python3 tests/vm/vm.py run --kernel $(KERNEL) --smp 4 --mem 256 --timeout 86400 --append=slub_debug=FZPU \
		--put tests/vm/guest/move_pressure.sh --put $(BUILD)/tests/vm/guest/guest/move_random \
		-- sh /t/move_pressure.sh $(MOVE_LEFT) $(MOVE_STEPS) $(MOVE_SEED)

# The tests that need cosy.ko in a kernel that watches over itself; SANITIZER: kasan (with lockdep, UBSAN and more) or
# kcsan.  Then bugs that are planted and have to be reported.  Hours; MACHINES names some of them.
vm-debug: all ## the VM tests in a kernel with SANITIZER=kasan or kcsan; hours
	@tools/setup/setup.sh packages-debug.txt
	@ctest --test-dir $(BUILD) --output-on-failure --quiet -R '^constructs-O2$$'
	@tests/vm/debug/suite.py --build $(BUILD) --sanitizer $(SANITIZER) $(MACHINES)
	@tests/vm/debug/suite.py --build $(BUILD) --sanitizer $(SANITIZER) --planted

# Which test notices when a guard of the module is broken; more than an hour.
mutants: all ## the module with one guard broken after the other: a test must fail; hours
	@status=0; core/test/mutants.py || status=$$?; \
		tests/vm/same/mutants.py --build $(BUILD) --kernel $(KERNEL) || status=$$?; exit $$status

rust-bindings: all ## write the Rust crate's declarations from <cosy/files.h>, with bindgen
	@cmake --build $(BUILD) --target rust_bindings

rust-miri: all ## the Rust crate's unsafe code under Miri
	@cmake --build $(BUILD) --target rust_miri

format: setup ## format the sources
	@tools/setup/format.sh

# Lists in documents that repeat a *.def file, and figures that repeat a measured table.
tables: ## update lists and figures in documents
	@tools/check/tables.py
	@tools/check/figures.py

# Builds and installs what a user needs, as root, below PREFIX (default /usr/local) and DESTDIR.
install: ## build and install what a user needs, below PREFIX
	@tools/setup/setup.sh --only packages-install.txt
	@cmake --preset install $(if $(PREFIX),-DCMAKE_INSTALL_PREFIX='$(PREFIX)') >/dev/null
	@cmake --build --preset install
	@cmake --install build-install

# For the release of this machine; `tests/release/release.py trixie -- make deb` builds them for another one.
deb: ## build Debian packages into build-deb/
	@tools/setup/setup.sh --only packages-install.txt packages-deb.txt
	@packaging/deb.sh

# Builds the packages on RELEASE, and installs, upgrades and purges them in a booted machine that has it; as root.
test-packages: setup ## install, upgrade and purge the packages in a machine, RELEASE=bookworm or trixie
	@tools/setup/setup.sh packages-install.txt packages-deb.txt packages-deb-test.txt packages-release.txt
	@python3 -B tests/packages/packages.py $(RELEASE)

uninstall: ## remove what make install has written
	@tools/setup/uninstall.sh build-install/install_manifest.txt

clean: ## remove the builds
	@rm -rf build build-dev build-fuzz build-install build-deb build-[0-9]*

setup:
	@tools/setup/setup.sh

configure: setup
	@cmake --preset $(PRESET) -DCOSY_WERROR=$(WERROR) -DCOSY_REMARKS=$(REMARKS) >/dev/null
