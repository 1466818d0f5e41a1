/*
 * Any bytes as the memory of a process with a Python interpreter. They lie at a fixed address,
 * which pointers in the corpus lead to. The first byte picks the interpreter's version; its runtime
 * begins at the second word.
 */
#define _GNU_SOURCE
#include "tracer/stacks/python_chain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE ((uintptr_t)0x10000000) /* not in the shadow of a sanitizer */
#define SIZE ((size_t)65536)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *map_memory(void)
{
    void *at = mmap((void *)BASE, SIZE, PROT_READ | PROT_WRITE, /* NOLINT */
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (at != (void *)BASE) /* NOLINT */
        abort();
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned long versions[] = {0x030b00f0, 0x030c00f0, 0x030d00f0,
                                             0x030e00f0, 0x030f00f0, 0x031000f0};
    static unsigned long version;
    static uint8_t *memory;
    const struct python_function *f;
    struct python_chains *c;
    struct python_process p = {.pid = 1, .at = {BASE + 8, (uintptr_t)&version}};

    if (!memory)
        memory = map_memory();
    if (!size || size > SIZE)
        return 0;
    memcpy(memory, data, size);
    memset(memory + size, 0, SIZE - size);
    version = versions[data[0] % (sizeof versions / sizeof *versions)];
    c = python_chains_new();
    /* The corpus has 1 for the thread's number. */
    for (int i = 0; i < 2; i++) {
        size_t n = python_chain_read_as(c, &p, gettid(), 1, &f);

        if (n > PYTHON_FUNCTIONS_MOST)
            abort();
        for (size_t k = 0; k < n; k++)
            if (f[k].name && (f[k].name->len > 1000 || memcmp(f[k].name->text, "py::", 4) != 0))
                abort();
        memory[size - 1] ^= 1; /* the second reading follows the plan of the first */
    }
    python_chains_free(c);
    return 0;
}
