/*
 * procmem.h: the memory of another process, read and written through /proc/PID/mem.
 *
 * Writes reach pages that the process itself may not write to (code, RELRO), of which it then has
 * a copy of its own. Addresses are anything. Not thread-safe.
 */
#ifndef FLAME_INJECT_PROCMEM_H
#define FLAME_INJECT_PROCMEM_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct procmem {
    pid_t pid;
    int fd;
    /* For tests and the fuzz target: memory is these bytes, at address `base`; NULL: the process.
     */
    const uint8_t *bytes;
    uintptr_t base;
    size_t size;
};

/* 0, or -errno. */
int procmem_open(struct procmem *m, pid_t pid);
void procmem_close(struct procmem *m);

/* All of it; false: not all is there. */
bool procmem_read(const struct procmem *m, uintptr_t at, void *to, size_t size);
bool procmem_write(const struct procmem *m, uintptr_t at, const void *from, size_t size);

/* A NUL-terminated text of less than `size` bytes. */
bool procmem_text(const struct procmem *m, uintptr_t at, char *to, size_t size);

#endif
