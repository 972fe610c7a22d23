// SPDX-License-Identifier: MIT
/* json.c - the whole profile for programs; docs/use/profile-json.md documents the fields. */
#include "calls.h"
#include "fold/programs.h"
#include "show/json_writer.h"
#include "show/show.h"

/* Writes the low end, the middle and the high end of an estimate. */
static void json_range(struct json_writer *json, const char *name, int64_t low, int64_t middle,
		       int64_t high)
{
	json_list(json, name);
	json_number(json, NULL, low);
	json_number(json, NULL, middle);
	json_number(json, NULL, high);
	json_end(json);
}

static void json_place(struct json_writer *json, struct places *places, const struct advice *advice,
		       uint32_t object, uint64_t function, uint64_t address)
{
	const struct profile *profile = advice->profile;
	struct place place;

	if (!object || object > profile->n_objects) {
		json_null(json, "place");
		return;
	}
	place = place_find_loop(places, profile->objects[object].path, function, address);
	json_object(json, "place");
	json_string(json, "object", profile->objects[object].path);
	json_number(json, "address", address);
	json_string(json, "function", place.function ? place.function : "");
	json_string(json, "file", place.file ? place.file : "");
	json_number(json, "line", place.line);
	json_end(json);
}

static void json_findings(struct json_writer *json, const struct advice *advice,
			  struct places *places)
{
	json_list(json, "findings");
	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];

		json_object(json, NULL);
		json_string(json, "way", advise_ways[finding->way]);
		json_string(json, "title", finding->title);
		json_number(json, "row", finding->row);
		json_number(json, "calls", finding->calls);
		json_number(json, "cpu_ns", finding->cpu);
		json_range(json, "saves_ns", finding->low, finding->middle, finding->high);
		json_string(json, "do", finding->type);
		json_string(json, "better", finding->better);
		json_string(json, "gives_up", finding->gives_up);
		json_string(json, "depends", finding->depends);
		json_string(json, "why", finding->why);
		json_place(json, places, advice, finding->object, finding->function,
			   finding->address);
		json_end(json);
	}
	json_end(json);
}

static void json_rows(struct json_writer *json, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	char text[1000];

	json_list(json, "rows");
	for (uint32_t i = 1; i <= profile->n_rows; i++) {
		const struct profile_row *row = &profile->rows[i];

		if (row->merged)
			continue;
		advise_sequence(profile, row->symbol, text, sizeof(text));
		json_object(json, NULL);
		json_number(json, "row", i);
		json_string(json, "sequence", text);
		json_number(json, "variants", row->variants);
		json_number(json, "entries", row->entries);
		json_number(json, "turns", row->turns);
		json_number(json, "processes", row->processes);
		json_number(json, "calls", row->sums.calls);
		json_number(json, "slept", row->sums.slept);
		json_number(json, "kernel_ns", advise_cpu(profile, &row->sums));
		json_number(json, "user_ns", advise_user(profile, &row->sums));
		json_place(json, places, advice, row->object, 0, row->address);
		json_end(json);
	}
	json_end(json);
}

static void json_sites(struct json_writer *json, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;

	json_list(json, "sites");
	for (uint32_t i = 1; i <= profile->n_sites; i++) {
		const struct site *site = &profile->sites[i];
		const struct event_frame *frame = profile_frame(profile, site->stack);

		json_object(json, NULL);
		json_number(json, "site", i);
		json_string(json, "call", call_kind(site->nr)->name);
		json_string(json, "of", advise_file_kinds[site->file]);
		json_number(json, "row", site->row);
		json_number(json, "calls", site->all.calls);
		json_number(json, "errors", site->all.errors);
		json_number(json, "slept", site->all.slept);
		json_number(json, "useless", site->useless);
		json_number(json, "kernel_ns", advise_cpu(profile, &site->all));
		json_number(json, "user_ns", advise_user(profile, &site->all));
		json_place(json, places, advice, frame ? frame->object : 0, 0,
			   frame ? frame->address : 0);
		json_end(json);
	}
	json_end(json);
}

static void json_edges(struct json_writer *json, const struct advice *advice)
{
	const struct profile *profile = advice->profile;

	json_list(json, "dependences");
	for (uint32_t i = 1; i <= profile->n_edges; i++) {
		const struct edge *edge = &profile->edges[i];
		const struct site *from = &profile->sites[edge->from];
		const struct site *to = &profile->sites[edge->to];

		json_object(json, NULL);
		json_string(json, "kind", advise_edge_kinds[edge->kind]);
		json_number(json, "from", edge->from);
		json_number(json, "to", edge->to);
		json_string(json, "from_call", call_kind(from->nr)->name);
		json_string(json, "to_call", call_kind(to->nr)->name);
		json_number(json, "held", edge->held);
		json_number(json, "broken", edge->broken);
		json_number(json, "of", to->all.calls);
		json_bool(json, "varied", edge->varied);
		json_end(json);
	}
	json_end(json);
}

