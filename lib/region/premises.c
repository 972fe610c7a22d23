// SPDX-License-Identifier: MIT
/*
 * premises.c - see premises.h.
 *
 * A function may be another one than libc's in three ways: an object that is searched before libc
 * exports it (interpose.h); the linker has bound the region's own object to another definition,
 * hidden from the dynamic linker or of another name (-fvisibility=hidden, --wrap, -static); or the
 * dynamic linker searches other objects first for a library that was loaded later (RTLD_DEEPBIND),
 * or does as an auditor says (LD_AUDIT).
 *
 * Calls through a PLT entry reach what its GOT slot points to.  A slot may point back to the PLT
 * until the first call; then the names decide which objects define.  Most programs have no object
 * between themselves and libc, so that is asked first; interpose.h tells the rest.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>

#include "process/interpose.h"
#include "process/magazines.h"
#include "process/object.h"
#include "process/streams.h"
#include "region/premises.h"
#include "region/region.h"
#include "region/tier.h"

/* Functions looked up at once: a bit of a word each. */
#define MAX_FUNCTIONS 64u

struct verdict {
	char *why;
	size_t size;
	const struct libcosy_function *functions;
	unsigned int count;
	uint64_t checked; /* functions that a sanitizer defines once more: no harm by itself */
	bool broken;
};

static void say_whose(struct verdict *verdict, unsigned int function, const char *object)
{
	if (!verdict->broken)
		snprintf(verdict->why, verdict->size, "%s() is %s%s here, not libc's",
			 verdict->functions[function].name,
			 *object ? "that of " : "the program's own", object);
	verdict->broken = true;
}

static void say_audited(struct verdict *verdict)
{
	snprintf(verdict->why, verdict->size,
		 "%s() may be an auditor's here (LD_AUDIT), not libc's",
		 verdict->functions[0].name);
	verdict->broken = true;
}

/* A sanitizer's definition calls the next one, so those after it count as well. */
static void object_found(void *arg, unsigned int function, const char *object, bool checks)
{
	struct verdict *verdict = arg;

	if (checks)
		verdict->checked |= 1ull << function;
	else
		say_whose(verdict, function, object);
}

/* --- The object that the region is in ---------------------------------------------------- */

struct caller {
	const ElfW(Dyn) * dynamic; /* NULL: the program is linked statically, or not known */
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * calls; /* relocations of the slots of PLT entries */
	size_t call_cnt;
	const struct r_debug *debug; /* the list of objects; NULL: not known */
	uintptr_t libc, libc_size;   /* the libc that a slot was found to point into */
};

/* libcosy's own object: its dynamic section, and the first byte. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

/* Returns what leads debuggers to the list of objects, NULL in a library. */
static const struct r_debug *dynamic_debug(const ElfW(Dyn) * dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_DEBUG)
			return (const struct r_debug *)dynamic->d_un.d_ptr;
	return NULL;
}

/* Reads less than object.h does, for each first run of a region comes here. */
static void caller_read(struct caller *caller, const ElfW(Dyn) * dynamic)
{
	unsigned int missing = 4;

	caller->dynamic = dynamic;
	for (; missing && dynamic->d_tag != DT_NULL; dynamic++) {
		ElfW(Addr) value = dynamic->d_un.d_ptr;

		switch (dynamic->d_tag) {
		case DT_STRTAB:
			caller->strings = (const char *)value;
			break;
		case DT_SYMTAB:
			caller->symbols = (const ElfW(Sym) *)value;
			break;
		case DT_JMPREL:
			caller->calls = (const ElfW(Rela) *)value;
			break;
		case DT_PLTRELSZ:
			caller->call_cnt = value / sizeof(ElfW(Rela));
			break;
		default:
			continue;
		}
		missing--;
	}
}

/* Makes an address absolute that the dynamic linker may have left relative. */
static const void *address_from(uintptr_t base, const void *value)
{
	return value && (uintptr_t)value < base ? (const char *)value + base : value;
}

static void caller_rebase(struct caller *caller, uintptr_t base)
{
	caller->base = base;
	caller->strings = address_from(base, caller->strings);
	caller->symbols = address_from(base, caller->symbols);
	caller->calls = address_from(base, caller->calls);
}

