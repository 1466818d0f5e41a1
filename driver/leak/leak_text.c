#include "driver/leak/leak_text.h"

#include "common/error.h"

void leak_text_print(const struct leak_groups *groups, bool regions, size_t most)
{
    struct strbuf sb = STRBUF_INIT;
    size_t n = 0;

    for (size_t i = 0; i < groups->n; i++) {
        if ((groups->group[i].leak->class == LEAK_REGION) != regions || n++ >= most)
            continue;
        strbuf_clear(&sb);
        leak_group_add(&sb, &groups->group[i]);
        flame_warn("  %s", sb.buf);
    }
    if (n > most)
        flame_warn("  and %zu more", n - most);
    strbuf_release(&sb);
}
