#define _GNU_SOURCE
#include "preload/runtime/run_status_client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/basename.h"
#include "common/kernel.h"
#include "common/clock.h"
#include "preload/runtime/config.h"
#include "unwind/sharedrules.h"

static struct run_status *notes;
static bool
    gone; /* the file and the run's directory no longer exist, or lie outside this process's root */

/* Maps the file, if it is a regular one of at least the right size. Returns an address or
 * -errno. */
static long map_file(int fd)
{
    struct stat st;
    long err = kernel_fstat(fd, &st);

    if (err < 0)
        return err;
    if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof *notes)
        return -EINVAL;
    return kernel_call(SYS_mmap, NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
}

/* Root directory of the process when it began, and of the processes that it was forked from. */
static struct {
    uint64_t device, inode; /* 0: not known */
} root;

static bool look_at_root(uint64_t *device, uint64_t *inode)
{
    struct stat st;

    if (kernel_call(SYS_newfstatat, AT_FDCWD, "/", &st, 0) != 0)
        return false;
    *device = st.st_dev;
    *inode = st.st_ino;
    return true;
}

enum unrecorded_why run_status_out_of_sight(void)
{
    uint64_t device, inode;

    if (root.inode && look_at_root(&device, &inode) && device == root.device && inode == root.inode)
        return UNRECORDED_COVERED;
    return UNRECORDED_OUT_OF_SIGHT;
}

int run_status_open(const char *path)
{
    int fd = kernel_open(path, O_RDWR | O_NOFOLLOW, 0);
    struct run_status *at;
    long p;

    if (fd < 0) {
        gone = fd == -ENOENT;
        return fd;
    }
    p = map_file(fd);
    kernel_call(SYS_close, fd);
    if (kernel_failed(p))
        return (int)p;
    at = (struct run_status *)p;
    if (memcmp(at->magic, RUN_STATUS_MAGIC, sizeof at->magic) != 0) {
        kernel_call(SYS_munmap, at, sizeof *at);
        return -EINVAL;
    }
    notes = at;
    look_at_root(&root.device, &root.inode);
    return 0;
}

static bool beside(const char *path, const char *name, char *out, size_t size)
{
    size_t len = (size_t)(base_name(path) - path);

    if (len + strlen(name) + 1 > size)
        return false;
    memcpy(out, path, len);
    memcpy(out + len, name, strlen(name) + 1);
    return true;
}

void run_status_share_rules(const char *path)
{
    char rules[CONFIG_PATH_MAX];
    struct stat st;
    long p = -1;
    int fd;

    if (!notes || !__atomic_load_n(&notes->rules, __ATOMIC_RELAXED) ||
        !beside(path, RUN_STATUS_RULES, rules, sizeof rules))
        return;
    fd = kernel_open(rules, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0)
        return;
    if (kernel_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == SHAREDRULES_SIZE)
        p = kernel_call(SYS_mmap, NULL, SHAREDRULES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                        0L);
    kernel_call(SYS_close, fd);
    if (!kernel_failed(p))
        sharedrules_use((void *)p);
}

bool run_status_detach(const void *at)
{
    if (at && sharedrules_drop(at))
        return true;
    return notes && (uintptr_t)at - (uintptr_t)notes < sizeof *notes &&
           !kernel_failed(kernel_call(SYS_mmap, notes, sizeof *notes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L));
}

bool run_status_have(void)
{
    return notes != NULL;
}

bool run_status_over(void)
{
    return gone || (notes && (__atomic_load_n(&notes->over, __ATOMIC_RELAXED) ||
                              __atomic_load_n(&notes->disk_full_ns, __ATOMIC_RELAXED)));
}

bool run_status_take_disk(uint64_t bytes)
{
    uint64_t left, taken, not_yet = 0;

    if (!notes || !notes->disk_limit)
        return true;
    left = notes->disk_limit + __atomic_load_n(&notes->disk_given_back, __ATOMIC_RELAXED);
    taken = __atomic_add_fetch(&notes->disk_taken, bytes, __ATOMIC_RELAXED);
    if (taken <= left)
        return !run_status_over();
    __atomic_sub_fetch(&notes->disk_taken, bytes, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&notes->disk_full_ns, &not_yet, clock_ns(CLOCK_MONOTONIC), false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return false;
}

uint32_t run_status_add(enum unrecorded_why why, int err, uint32_t pid, const char *path)
{
    const char *name = base_name(path);
    struct run_status_process *note;
    uint32_t slot;

    if (!notes)
        return 0;
    slot = __atomic_fetch_add(&notes->used, 1, __ATOMIC_RELAXED);
    if (slot >= RUN_STATUS_MAX)
        return 0;
    note = &notes->notes[slot];
    note->pid = pid;
    note->err = (uint16_t)err;
    memcpy(note->name, name, strnlen(name, sizeof note->name));
    __atomic_store_n(&note->why, (uint16_t)why, __ATOMIC_RELEASE);
    return slot + 1;
}

void run_status_take_back(uint32_t slot)
{
    if (slot)
        __atomic_store_n(&notes->notes[slot - 1].why, (uint16_t)UNRECORDED_NONE, __ATOMIC_RELEASE);
}

void run_status_set_pid(uint32_t slot, uint32_t pid)
{
    if (slot)
        notes->notes[slot - 1].pid = pid;
}

int run_status_take_spare(void)
{
    uint32_t taken, made;

    if (!notes)
        return -1;
    taken = __atomic_load_n(&notes->spares_taken, __ATOMIC_RELAXED);
    made = __atomic_load_n(&notes->spares_made, __ATOMIC_RELAXED);
    if ((int32_t)(made - taken) <= 0 ||
        !__atomic_compare_exchange_n(&notes->spares_taken, &taken, taken + 1, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return -1;
    return (int)(taken % RUN_STATUS_SPARES);
}
