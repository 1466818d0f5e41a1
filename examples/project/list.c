#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "flamemem.h"

struct list {
    struct list *next;
    char *word;
};

struct list *list_push(struct list *list, const char *word)
{
    struct list *longer;

    /* In pictures of memory, allocations from here on are above a frame [tag: list]. */
    flamemem_tag_push("list");
    longer = malloc(sizeof *longer);
    if (longer) {
        longer->next = list;
        longer->word = strdup(word);
    }
    flamemem_tag_pop();
    return longer;
}

void list_free(struct list *list)
{
    while (list) {
        struct list *next = list->next;

        free(list->word);
        free(list);
        list = next;
    }
}
