// SPDX-License-Identifier: MIT
/* refusal.c - see refusal.h. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "refusal.h"

/* The key that DKMS signs with; its certificate is what the firmware's list has to contain. */
static const char *const certificates[] = {
	"/var/lib/dkms/mok.pub", "/var/lib/shim-signed/mok/MOK.der", /* Ubuntu */
};

#define SECURE_BOOT "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

__attribute__((format(printf, 2, 3))) static void what(struct refusal *ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret->what, sizeof(ret->what), format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void advice(struct refusal *ret, const char *format,
							 ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret->advice, sizeof(ret->advice), format, args);
	va_end(args);
}

/* Reads at most size - 1 bytes up to the first newline; false when there are none. */
static bool line_read(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd < 0)
		return false;
	got = read(fd, ret, size - 1);
	close(fd);
	if (got <= 0)
		return false;
	ret[got] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

/* --- The module ------------------------------------------------------------------------------ */

enum installed { INSTALLED, NOT_INSTALLED, NOT_KNOWN };

/* Looks for the module among those of a kernel, compressed or not. */
static enum installed module_installed(const char *release)
{
	char path[PATH_MAX], *line = NULL;
	enum installed found = NOT_INSTALLED;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	if (!file)
		return NOT_KNOWN;
	while (found == NOT_INSTALLED && getline(&line, &size, file) > 0) {
		const char *end = strchr(line, ':'), *name;

		if (!end)
			continue;
		for (name = end; name > line && name[-1] != '/'; name--)
			;
		if (!strncmp(name, "cosy.ko", 7))
			found = INSTALLED;
	}
	free(line);
	fclose(file);
	return found;
}

/* The kernel has the module's headers, without which DKMS cannot build it. */
static bool headers_installed(const char *release)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/include", release);
	return !access(path, F_OK);
}

/* Names what demands signatures, in words that a user can search for; NULL if nothing does. */
static const char *signatures_demanded(void)
{
	char text[80];
	int fd = open(SECURE_BOOT, O_RDONLY | O_CLOEXEC);
	unsigned char variable[5] = {0}; /* attributes, then the value */
	bool secure = false;

	if (fd >= 0) {
		secure = read(fd, variable, sizeof(variable)) == sizeof(variable) && variable[4];
		close(fd);
	}
	if (line_read("/sys/kernel/security/lockdown", text, sizeof(text)) &&
	    !strstr(text, "[none]"))
		return secure ? "Secure Boot, lockdown" : "lockdown";
	if (line_read("/sys/module/module/parameters/sig_enforce", text, sizeof(text)) &&
	    text[0] == 'Y')
		return secure ? "Secure Boot" : "module.sig_enforce";
	return NULL;
}

static void signature_explain(const char *demand, struct refusal *ret)
{
	const char *certificate = NULL;

	for (size_t i = 0; !certificate && i < sizeof(certificates) / sizeof(*certificates); i++)
		if (!access(certificates[i], F_OK))
			certificate = certificates[i];
	if (!certificate) {
		what(ret,
		     ": this kernel loads signed modules only (%s), and DKMS has no key here to "
		     "sign with",
		     demand);
		advice(ret, "as root: dkms generate_mok (on Debian 12 dkms build creates the key), "
			    "dkms build --force cosy, then mokutil --import /var/lib/dkms/mok.pub");
		return;
	}
	what(ret, ": this kernel loads signed modules only (%s); DKMS signs with the key of %s",
	     demand, certificate);
	advice(ret,
	       "as root: mokutil --import %s, restart, choose \"Enroll MOK\" and enter the same "
	       "password; then modprobe cosy",
	       certificate);
}

void refusal_of_module(const char *release, struct refusal *ret)
{
	const char *demand = signatures_demanded();
	char disabled[8];

	*ret = (struct refusal){"", ""};
	if (access("/proc/modules", F_OK)) {
		what(ret, ": this kernel loads no modules");
		advice(ret, "start another kernel (in the source tree: make vm)");
	} else if (line_read("/proc/sys/kernel/modules_disabled", disabled, sizeof(disabled)) &&
		   disabled[0] == '1') {
		what(ret, ": kernel.modules_disabled is 1 until the next boot");
		advice(ret, "for every boot, as root: echo cosy > /etc/modules-load.d/cosy.conf; "
			    "then restart");
	} else if (module_installed(release) == NOT_INSTALLED) {
		what(ret, ": it is not built for this kernel");
		if (!headers_installed(release))
			advice(ret,
			       "as root: apt install cosy-dkms linux-headers-%s, and modprobe cosy",
			       release);
		else
			advice(ret,
			       "as root: apt install cosy-dkms, or dkms install cosy/%s -k %s; "
			       "then modprobe cosy",
			       COSY_PROJECT_VERSION, release);
	} else if (demand) {
		signature_explain(demand, ret);
	} else {
		advice(ret, "as root: modprobe cosy");
	}
}

