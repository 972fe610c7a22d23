// SPDX-License-Identifier: MIT
/* json.c - the whole profile for programs; docs/inside/profile.md documents the fields. */
#include "calls.h"
#include "fold/programs.h"
#include "show/show.h"

/* Begins a member, with a comma before it unless it is the first of its object. */
static void json_member(FILE *to, bool first, const char *name)
{
	fprintf(to, "%s\"%s\": ", first ? "" : ", ", name);
}

static void json_number(FILE *to, bool first, const char *name, double value)
{
	json_member(to, first, name);
	fprintf(to, "%.0f", value);
}

static void json_string(FILE *to, bool first, const char *name, const char *value)
{
	json_member(to, first, name);
	putc('"', to);
	show_text(to, value, SHOW_JSON, 0);
	putc('"', to);
}

static void json_place(FILE *to, struct places *places, const struct advice *advice,
		       uint32_t object, uint64_t function, uint64_t address)
{
	const struct profile *profile = advice->profile;
	struct place place;

	json_member(to, false, "place");
	if (!object || object > profile->n_objects) {
		fputs("null", to);
		return;
	}
	place = place_find_loop(places, profile->objects[object].path, function, address);
	fputs("{", to);
	json_string(to, true, "object", profile->objects[object].path);
	json_number(to, false, "address", address);
	json_string(to, false, "function", place.function ? place.function : "");
	json_string(to, false, "file", place.file ? place.file : "");
	json_number(to, false, "line", place.line);
	fputs("}", to);
}

static void json_findings(FILE *to, const struct advice *advice, struct places *places)
{
	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];

		fprintf(to, "%s\n    {", i ? "," : "");
		json_string(to, true, "way", advise_ways[finding->way]);
		json_string(to, false, "title", finding->title);
		json_number(to, false, "row", finding->row);
		json_number(to, false, "calls", finding->calls);
		json_number(to, false, "cpu_ns", finding->cpu);
		json_member(to, false, "saves_ns");
		fprintf(to, "[%ld, %ld, %ld]", finding->low, finding->middle, finding->high);
		json_string(to, false, "do", finding->type);
		json_string(to, false, "better", finding->better);
		json_string(to, false, "gives_up", finding->gives_up);
		json_string(to, false, "depends", finding->depends);
		json_string(to, false, "why", finding->why);
		json_place(to, places, advice, finding->object, finding->function,
			   finding->address);
		fputs("}", to);
	}
}

static void json_rows(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	char text[1000];
	bool first = true;

	for (uint32_t i = 1; i <= profile->n_rows; i++) {
		const struct profile_row *row = &profile->rows[i];

		if (row->merged)
			continue;
		fprintf(to, "%s\n    {", first ? "" : ",");
		first = false;
		advise_sequence(profile, row->symbol, text, sizeof(text));
		json_number(to, true, "row", i);
		json_string(to, false, "sequence", text);
		json_number(to, false, "variants", row->variants);
		json_number(to, false, "entries", row->entries);
		json_number(to, false, "turns", row->turns);
		json_number(to, false, "processes", row->processes);
		json_number(to, false, "calls", row->sums.calls);
		json_number(to, false, "slept", row->sums.slept);
		json_number(to, false, "kernel_ns", advise_cpu(profile, &row->sums));
		json_number(to, false, "user_ns", advise_user(profile, &row->sums));
		json_place(to, places, advice, row->object, 0, row->address);
		fputs("}", to);
	}
}

static void json_sites(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;

	for (uint32_t i = 1; i <= profile->n_sites; i++) {
		const struct site *site = &profile->sites[i];
		const struct event_frame *frame = profile_frame(profile, site->stack);

		fprintf(to, "%s\n    {", i > 1 ? "," : "");
		json_number(to, true, "site", i);
		json_string(to, false, "call", call_kind(site->nr)->name);
		json_string(to, false, "of", advise_file_kinds[site->file]);
		json_number(to, false, "row", site->row);
		json_number(to, false, "calls", site->all.calls);
		json_number(to, false, "errors", site->all.errors);
		json_number(to, false, "slept", site->all.slept);
		json_number(to, false, "useless", site->useless);
		json_number(to, false, "kernel_ns", advise_cpu(profile, &site->all));
		json_number(to, false, "user_ns", advise_user(profile, &site->all));
		json_place(to, places, advice, frame ? frame->object : 0, 0,
			   frame ? frame->address : 0);
		fputs("}", to);
	}
}

static void json_edges(FILE *to, const struct advice *advice)
{
	const struct profile *profile = advice->profile;

	for (uint32_t i = 1; i <= profile->n_edges; i++) {
		const struct edge *edge = &profile->edges[i];

		fprintf(to, "%s\n    {", i > 1 ? "," : "");
		json_string(to, true, "kind", advise_edge_kinds[edge->kind]);
		json_number(to, false, "from", edge->from);
		json_number(to, false, "to", edge->to);
		json_string(to, false, "from_call", call_kind(profile->sites[edge->from].nr)->name);
		json_string(to, false, "to_call", call_kind(profile->sites[edge->to].nr)->name);
		json_number(to, false, "held", edge->held);
		json_number(to, false, "broken", edge->broken);
		json_number(to, false, "of", profile->sites[edge->to].all.calls);
		json_member(to, false, "varied");
		fputs(edge->varied ? "true}" : "false}", to);
	}
}

static void json_sessions(FILE *to, const struct profile *profile)
{
	char text[1000];

	for (uint32_t i = 0; i < profile->n_sessions; i++) {
		const struct session *session = &profile->sessions[i];

		advise_session(profile, session, text, sizeof(text));
		fprintf(to, "%s\n    {", i ? "," : "");
		json_string(to, true, "of", advise_file_kinds[session->file]);
		json_string(to, false, "sequence", text);
		json_number(to, false, "times", session->times);
		json_number(to, false, "calls", session->calls);
		fputs("}", to);
	}
}

