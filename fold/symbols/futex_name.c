#include "fold/symbols/futex_name.h"

#include <inttypes.h>

/* pthread_rwlock_t, the largest of the locks, has 56 bytes. */
#define LOCK_SIZE_MAX 64

void futex_name_add(struct strbuf *sb, const struct symbol_object *o, const char *module,
                    uint64_t vaddr)
{
    strbuf_addstr(sb, "futex ");
    if (o->name)
        strbuf_add(sb, o->name, o->len);
    else
        strbuf_addstr(sb, module);
    if (!o->name || (o->size > LOCK_SIZE_MAX && o->offset))
        strbuf_addf(sb, "+0x%" PRIx64, o->name ? o->offset : vaddr);
}
