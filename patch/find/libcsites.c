#define _GNU_SOURCE
#include "patch/find/libcsites.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "patch/find/sitecache.h"
#include "patch/sitelist.h"

struct search {
    struct site_list *list;
    int result;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;

    (void)size;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    s->result = sitecache_find_in(s->list, info->dlpi_name, NULL);
    return 1;
}

int libcsites_find(struct site_list *list)
{
    static const char *const usual[] = {"/lib64/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6",
                                        "/usr/lib/libc.so.6", "/lib/libc.so.6"};
    struct search s = {list, -ENOENT};

    /* A flame that is linked statically has none of its own. Programs that use another one than the
     * system's are noticed, as sites have its build-id. */
    if (!dl_iterate_phdr(find_libc, &s))
        for (size_t i = 0; i < ARRAY_LEN(usual) && s.result; i++)
            s.result = sitecache_find_in(list, usual[i], NULL);
    return s.result;
}

static bool makes(const struct patch_site *s, int32_t number)
{
    return s->number == number && s->kind != SITE_NONE;
}

static bool is_asked_for(const struct patch_site *s, const int32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (makes(s, numbers[i]))
            return true;
    return false;
}

bool sitelist_make(struct strbuf *to, const struct site_list *from, const int32_t *numbers,
                   size_t n)
{
    struct sitelist_head head = {.magic = SITELIST_MAGIC,
                                 .version = SITELIST_VERSION,
                                 .build_id_len = (uint32_t)from->build_id_len};

    for (size_t i = 0; i < n; i++) {
        size_t at = 0;

        while (at < from->n && !makes(&from->sites[at], numbers[i]))
            at++;
        if (at == from->n)
            return false;
    }
    if (!from->build_id_len)
        return false;
    memcpy(head.build_id, from->build_id, from->build_id_len);
    for (size_t i = 0; i < from->n; i++)
        head.count += is_asked_for(&from->sites[i], numbers, n);
    strbuf_add(to, (const char *)&head, sizeof head);
    for (size_t i = 0; i < from->n; i++)
        if (is_asked_for(&from->sites[i], numbers, n))
            strbuf_add(to, (const char *)&from->sites[i], sizeof from->sites[i]);
    return true;
}
