#include "driver/leak/leaklines.h"

#include "common/error.h"

void leak_lines_print(const struct leak_groups *groups, size_t most)
{
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < groups->n && i < most; i++) {
        strbuf_clear(&sb);
        leak_group_add(&sb, &groups->group[i]);
        flame_warn("  %s", sb.buf);
    }
    if (groups->n > most)
        flame_warn("  and %zu more", groups->n - most);
    strbuf_release(&sb);
}
