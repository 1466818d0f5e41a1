/*
 * objname.h: the text of a call's frame: "read pipe:[*]", "poll 5 fds", "nanosleep", "connect
 * 127.0.0.1:5432", and the kind of wait.
 *
 * Numbers that differ from run to run (inodes, ports that the kernel assigned, runs of four and
 * more digits in paths) become a star so that stacks merge, unless `keep`. Control characters
 * become '?': file names are hostile. At most OBJNAME_MAX bytes; a longer text keeps its end. Calls
 * that do the same have one name ("recv" for recvfrom, "nanosleep" for clock_nanosleep).
 */
#ifndef FLAME_TRACER_OBJECTS_OBJNAME_H
#define FLAME_TRACER_OBJECTS_OBJNAME_H

#include "common/trace_format.h"
#include "tracer/objects/objects.h"
#include "tracer/offcpu/sink.h"

#define OBJNAME_MAX 256

/*
 * The frame of the call on `object`; the thread is stopped in the call, or asleep. False: it is a
 * futex in a module's data, to be named by its address (TRACE_NODE_FUTEX); `out` is then "futex".
 */
bool objname_call(struct objects *o, const struct objects_call *call,
                  const struct off_object *object, size_t set_size, bool keep, struct strbuf *out);

/* The descriptor by which the text of a call's frame may be cached: the text of a call on a pipe or
 * a connection stays the same for the same object, process and descriptor. -1: it must be made
 * anew. */
int objname_cacheable_fd(int nr, const uint64_t args[6], const struct off_object *object);

/* Whether the text of a call on a descriptor names the object; else the object could not be read.
 */
bool objname_is_whole(int nr, const struct strbuf *text);

enum trace_off_kind objname_kind(int nr, const struct off_object *object);

/* Makes a path (or any text) safe and replaces its numbers by stars. For tests and fuzz targets. */
void objname_path(const char *path, size_t len, bool keep, struct strbuf *out);

#endif
