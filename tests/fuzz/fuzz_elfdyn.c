/*
 * Any bytes as the file of a program, with the questions of a check before it is executed. It is
 * in memory that has a descriptor, as elfdyn.h reads descriptors.
 */
#define _GNU_SOURCE
#include "common/elfdyn.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;
static const char *const prefixes[] = {"libasan.so", "libtsan.so"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("program", MFD_CLOEXEC), len;
    char loader[64];
    struct elfdyn e;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (elfdyn_open(&e, fd)) {
        len = elfdyn_interpreter(&e, loader, sizeof loader);
        if (len > 0 && strlen(loader) != (size_t)len)
            abort();
        sink += elfdyn_needs(&e, prefixes, 2);
        sink += elfdyn_has_note(&e, "Go", 4) + elfdyn_has_note(&e, "GNU", 3);
        sink += elfdyn_defines(&e, "__asan_init") + elfdyn_defines(&e, "malloc");
    }
    close(fd);
    return 0;
}