/* --- The device ------------------------------------------------------------------------------ */

static bool in_groups(gid_t group)
{
	gid_t groups[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, groups);

	for (int i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return getegid() == group;
}

/* The device's owner and mode let this process read and write. */
static bool mode_permits(const struct stat *st)
{
	unsigned int bits = st->st_mode;

	if (!geteuid())
		return true;
	if (st->st_uid == geteuid())
		bits >>= 6;
	else if (in_groups(st->st_gid))
		bits >>= 3;
	return (bits & 6) == 6;
}

/* The user is listed in the group, whatever this session's processes have. */
static bool is_member(const struct group *group, const char *user)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, user))
			return true;
	return false;
}

static void group_explain(const char *device, const char *name, const struct stat *st,
			  struct refusal *ret)
{
	const struct passwd *user = getpwuid(getuid());
	const char *login = user ? user->pw_name : "YOUR-NAME";
	const struct group *group = getgrnam(name);

	if (!group) {
		what(ret, ": there is no group %s", name);
		advice(ret, "as root: systemd-sysusers, then udevadm trigger %s", device);
		return;
	}
	if (st->st_gid != group->gr_gid || (st->st_mode & 060) != 060) {
		what(ret, ": it is not given to group %s", name);
		advice(ret, "as root: udevadm control --reload && udevadm trigger %s", device);
		return;
	}
	if (is_member(group, login)) {
		what(ret, ": you are in group %s, but this session is older", name);
		advice(ret, "log in again, or: newgrp %s", name);
		return;
	}
	what(ret, ": you are not in group %s", name);
	advice(ret, "as root: adduser %s %s    (and log in again)", login, name);
}

/* Names the security module that confines this process; its label without the mode. */
static const char *confinement(char *label, size_t size)
{
	char enforce[8];

	if (line_read("/proc/self/attr/apparmor/current", label, size) &&
	    strcmp(label, "unconfined")) {
		label[strcspn(label, " ")] = '\0';
		return "AppArmor";
	}
	if (line_read("/sys/fs/selinux/enforce", enforce, sizeof(enforce)) && enforce[0] == '1' &&
	    line_read("/proc/self/attr/current", label, size))
		return "SELinux";
	return NULL;
}

void refusal_of_device(const char *device, const char *group, int error, struct refusal *ret)
{
	char label[100];
	const char *module;
	struct statvfs mount;
	struct stat st;

	*ret = (struct refusal){"", ""};
	if (error == ENOENT) {
		what(ret, ": it is not in /dev, as in containers that were not given it");
		advice(ret, "podman or docker run --device %s; otherwise, as root: udevadm trigger",
		       device);
		return;
	}
	if ((error != EACCES && error != EPERM) || stat(device, &st))
		return;
	if (!mode_permits(&st)) {
		group_explain(device, group, &st, ret);
		return;
	}
	if (error == EPERM) {
		what(ret, ": the control group's rules for devices refuse it");
		advice(ret,
		       "podman or docker run --device %s; for a service, in its unit: "
		       "DeviceAllow=%s rw",
		       device, device);
		return;
	}
	if (!statvfs(device, &mount) && (mount.f_flag & ST_NODEV)) {
		what(ret, ": it lies on a file system that is mounted with nodev");
		advice(ret, "podman or docker run --device %s", device);
		return;
	}
	module = confinement(label, sizeof(label));
	if (module && !strcmp(module, "AppArmor")) {
		what(ret, ": the AppArmor profile %s refuses it", label);
		advice(ret,
		       "add the line `%s rw,` to that profile in /etc/apparmor.d, then as root: "
		       "systemctl reload apparmor",
		       device);
		return;
	}
	if (module) {
		what(ret, ": SELinux refuses it to %s", label);
		advice(ret, "as root: ausearch -m avc -c cosy | audit2allow -M cosylocal && "
			    "semodule -i cosylocal.pp");
		return;
	}
	what(ret, ": its mode allows it, and a security module refuses it");
	advice(ret, "as root: dmesg | grep -i -e denied -e audit");
}
