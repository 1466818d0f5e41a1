/* Where a thread's data and the C library's record of it lie, as the processor's ABI has it. */
#include "common/processor/control_block.h"

#include <pthread.h>

#include "tests/tap.h"

#define KIB 1024u

static __thread char data[32 * KIB];

static void look(const char *thread)
{
    uintptr_t at = arch_thread_pointer(), end = control_block_end(at, 4 * KIB);

    data[0] = 1;
    ok(control_block_has(at, (uintptr_t)data), "%s: its first data is found", thread);
    ok(control_block_has(at, (uintptr_t)data + sizeof data - 1), "%s: its last data is found",
       thread);
    ok(control_block_has(at, (uintptr_t)pthread_self()), "%s: the C library's record is found",
       thread);
    ok((uintptr_t)data + sizeof data <= end && (uintptr_t)pthread_self() < end,
       "%s: all of it lies before the end", thread);
    ok(!control_block_has(at, at + 32 * CONTROL_BLOCK_DATA), "%s: other memory is not its", thread);
}

static void *run(void *arg)
{
    look("a thread");
    return arg;
}

int main(void)
{
    pthread_t t;
    int err;

    look("the first thread");
    err = pthread_create(&t, NULL, run, NULL);
    if (!err)
        pthread_join(t, NULL);
    ok(!err, "a thread starts");
    return done_testing();
}
