/*
 * process_tree.h: ancestry of the processes that left traces of memory.
 *
 * A trace is of one program in one process: a process that executes another program leaves
 * several, and a forked child one of its own. Each trace's header has its process id, its
 * parent's id, and when it began. The parent of a process is the program that ran under its
 * parent's id when it began; so a reused id stands for the process that had it last before then.
 * Processes of different pid namespaces are kept apart.
 *
 * A process has no ancestors here if its parent was not recorded (a static program, say), had
 * ended before the child was recorded, or is in another pid namespace.
 *
 * Not thread-safe.
 */
#ifndef FLAME_FOLD_ANALYSIS_PROCESS_TREE_H
#define FLAME_FOLD_ANALYSIS_PROCESS_TREE_H

#include "common/trace/trace_reader.h"

struct process_tree;

/* `pids`: an ancestor's frame has its process id, as with fold_options.pid. */
struct process_tree *process_tree_new(bool pids);
void process_tree_free(struct process_tree *p); /* NULL is allowed */

/* Adds a process. The same trace may be added twice; a trace of waiting, which is of many
 * processes, adds none. */
void process_tree_add(struct process_tree *p, const struct trace *t);

/* Adds the process of a trace file, of which only the header is read until a descendant asks for
 * more. A file that is no trace, or not yet one, is ignored. One of several traces in a file adds
 * the processes of all of them, as its ancestors are among them. */
void process_tree_add_file(struct process_tree *p, const char *path);

/*
 * Sets t->ancestors and t->is_fork of a memory trace, from all processes that were added.
 * Ancestors that are added later may be missing, but a parent's trace is there before its
 * child's.
 */
void process_tree_place(struct process_tree *p, struct trace *t);

/* Outermost frame where there are more ancestors than PROCTREE_ANCESTORS_MAX, the number of
 * frames that are kept. */
#define PROCTREE_MORE "[more ancestors]"
#define PROCTREE_ANCESTORS_MAX 64

#endif