struct caller_sought {
	uintptr_t address;
	struct caller *caller;
	bool any; /* has seen an object */
};

/* The first object is the program. */
static int caller_search(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct caller_sought *search = arg;
	const ElfW(Phdr) *segment = info->dlpi_phdr, *end = segment + info->dlpi_phnum;
	uintptr_t dynamic;

	(void)size;
	while (segment != end && segment->p_type != PT_DYNAMIC)
		segment++;
	if (segment == end)
		return 0;
	dynamic = info->dlpi_addr + segment->p_vaddr;
	if (!search->any)
		search->caller->debug = dynamic_debug((const ElfW(Dyn) *)dynamic);
	search->any = true;
	if (search->address - info->dlpi_addr >= segment->p_vaddr)
		return 0;
	caller_read(search->caller, (const ElfW(Dyn) *)dynamic);
	caller_rebase(search->caller, info->dlpi_addr);
	return 1;
}

/*
 * Finds whose constant it is: constants and code lie between an object's first byte and its dynamic
 * section.
 */
static void caller_find(struct caller *caller, const void *constant)
{
	struct caller_sought search = {.address = (uintptr_t)constant, .caller = caller};
	uintptr_t begin = (uintptr_t)__ehdr_start;

	*caller = (struct caller){0};
	if (!_DYNAMIC)
		return;
	if (begin && search.address - begin < (uintptr_t)_DYNAMIC - begin) {
		caller->debug = dynamic_debug(_DYNAMIC);
		/* The program's, as a rule; a library's own does not name the list. */
		if (caller->debug && caller->debug->r_map->l_ld == _DYNAMIC) {
			caller_read(caller, _DYNAMIC);
			caller_rebase(caller, caller->debug->r_map->l_addr);
			return;
		}
	}
	dl_iterate_phdr(caller_search, &search);
}

/*
 * True if another object than those of the start has the region: these are listed up to the
 * dynamic linker itself, and stay.
 */
static bool caller_is_late(const struct caller *caller)
{
	const struct link_map *object = caller->debug ? caller->debug->r_map : NULL;

	if (!object)
		return false;
	for (; object; object = object->l_next) {
		if (object->l_ld == caller->dynamic)
			return false;
		if (object->l_addr == caller->debug->r_ldbase)
			break;
	}
	return true;
}

/* True if there are further namespaces, as each auditor has one (glibc 2.35). */
static bool caller_may_be_audited(const struct caller *caller)
{
	return caller->debug && caller->debug->r_version > 1;
}

/* --- Bindings of its calls --------------------------------------------------------------- */

/*
 * Returns the GOT slot that a PLT entry jumps through, as bfd, gold, lld and mold write it, with
 * endbr64 or not; NULL for other code.  A function may begin like that, too, and jump through a
 * variable.
 */
static const uintptr_t *plt_slot(const uint8_t *code)
{
	int32_t distance;

	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		code += 4;
	if (code[0] == 0x41 && code[1] == 0xbb) /* mov $index, %r11d */
		code += 6;
	if (code[0] == 0xf2) /* bnd */
		code++;
	if (code[0] != 0xff || code[1] != 0x25)
		return NULL;
	__builtin_memcpy(&distance, code + 2, sizeof(distance));
	return (const uintptr_t *)(code + 6 + distance);
}

/* True if the dynamic linker fills a slot of the GOT with the address of the function. */
static bool fills_slot(const struct caller *caller, const ElfW(Rela) * relocation, const char *name)
{
	const ElfW(Sym) *symbol = &caller->symbols[ELF64_R_SYM(relocation->r_info)];
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
	       libcosy_is_same(caller->strings + symbol->st_name, name);
}

/* Looks among all relocations: a PLT entry may share the slot of a pointer to the function. */
static bool is_shared_slot_of(const struct caller *caller, ElfW(Addr) offset, const char *name)
{
	struct libcosy_object object;
	const ElfW(Rela) * data;

	if (!libcosy_object_open(caller->base, caller->dynamic, &object))
		return false;
	for (size_t i = 0; i < caller->call_cnt; i++)
		if (caller->calls[i].r_offset == offset)
			return fills_slot(caller, &caller->calls[i], name);
	data = object.data;
	for (size_t i = 0; i < object.data_cnt; i++)
		if (data[i].r_offset == offset)
			return fills_slot(caller, &data[i], name);
	return false;
}

