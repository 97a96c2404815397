/* Faults at the n-th change of the files under a folder, for tests: preloaded, then armed from inside the process.
 *
 * Counts every call that changes a file there (writes, truncations, renames, removals, syncs). In mode KILL the process
 * kills itself just before the n-th; in mode FULL calls that need room fail with ENOSPC, from the n-th on, `count` times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT = 0, KILL = 1, FULL = 2 };

static char prefix[4096];
static size_t prefix_length;
static int mode;
static long first, last;
static int error_number = ENOSPC;
static char synced[4096];
static atomic_long calls;

void fault_arm(const char *folder, int what, long n, long count) {
    mode = what;
    first = n;
    last = n + count;
    atomic_store(&calls, 0);
    strncpy(prefix, folder, sizeof prefix - 1);
    prefix_length = strlen(prefix);
}

/* What calls that fail say: ENOSPC unless told otherwise. */
void fault_error(int number) { error_number = number; }

/* From now on a copy of every file is kept there as it was when it was last synced. */
void fault_keep(const char *folder) { strncpy(synced, folder, sizeof synced - 1); }

long fault_calls(void) { return atomic_load(&calls); }

static int ours_path(const char *path) { return prefix_length && strncmp(path, prefix, prefix_length) == 0; }

static int ours(int fd) {
    char link[64], path[4096];
    if (!prefix_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return ours_path(path);
}

/* Whether the call has to fail for want of room. */
static int strikes(int needs_room) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (mode == KILL && number == first) kill(getpid(), SIGKILL);
    return mode == FULL && needs_room && number >= first && number < last;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define NO_ROOM do { errno = error_number; return -1; } while (0)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (ours(fd) && strikes(1)) NO_ROOM;
    return real(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (ours(fd) && strikes(1)) NO_ROOM;
    return real(fd, parts, count);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    if (ours(fd) && strikes(1)) NO_ROOM;
    return real(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    if (ours(fd) && strikes(1)) NO_ROOM;
    return real(fd, data, size, at);
}

static int grows(int fd, off64_t size) {
    struct stat now;
    return fstat(fd, &now) == 0 && size > now.st_size;
}

int ftruncate(int fd, off_t size) {
    REAL(int, ftruncate, int, off_t);
    if (ours(fd) && strikes(grows(fd, size))) NO_ROOM;
    return real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    if (ours(fd) && strikes(grows(fd, size))) NO_ROOM;
    return real(fd, size);
}

int posix_fallocate(int fd, off_t at, off_t size) {
    REAL(int, posix_fallocate, int, off_t, off_t);
    if (ours(fd) && strikes(1)) return ENOSPC;
    return real(fd, at, size);
}

int posix_fallocate64(int fd, off64_t at, off64_t size) {
    REAL(int, posix_fallocate64, int, off64_t, off64_t);
    if (ours(fd) && strikes(1)) return ENOSPC;
    return real(fd, at, size);
}

/* What would be left of a file if the power failed now: a copy as it is, in the folder of what was synced. */
static void keep(int fd) {
    char link[64], path[4096], name[8192], block[65536];
    struct stat now;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) return;
    path[length] = 0;
    for (char *at = path + prefix_length; *at; at++)
        if (*at == '/') *at = '%';
    snprintf(name, sizeof name, "%s/%s", synced, path + prefix_length);
    int from = open(link, O_RDONLY | O_CLOEXEC), to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (from >= 0 && to >= 0 && (length = read(from, block, sizeof block)) > 0)
        if (write(to, block, length) != length) abort();
    close(from);
    close(to);
}

int fsync(int fd) {
    REAL(int, fsync, int);
    int counts = ours(fd);
    if (counts) strikes(0);
    int result = real(fd);
    if (counts && synced[0] && result == 0) keep(fd);
    return result;
}

int fdatasync(int fd) {
    REAL(int, fdatasync, int);
    int counts = ours(fd);
    if (counts) strikes(0);
    int result = real(fd);
    if (counts && synced[0] && result == 0) keep(fd);
    return result;
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (ours_path(to)) strikes(0);
    return real(from, to);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (ours_path(path)) strikes(0);
    return real(path);
}
