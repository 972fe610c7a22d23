// SPDX-License-Identifier: MIT
/*
 * fuzz_sandbox.c - checks that any program that validates does, once sandboxed, what it did before
 * and nothing that it must not, however often it leaves and resumes.
 */
#include "generate.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Programs that were rewritten, executed from their start to their end, and compared. */
unsigned long fuzz_executions;

static void report(const struct differential *d, const struct bpf_insn *insns, u32 count)
{
	char text[128];
	u32 at;

	fprintf(stderr,
		"buffer 0x%llx size %u, v4 %d, based %d, copies %d, blind %d, leave %u, fault %u, "
		"grant %u, "
		"seed %llu\n",
		(unsigned long long)d->how.user_base, d->how.size, d->how.has_v4, d->how.based,
		d->how.copies_ax, d->how.blind, d->leave_every, d->fault_every, d->max_grant,
		(unsigned long long)d->seed);
	for (at = 0; at < count;) {
		u32 slots = cosy_disasm(insns, count, at, text, sizeof(text));

		fprintf(stderr, "%4u: %s\n", at, text);
		at += slots;
	}
	fprintf(stderr, "PROBLEM: %s\n", d->problem);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct source source = {data, size};
	struct bpf_insn insns[GENERATE_MAX];
	struct differential setting;
	struct cosy_validated program;
	struct cosy_reject why;
	bool mutated;
	u32 count;

	generate_setting(&source, &setting);
	count = generate_program(&source, &setting, insns, &mutated);
	if (cosy_validate(insns, count, &program, &why)) {
		if (mutated)
			return 0;
		snprintf(setting.problem, sizeof(setting.problem), "refused: %u: %s", why.insn,
			 why.reason);
	} else {
		bool fine = differential_run(&setting, &program);

		fuzz_executions++;
		cosy_validated_deinit(&program);
		if (fine)
			return 0;
	}
	report(&setting, insns, count);
	abort();
}
