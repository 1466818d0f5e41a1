/*
 * jvm_names.h: has a running JVM write the names of its compiled methods, by `jcmd PID
 * Compiler.perfmap` (Java 17 and newer).
 *
 * The program jcmd is that of the JVM itself, or in PATH. It is run only for a process of the same
 * user and in the same namespaces: another user's process could name any program as its jcmd, and
 * the file that it writes would not be read.
 */
#ifndef FLAME_DRIVER_RUN_JVM_NAMES_H
#define FLAME_DRIVER_RUN_JVM_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/strbuf.h"

/* Appends the path of the libjvm.so that the process has mapped. False: it has none, has ended, or
 * its maps may not be read. */
bool jvm_names_library(pid_t pid, struct strbuf *path);

/* Appends the path of jcmd in the JVM whose libjvm.so is at `library`: HOME/bin/jcmd of
 * HOME/lib/server/libjvm.so. False: the path has another form. */
bool jvm_names_jcmd(const char *library, struct strbuf *path);

/* Has the JVM write /tmp/perf-PID.map, and waits for that for some seconds. `library` is its
 * libjvm.so. No thread of the JVM may be stopped meanwhile. False: *why says why there are no
 * names. */
bool jvm_names_write(pid_t pid, const char *library, struct strbuf *why);

#endif