static bool is_slot_of(const struct caller *caller, const uintptr_t *slot, const char *name)
{
	ElfW(Addr) offset = (uintptr_t)slot - caller->base;
	size_t index;

	if (!caller->symbols || !caller->strings)
		return false;
	if (caller->calls && caller->call_cnt) {
		/* Slots lie in the order of their relocations. */
		index = (offset - caller->calls->r_offset) / sizeof(*slot);
		if (index < caller->call_cnt && caller->calls[index].r_offset == offset)
			return fills_slot(caller, &caller->calls[index], name);
	}
	return is_shared_slot_of(caller, offset, name);
}

/* True if the address is in libc.  Looks only at objects that stay. */
static bool is_in_libc(struct caller *caller, uintptr_t address)
{
	const struct link_map *object = caller->debug ? caller->debug->r_map : NULL;

	if (address - caller->libc < caller->libc_size)
		return true;
	if (address - caller->base < (uintptr_t)caller->dynamic - caller->base)
		return false;
	for (; object; object = object->l_next) {
		uintptr_t base = object->l_addr, size = (uintptr_t)object->l_ld - base;

		if (address - base < size) {
			if (libcosy_object_role(libcosy_object_soname(base, object->l_ld)) ==
			    COSY_OBJECT_OTHER)
				return false;
			caller->libc = base;
			caller->libc_size = size;
			return true;
		}
		if (base == caller->debug->r_ldbase)
			break;
	}
	return false;
}

enum whose {
	WHOSE_LIBC,    /* libc's */
	WHOSE_OWN,     /* the code is in the object itself */
	WHOSE_UNKNOWN, /* not bound yet, or elsewhere, or libcosy calls it */
};

static enum whose call_whose(struct caller *caller, const struct cosy_replaced *call)
{
	const char *name = (const char *)&call->name + call->name;
	const uintptr_t *slot;

	if (!call->where)
		return WHOSE_UNKNOWN;
	if (!caller->dynamic)
		return WHOSE_OWN;
	slot = plt_slot((const uint8_t *)&call->where + call->where);
	if (!slot || !is_slot_of(caller, slot, name))
		return WHOSE_OWN;
	/* Another thread may bind it now. */
	return is_in_libc(caller, __atomic_load_n(slot, __ATOMIC_RELAXED)) ? WHOSE_LIBC
									   : WHOSE_UNKNOWN;
}

/*
 * True if a call in a statically linked program reaches another definition than libc's: the
 * linker takes archives in order, the program's own first, then libcosy.a, then libc.a, so an
 * address tells whose it is, next to that of one in .text (CMakeLists.txt).  No PLT entry is taken
 * for libc's, since functions that system calls stand for have none there.
 */
static bool is_before_libc(const struct cosy_replaced *call)
{
	return call->where &&
	       (uintptr_t)&call->where + (intptr_t)call->where < (uintptr_t)libcosy_tier_earned;
}

/* --- Functions that are not bound yet ---------------------------------------------------- */

/* Returns the first function that no sanitizer checks and that the object may define, or count. */
static unsigned int object_first_defined(uintptr_t base, const void *dynamic,
					 const struct verdict *verdict)
{
	struct libcosy_object object;
	unsigned int i = 0;

	if (!libcosy_object_open(base, dynamic, &object) ||
	    libcosy_object_role(object.soname) != COSY_OBJECT_OTHER)
		return verdict->count;
	while (i < verdict->count &&
	       (verdict->checked >> i & 1 || !libcosy_object_has(&object, &verdict->functions[i])))
		i++;
	return i;
}

/*
 * True if no object before libc may define one of the functions.  `linked`: each has a PLT
 * entry, as no function has that the program itself defines.
 */
