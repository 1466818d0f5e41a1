/*
 * attachment.h for a processor on which flame cannot attach a memory recorder yet: docs/ports.md
 * says what is missing.
 */
#include "inject/attachment.h"

#include "common/error.h"

int attachment_begin(struct attachment **to, const struct attachment_options *o)
{
    (void)o;
    *to = NULL;
    return flame_error(FLAME_USAGE,
                       "processes that run are attached to on x86-64 only, and this is "
                       "aarch64: start the command under 'flame mem' (docs/ports.md)");
}

/* The rest is never called, because attachment_begin fails. */
void attachment_code(const struct attachment *a, uintptr_t *begin, uintptr_t *end)
{
    (void)a;
    *begin = *end = 0;
}

void attachment_record(struct attachment *a)
{
    (void)a;
}

bool attachment_look(struct attachment *a)
{
    (void)a;
    return false;
}

int attachment_end(struct attachment *a, struct attachment_sum *sum)
{
    (void)a;
    (void)sum;
    return FLAME_FAILED;
}
