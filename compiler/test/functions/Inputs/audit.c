// An auditor (LD_AUDIT); -DREDIRECT: it binds getuid() to a function of its own.
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <sys/types.h>

#ifdef REDIRECT
static uid_t other(void)
{
	return 4711;
}
#endif

unsigned int la_version(unsigned int version)
{
	(void)version;
	return LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)map;
	(void)namespace;
	(void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

#ifdef REDIRECT
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *by, uintptr_t *to,
		       unsigned int *flags, const char *name)
{
	(void)index;
	(void)by;
	(void)to;
	(void)flags;
	return strcmp(name, "getuid") ? symbol->st_value : (uintptr_t)other;
}
#endif