static bool only_libc_defines(const struct caller *caller, const struct verdict *verdict,
			      bool linked)
{
	const struct link_map *object = caller->debug ? caller->debug->r_map : NULL;

	if (object && linked && object->l_ld == caller->dynamic)
		object = object->l_next;
	for (; object && object->l_addr != caller->debug->r_ldbase; object = object->l_next) {
		if (libcosy_object_is_vdso(object->l_name))
			continue;
		if (object->l_prev &&
		    libcosy_object_role(libcosy_object_soname(object->l_addr, object->l_ld)) ==
			    COSY_OBJECT_LIBC)
			return true;
		if (object_first_defined(object->l_addr, object->l_ld, verdict) < verdict->count)
			return false;
	}
	return false;
}

/*
 * Looks at one object more for a library that may have been loaded such that others, or itself, are
 * searched before libc.  Nothing tells that, so none may define the functions.
 */
static int object_look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct verdict *verdict = arg;
	const void *dynamic = NULL;
	unsigned int function;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (libcosy_object_is_vdso(info->dlpi_name))
		return 0;
	function = object_first_defined(info->dlpi_addr, dynamic, verdict);
	if (function < verdict->count)
		say_whose(verdict, function, info->dlpi_name);
	return verdict->broken;
}

/* --- All of a region --------------------------------------------------------------------- */

static bool functions_are_libcs(struct caller *caller, const struct cosy_replaced *calls,
				unsigned int count, char *why, size_t size)
{
	struct libcosy_function functions[MAX_FUNCTIONS];
	struct verdict verdict = {.why = why, .size = size, .functions = functions};
	uint64_t own = 0, before = 0;
	bool linked = true;

	for (unsigned int i = 0; i < count; i++) {
		enum whose whose = call_whose(caller, &calls[i]);

		if (whose == WHOSE_LIBC)
			continue;
		linked &= calls[i].where != 0;
		own |= (uint64_t)(whose == WHOSE_OWN) << verdict.count;
		before |= (uint64_t)is_before_libc(&calls[i]) << verdict.count;
		functions[verdict.count].name = (const char *)&calls[i].name + calls[i].name;
		functions[verdict.count++].hash = calls[i].hash;
	}
	if (!verdict.count)
		return true;
	if (own || !only_libc_defines(caller, &verdict, linked)) {
		if (!libcosy_each_interposer(functions, verdict.count, object_found, &verdict))
			own = before;
		else
			own &= ~verdict.checked;
		if (own)
			say_whose(&verdict, (unsigned int)__builtin_ctzll(own), "");
	}
	if (!verdict.broken && caller_may_be_audited(caller))
		say_audited(&verdict);
	else if (!verdict.broken && caller_is_late(caller))
		dl_iterate_phdr(object_look, &verdict);
	return !verdict.broken;
}

/* Returns whether no call is one of those functions, or their layout is the one that is known. */
static bool layout_is_known(const struct cosy_replaced *calls, unsigned int count,
			    bool (*is_of)(const char *), bool (*is_known)(void))
{
	for (unsigned int i = 0; i < count; i++)
		if (is_of((const char *)&calls[i].name + calls[i].name))
			return is_known();
	return true;
}

/* Returns whether none of the calls relies on a layout of libc's that is another one here. */
static bool layouts_are_known(const struct cosy_replaced *calls, unsigned int count, char *why,
			      size_t size)
{
	if (!layout_is_known(calls, count, libcosy_is_of_streams, libcosy_streams_are_known)) {
		snprintf(why, size, "directory streams are not glibc's as they are known");
		return false;
	}
	if (!layout_is_known(calls, count, libcosy_is_of_heap, libcosy_blocks_are_known)) {
		snprintf(why, size, "blocks of malloc are not glibc's as they are known");
		return false;
	}
	return true;
}

bool libcosy_premises_hold(const struct cosy_premises *premises, char *why, size_t size)
{
	struct caller caller;

	if (premises->count)
		caller_find(&caller, premises);
	for (unsigned int i = 0; i < premises->count; i += MAX_FUNCTIONS) {
		unsigned int count = premises->count - i;

		if (count > MAX_FUNCTIONS)
			count = MAX_FUNCTIONS;
		if (!functions_are_libcs(&caller, premises->calls + i, count, why, size))
			return false;
	}
	return layouts_are_known(premises->calls, premises->count, why, size);
}
