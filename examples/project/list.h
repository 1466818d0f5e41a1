/* list.h: a list of words, for the tests beside it. */
#ifndef LIST_H
#define LIST_H

struct list;

/* Puts a copy of word before list (NULL: an empty one) and returns the longer list, or NULL without
 * memory. */
struct list *list_push(struct list *list, const char *word);

/* Frees a list and its words. */
void list_free(struct list *list);

#endif