static void json_run(FILE *to, const struct advice *advice)
{
	const struct run_sums *run = &advice->reads;
	static const char *const names[] = {
#define REASON(name, text) #name,
#include "fold/reasons.def"
	};

	fputs("{", to);
	for (int i = 0; i < RUN_REASONS; i++)
		json_number(to, !i, names[i], run->calls[i]);
	json_number(to, false, "windows", run->windows);
	json_number(to, false, "seeks", run->seeks);
	json_member(to, false, "saves_ns");
	fprintf(to, "[%ld, %ld, %ld]}", advice->run.low, advice->run.middle, advice->run.high);
}

static void json_timeline(FILE *to, const struct timeline *timeline)
{
	bool first = true;

	fputs("{", to);
	json_number(to, true, "bin_ns", timeline->shift ? 1ULL << timeline->shift : 0);
	fputs(", \"lanes\": [", to);
	for (uint32_t i = 0; i <= timeline->n_lanes; i++) {
		const struct timeline_lane *lane = &timeline->lanes[i];

		if (!lane->calls)
			continue;
		fputs(first ? "\n    {" : ",\n    {", to);
		first = false;
		json_number(to, true, "pid", lane->pid);
		json_string(to, false, "program", lane->program);
		json_number(to, false, "calls", lane->calls);
		fputs(", \"bins\": [", to);
		for (unsigned int j = 0; j < TIMELINE_BINS; j++)
			fprintf(to, "%s[%lu, %lu, %lu]", j ? ", " : "", lane->bins[j].calls,
				lane->bins[j].kernel, lane->bins[j].user);
		fputs("]}", to);
	}
	fputs("]}", to);
}

static void json_useless(FILE *to, const struct profile *profile)
{
	static const char *const names[] = {
#define USELESS(name, ...) #name,
#include "fold/useless.def"
	};

	fputs("{", to);
	for (int i = 0; i < USELESS_KINDS; i++) {
		json_member(to, !i, names[i]);
		fprintf(to, "[%lu, %lu]", profile->useless[i].calls, profile->useless[i].of);
	}
	fputs("}", to);
}

static void json_programs(FILE *to, const struct profile *profile)
{
	uint32_t numbers[MAX_PROGRAMS], n = programs_order(&profile->programs, numbers);

	json_member(to, false, "programs");
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ", {" : "[{", to);
		json_string(to, true, "program", profile->programs.of[numbers[i]].path);
		json_number(to, false, "calls", profile->programs.of[numbers[i]].calls);
		putc('}', to);
	}
	fputs(n ? "]" : "[]", to);
}

/* Writes nothing where nothing was measured. */
static void json_verified(FILE *to, const struct verified *verified)
{
	if (!verified->rounds)
		return;
	fputs(",\n  \"verified\": {", to);
	json_string(to, true, "way", verified->way);
	json_number(to, false, "rounds", verified->rounds);
	json_member(to, false, "predicted");
	fprintf(to, "[%.4f, %.4f]", verified->low, verified->high);
	json_member(to, false, "judged");
	fputs(verified->judged ? "true" : "false", to);
	json_member(to, false, "measured");
	fprintf(to, "%.4f", verified->measured);
	json_member(to, false, "noise");
	fprintf(to, "%.4f", verified->noise);
	json_number(to, false, "plain_ns", verified->plain);
	json_number(to, false, "other_ns", verified->other > 0 ? verified->other : 0);
	json_member(to, false, "in");
	fputs(verified->in ? "true}" : "false}", to);
}

void show_json(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;

	fputs("{\n  ", to);
	json_number(to, true, "version", EVENT_VERSION);
	json_string(to, false, "program", profile->program);
	json_programs(to, profile);
	json_number(to, false, "took_ns", profile->took);
	json_number(to, false, "calls", profile->sums.calls);
	json_number(to, false, "errors", profile->sums.errors);
	json_number(to, false, "slept", profile->sums.slept);
	json_number(to, false, "lost", profile->lost);
	json_number(to, false, "forgotten", profile->forgotten);
	json_number(to, false, "processes", profile->processes);
	json_number(to, false, "threads", profile->threads);
	json_string(to, false, "backend", show_backend(profile));
	json_member(to, false, "cpu_measured");
	fputs(advise_measures(profile) ? "true" : "false", to);
	json_number(to, false, "kernel_ns", advice->kernel);
	json_number(to, false, "user_ns", advice->user);
	json_number(to, false, "in_loops", advice->in_rows);
	json_number(to, false, "added_ns", profile->header.added);
	json_number(to, false, "call_cost_ns", profile->header.call_cost);
	json_number(to, false, "gap_cost_ns", profile->header.gap_cost);
	json_number(to, false, "null_call_ns", profile->header.null_call);
	json_number(to, false, "recorder_ns", profile->recorder_cpu);
	fputs(",\n  \"findings\": [", to);
	json_findings(to, advice, places);
	fputs("],\n  \"rows\": [", to);
	json_rows(to, advice, places);
	fputs("],\n  \"sites\": [", to);
	json_sites(to, advice, places);
	fputs("],\n  \"dependences\": [", to);
	json_edges(to, advice);
	fputs("],\n  \"sessions\": [", to);
	json_sessions(to, profile);
	fputs("],\n  \"cosy_run\": ", to);
	json_run(to, advice);
	fputs(",\n  \"useless\": ", to);
	json_useless(to, profile);
	fputs(",\n  \"timeline\": ", to);
	json_timeline(to, &profile->timeline);
	json_verified(to, &advice->verified);
	fputs("\n}\n", to);
}
