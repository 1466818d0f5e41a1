#include "driver/leak/regionreport.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "driver/leak/leak_text.h"
#include "render/text/value.h"

#define LINES_SHOWN 20

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Regions of several programs may have one name. */
static size_t count_names(const struct leak_list *list)
{
    const char **names = xcalloc(list->n, sizeof *names);
    size_t n = 0, different = 0;

    for (size_t i = 0; i < list->n; i++)
        if (list->leaks[i].class == LEAK_REGION)
            names[n++] = list->leaks[i].region;
    if (n)
        qsort(names, n, sizeof *names, by_text);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || strcmp(names[i - 1], names[i]) != 0;
    free(names);
    return different;
}

void regions_print(const struct leak_list *list, const struct leak_groups *groups)
{
    struct strbuf sb = STRBUF_INIT;
    size_t names = count_names(list);

    if (!names)
        return;
    value_add_blocks(&sb, leak_list_bytes(list, true), leak_list_blocks(list, true));
    strbuf_addstr(&sb, " left behind by ");
    value_add_counted(&sb, names, "region", "regions");
    flame_warn("leak: %s:", sb.buf);
    strbuf_release(&sb);
    leak_text_print(groups, true, LINES_SHOWN);
}
