#include "preload/leak/written_words.h"

void written_words(struct shadow_pages *pages, uintptr_t lo, uintptr_t hi,
                   void (*visit)(const uintptr_t *p, const uintptr_t *end, void *arg), void *arg)
{
    bool any = true;

    for (uintptr_t at = lo & -(uintptr_t)SHADOW_PAGE; at < hi;
         at += (uintptr_t)SHADOW_LEAF_PAGES * SHADOW_PAGE) {
        if (!any && (at = shadow_pages_next(pages, at, hi)) >= hi)
            break;
        any = false;
        shadow_pages_look(pages, (const void *)at, (size_t)SHADOW_LEAF_PAGES * SHADOW_PAGE);
        for (size_t i = 0; i < SHADOW_LEAF_PAGES; i++) {
            uintptr_t page = at + i * SHADOW_PAGE, end = page + SHADOW_PAGE;

            if (page >= hi)
                break;
            if (!shadow_pages_written(pages, i))
                continue;
            any = true;
            visit((const uintptr_t *)(page > lo ? page : lo),
                  (const uintptr_t *)(end < hi ? end : hi), arg);
        }
    }
}
