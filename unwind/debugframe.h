/*
 * debugframe.h: rules from a file's .debug_frame section, for code that has no
 * .eh_frame (-fno-asynchronous-unwind-tables, some assembler).
 *
 * The section is not mapped in the program, so it is read from the file, once a
 * module, when an address of it has no other rule. No malloc; a descriptor is open
 * only meanwhile. Thread-safe. Nothing in the file is trusted.
 */
#ifndef FLAME_UNWIND_DEBUGFRAME_H
#define FLAME_UNWIND_DEBUGFRAME_H

#include "unwind/cfi.h"
#include "unwind/modules.h"

/* The rule for `pc` in module `m`, RULE_NONE when its file has none. */
struct rule debugframe_rule(const struct module *m, uintptr_t pc);

/* Like debugframe_rule, by the file's .eh_frame section: for a module that has no search table for
 * it (PT_GNU_EH_FRAME), so that its rules cannot be found in memory. */
struct rule debugframe_unlisted(const struct module *m, uintptr_t pc);

/* In a forked child: a lock that another thread may have held is free again. */
void debugframe_after_fork(void);

#endif
