/*
 * debugframe.h: rules from a file's .debug_frame section, for code that has no
 * .eh_frame (-fno-asynchronous-unwind-tables, some assembler).
 *
 * The section is not mapped in the program, so it is read from the file, once for each module, when
 * an address of the module has no other rule. No malloc; a descriptor is open only while the file
 * is read. Thread-safe. Nothing in the file is trusted.
 */
#ifndef FLAME_UNWIND_DEBUGFRAME_H
#define FLAME_UNWIND_DEBUGFRAME_H

#include "unwind/cfi.h"
#include "unwind/modules.h"

/* The rule for `pc` in module `m`. RULE_NONE: its file has none. */
struct rule debugframe_rule(const struct module *m, uintptr_t pc);

/* Like debugframe_rule, but by the file's .eh_frame section: for a module without a search table
 * for it (PT_GNU_EH_FRAME), whose rules cannot be found in memory. */
struct rule debugframe_unlisted(const struct module *m, uintptr_t pc);

/* To be called in a forked child: releases a lock that another thread may have held. */
void debugframe_after_fork(void);

/* Whether no thread is in the middle of one of these functions; for the only thread that runs. */
bool debugframe_is_free(void);

#endif