static void json_sessions(struct json_writer *json, const struct profile *profile)
{
	char text[1000];

	json_list(json, "sessions");
	for (uint32_t i = 0; i < profile->n_sessions; i++) {
		const struct session *session = &profile->sessions[i];

		advise_session(profile, session, text, sizeof(text));
		json_object(json, NULL);
		json_string(json, "of", advise_file_kinds[session->file]);
		json_string(json, "sequence", text);
		json_number(json, "times", session->times);
		json_number(json, "calls", session->calls);
		json_end(json);
	}
	json_end(json);
}

static void json_run(struct json_writer *json, const struct advice *advice)
{
	const struct run_sums *run = &advice->reads;
	static const char *const names[] = {
#define REASON(name, text) #name,
#include "fold/reasons.def"
	};

	json_object(json, "cosy_run");
	for (int i = 0; i < RUN_REASONS; i++)
		json_number(json, names[i], run->calls[i]);
	json_number(json, "windows", run->windows);
	json_number(json, "seeks", run->seeks);
	json_range(json, "saves_ns", advice->run.low, advice->run.middle, advice->run.high);
	json_end(json);
}

static void json_lane(struct json_writer *json, const struct timeline_lane *lane)
{
	json_object(json, NULL);
	json_number(json, "pid", lane->pid);
	json_string(json, "program", lane->program);
	json_number(json, "calls", lane->calls);
	json_list(json, "bins");
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		json_list(json, NULL);
		json_number(json, NULL, lane->bins[i].calls);
		json_number(json, NULL, lane->bins[i].kernel);
		json_number(json, NULL, lane->bins[i].user);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void json_timeline(struct json_writer *json, const struct timeline *timeline)
{
	json_object(json, "timeline");
	json_number(json, "bin_ns", timeline->shift ? 1ULL << timeline->shift : 0);
	json_list(json, "lanes");
	for (uint32_t i = 0; i <= timeline->n_lanes; i++)
		if (timeline->lanes[i].calls)
			json_lane(json, &timeline->lanes[i]);
	json_end(json);
	json_end(json);
}

static void json_useless(struct json_writer *json, const struct profile *profile)
{
	static const char *const names[] = {
#define USELESS(name, ...) #name,
#include "fold/useless.def"
	};

	json_object(json, "useless");
	for (int i = 0; i < USELESS_KINDS; i++) {
		json_list(json, names[i]);
		json_number(json, NULL, profile->useless[i].calls);
		json_number(json, NULL, profile->useless[i].of);
		json_end(json);
	}
	json_end(json);
}

static void json_programs(struct json_writer *json, const struct profile *profile)
{
	uint32_t numbers[MAX_PROGRAMS], n = programs_order(&profile->programs, numbers);

	json_list(json, "programs");
	for (uint32_t i = 0; i < n; i++) {
		json_object(json, NULL);
		json_string(json, "program", profile->programs.of[numbers[i]].path);
		json_number(json, "calls", profile->programs.of[numbers[i]].calls);
		json_end(json);
	}
	json_end(json);
}

/* Writes nothing if nothing was measured. */
static void json_verified(struct json_writer *json, const struct verified *verified)
{
	if (!verified->rounds)
		return;
	json_object(json, "verified");
	json_string(json, "way", verified->way);
	json_number(json, "rounds", verified->rounds);
	json_list(json, "predicted");
	json_share(json, NULL, verified->low);
	json_share(json, NULL, verified->high);
	json_end(json);
	json_bool(json, "judged", verified->judged);
	json_share(json, "measured", verified->measured);
	json_share(json, "noise", verified->noise);
	json_number(json, "plain_ns", verified->plain);
	json_number(json, "other_ns", verified->other > 0 ? verified->other : 0);
	json_bool(json, "in", verified->in);
	json_end(json);
}

void show_json(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	struct json_writer writer = {.to = to}, *json = &writer;

	json_object(json, NULL);
	json_number(json, "version", EVENT_VERSION);
	json_string(json, "program", profile->program);
	json_programs(json, profile);
	json_number(json, "took_ns", profile->took);
	json_number(json, "calls", profile->sums.calls);
	json_number(json, "errors", profile->sums.errors);
	json_number(json, "slept", profile->sums.slept);
	json_number(json, "lost", profile->lost);
	json_number(json, "forgotten", profile->forgotten);
	json_number(json, "processes", profile->processes);
	json_number(json, "threads", profile->threads);
	json_string(json, "backend", show_backend(profile));
	json_bool(json, "cpu_measured", advise_measures(profile));
	json_number(json, "kernel_ns", advice->kernel);
	json_number(json, "user_ns", advice->user);
	json_number(json, "in_loops", advice->in_rows);
	json_number(json, "added_ns", profile->header.added);
	json_number(json, "call_cost_ns", profile->header.call_cost);
	json_number(json, "gap_cost_ns", profile->header.gap_cost);
	json_number(json, "null_call_ns", profile->header.null_call);
	json_number(json, "recorder_ns", profile->recorder_cpu);
	json_findings(json, advice, places);
	json_rows(json, advice, places);
	json_sites(json, advice, places);
	json_edges(json, advice);
	json_sessions(json, profile);
	json_run(json, advice);
	json_useless(json, profile);
	json_timeline(json, &profile->timeline);
	json_verified(json, &advice->verified);
	json_end(json);
}
