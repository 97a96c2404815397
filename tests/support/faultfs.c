/* Faults at the n-th change of the files under a folder, for tests: preloaded, then armed from inside the process.
 *
 * Counts every call that changes a file there (writes, truncations, renames, removals, syncs). In mode KILL the process
 * kills itself just before the n-th; in mode FULL calls that need room fail with ENOSPC, from the n-th on, `count` times.
 * With EROFS everything that changes a file or its name fails, as on a file system that has become read-only, and
 * statvfs says so. With a record every change is written down as it was made, so that the folder can be made again as it was between
 * any two of them (`kill_points.py`).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 0, KILL = 1, FULL = 2 };

static char prefix[4096];
static size_t prefix_length;
static int mode;
static long first, last;
static int error_number = ENOSPC;
static int record = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
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

/* From now on every change is written down in this file, which lies elsewhere. */
void fault_record(const char *file) { record = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }

long fault_calls(void) { return atomic_load(&calls); }

static int ours_path(const char *path) { return prefix_length && strncmp(path, prefix, prefix_length) == 0; }

/* Whether a descriptor leads to one of our files; its path if so. */
static int ours_at(int fd, char *path) {
    char link[64];
    if (!prefix_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length <= 0) return 0;
    path[length] = 0;
    return ours_path(path);
}

static int ours(int fd) {
    char path[4096];
    return ours_at(fd, path);
}

/* One change: kind, length of the path, position, size of the data, time; then the path below the folder, the data. */
struct change {
    int kind, path_length;
    long at, size;
    double time;
};
enum { WRITTEN = 1, TRUNCATED, RENAMED, REMOVED, SYNCED, MADE };

static void noted(const char *path, int kind, long at, const void *data, long size) {
    if (record < 0) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *below = path + prefix_length;
    struct change head = {kind, (int)strlen(below), at, size, now.tv_sec + now.tv_nsec / 1e9};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)below, strlen(below)}, {(void *)data, size}};
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    if (real(record, parts, 3) != (ssize_t)(sizeof head + strlen(below) + size)) abort();
}

/* Whether the call has to fail for want of room. */
static int strikes(int needs_room) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (mode == KILL && number == first) kill(getpid(), SIGKILL);
    return mode == FULL && needs_room && number >= first && number < last;
}

/* Whether the file system is read-only now: names and sizes cannot be changed either. */
static int read_only(void) { return mode == FULL && error_number == EROFS; }

static int is_read_only(void) {
    long number = atomic_load(&calls);
    return read_only() && number >= first && number < last;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define NO_ROOM do { errno = error_number; return -1; } while (0)

/* Of the four ways to write: the bytes that got written, where they are. */
static void noted_bytes(int fd, off64_t at, const void *data, ssize_t size) {
    char path[4096];
    if (record >= 0 && size > 0 && ours_at(fd, path)) noted(path, WRITTEN, at, data, size);
}

#define LOCKED(type, call) \
    if (record >= 0) pthread_mutex_lock(&turn); \
    type result = call
#define UNLOCKED \
    if (record >= 0) pthread_mutex_unlock(&turn); \
    return result

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (!ours(fd)) return real(fd, data, size);
    if (strikes(1)) NO_ROOM;
    LOCKED(ssize_t, real(fd, data, size));
    if (result > 0) noted_bytes(fd, lseek(fd, 0, SEEK_CUR) - result, data, result);
    UNLOCKED;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (!ours(fd)) return real(fd, parts, count);
    if (strikes(1)) NO_ROOM;
    LOCKED(ssize_t, real(fd, parts, count));
    off64_t at = lseek(fd, 0, SEEK_CUR) - result;
    ssize_t left = result;
    for (int part = 0; part < count && left > 0; part++) {
        ssize_t size = left < (ssize_t)parts[part].iov_len ? left : (ssize_t)parts[part].iov_len;
        noted_bytes(fd, at, parts[part].iov_base, size);
        at += size;
        left -= size;
    }
    UNLOCKED;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    if (!ours(fd)) return real(fd, data, size, at);
    if (strikes(1)) NO_ROOM;
    LOCKED(ssize_t, real(fd, data, size, at));
    noted_bytes(fd, at, data, result);
    UNLOCKED;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    if (!ours(fd)) return real(fd, data, size, at);
    if (strikes(1)) NO_ROOM;
    LOCKED(ssize_t, real(fd, data, size, at));
    noted_bytes(fd, at, data, result);
    UNLOCKED;
}

static off64_t size_of(int fd) {
    struct stat now;
    return fstat(fd, &now) == 0 ? now.st_size : 0;
}

static int grows(int fd, off64_t size) { return size > size_of(fd); }

