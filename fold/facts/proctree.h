/*
 * proctree.h: who descends from whom among the processes that left traces of memory.
 *
 * A trace is of one program in one process: a process that executes another program leaves
 * several, and a forked child one of its own. By the header of each (process id, parent's id,
 * when it began) the parent of a process is the program that ran in the process with its parent's
 * id when it began; so an id that was used again stands for the process that had it last before
 * then. Processes of different pid namespaces are told apart.
 *
 * A process whose parent was not recorded (a static program, say), had ended before the child
 * was recorded, or is in another pid namespace, has no ancestors here: nobody knows of any.
 *
 * Not thread-safe.
 */
#ifndef FLAME_FOLD_FACTS_PROCTREE_H
#define FLAME_FOLD_FACTS_PROCTREE_H

#include "common/trace/trace_reader.h"

struct proctree;

/* `pids`: an ancestor's frame has its process id, as with fold_options.pid. */
struct proctree *proctree_new(bool pids);
void proctree_free(struct proctree *p); /* NULL is allowed */

/* Takes note of a process. A trace may be told of twice; one of waiting is of many and none. */
void proctree_add(struct proctree *p, const struct trace *t);

/* The same of a file of which only the header is read, as long as nobody descends from it. One
 * that is no trace, or not yet, is left aside. */
void proctree_add_file(struct proctree *p, const char *path);

/*
 * Sets t->ancestors and t->is_fork of a memory trace, from all processes that were added. Those
 * of traces that are added later may be missing, but a parent's trace is there before its child's.
 */
void proctree_place(struct proctree *p, struct trace *t);

/* The outermost frame where there are more ancestors than that; and how many frames are kept. */
#define PROCTREE_MORE "[more ancestors]"
#define PROCTREE_ANCESTORS_MAX 64

#endif
