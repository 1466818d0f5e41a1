/*
 * procmem.h: reads and writes the memory of another process through /proc/PID/mem.
 *
 * Writes reach pages that the process itself may not write to (code, RELRO); the process then gets
 * a private copy of such a page. Addresses may be invalid. Not thread-safe.
 */
#ifndef FLAME_INJECT_MEMORY_PROCMEM_H
#define FLAME_INJECT_MEMORY_PROCMEM_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct held_memory;

struct procmem {
    pid_t pid;
    int fd;
    /* For tests and the fuzz target: these bytes, at address `base`, are the memory. NULL: the
     * memory is the process's. */
    const uint8_t *bytes;
    uintptr_t base;
    size_t size;
    /* The memory is this copy; NULL: it is not a copy. It cannot be written to. */
    const struct held_memory *held;
};

/* 0, or -errno. */
int procmem_open(struct procmem *m, pid_t pid);
void procmem_close(struct procmem *m);

/* Reads or writes the whole range. False: not all of it is mapped. */
bool procmem_read(const struct procmem *m, uintptr_t at, void *to, size_t size);
bool procmem_write(const struct procmem *m, uintptr_t at, const void *from, size_t size);

/* Reads a NUL-terminated text of less than `size` bytes. */
bool procmem_text(const struct procmem *m, uintptr_t at, char *to, size_t size);

#endif