int ftruncate(int fd, off_t size) {
    REAL(int, ftruncate, int, off_t);
    char path[4096];
    if (!ours_at(fd, path)) return real(fd, size);
    if (strikes(read_only() || grows(fd, size))) NO_ROOM;
    LOCKED(int, real(fd, size));
    if (result == 0) noted(path, TRUNCATED, size, 0, 0);
    UNLOCKED;
}

int ftruncate64(int fd, off64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    char path[4096];
    if (!ours_at(fd, path)) return real(fd, size);
    if (strikes(read_only() || grows(fd, size))) NO_ROOM;
    LOCKED(int, real(fd, size));
    if (result == 0) noted(path, TRUNCATED, size, 0, 0);
    UNLOCKED;
}

int truncate(const char *path, off_t size) {
    REAL(int, truncate, const char *, off_t);
    if (!ours_path(path)) return real(path, size);
    if (strikes(read_only())) NO_ROOM;
    LOCKED(int, real(path, size));
    if (result == 0) noted(path, TRUNCATED, size, 0, 0);
    UNLOCKED;
}

int truncate64(const char *path, off64_t size) {
    REAL(int, truncate64, const char *, off64_t);
    if (!ours_path(path)) return real(path, size);
    if (strikes(read_only())) NO_ROOM;
    LOCKED(int, real(path, size));
    if (result == 0) noted(path, TRUNCATED, size, 0, 0);
    UNLOCKED;
}

int posix_fallocate(int fd, off_t at, off_t size) {
    REAL(int, posix_fallocate, int, off_t, off_t);
    char path[4096];
    if (!ours_at(fd, path)) return real(fd, at, size);
    if (strikes(1)) return error_number;
    LOCKED(int, real(fd, at, size));
    if (result == 0) noted(path, TRUNCATED, size_of(fd), 0, 0);
    UNLOCKED;
}

int posix_fallocate64(int fd, off64_t at, off64_t size) {
    REAL(int, posix_fallocate64, int, off64_t, off64_t);
    char path[4096];
    if (!ours_at(fd, path)) return real(fd, at, size);
    if (strikes(1)) return error_number;
    LOCKED(int, real(fd, at, size));
    if (result == 0) noted(path, TRUNCATED, size_of(fd), 0, 0);
    UNLOCKED;
}

int fsync(int fd) {
    REAL(int, fsync, int);
    char path[4096];
    if (!ours_at(fd, path)) return real(fd);
    strikes(0);
    LOCKED(int, real(fd));
    if (result == 0) noted(path, SYNCED, 0, 0, 0);
    UNLOCKED;
}

int fdatasync(int fd) {
    REAL(int, fdatasync, int);
    char path[4096];
    if (!ours_at(fd, path)) return real(fd);
    strikes(0);
    LOCKED(int, real(fd));
    if (result == 0) noted(path, SYNCED, 0, 0, 0);
    UNLOCKED;
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (!ours_path(to)) return real(from, to);
    if (strikes(read_only())) NO_ROOM;
    LOCKED(int, real(from, to));
    if (result == 0) noted(from, RENAMED, 0, to + prefix_length, strlen(to + prefix_length));
    UNLOCKED;
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (!ours_path(path)) return real(path);
    if (strikes(read_only())) NO_ROOM;
    LOCKED(int, real(path));
    if (result == 0) noted(path, REMOVED, 0, 0, 0);
    UNLOCKED;
}

/* Files and folders that are made are no changes that are counted: an empty file says as much as none. But a file that
 * is there and is opened to be written anew loses what it held. */
static void noted_open(const char *path, int flags) {
    if (record >= 0 && ours_path(path) && flags & O_CREAT) noted(path, MADE, flags & O_TRUNC ? 1 : 0, 0, 0);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if (!ours_path(path)) return real(path, flags, permissions); \
        if (is_read_only() && flags & (O_CREAT | O_WRONLY | O_RDWR)) NO_ROOM; \
        LOCKED(int, real(path, flags, permissions)); \
        if (result >= 0) noted_open(path, flags); \
        UNLOCKED; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if (!ours_path(path)) return real(folder, path, flags, permissions); \
        if (is_read_only() && flags & (O_CREAT | O_WRONLY | O_RDWR)) NO_ROOM; \
        LOCKED(int, real(folder, path, flags, permissions)); \
        if (result >= 0) noted_open(path, flags); \
        UNLOCKED; \
    }
OPENAT(openat)
OPENAT(openat64)

#define STATVFS(name, type) \
    int name(const char *path, struct type *about) { \
        REAL(int, name, const char *, struct type *); \
        int result = real(path, about); \
        if (result == 0 && ours_path(path) && is_read_only()) about->f_flag |= ST_RDONLY; \
        return result; \
    }
STATVFS(statvfs, statvfs)
STATVFS(statvfs64, statvfs64)
