/*
 * objname.h: the text of a call's frame: "read pipe:[*]", "poll 5 fds", "nanosleep",
 * "connect 127.0.0.1:5432", and what sort of wait it was.
 *
 * Numbers that differ from run to run (inodes, ports the kernel gave out, runs of four
 * and more digits in paths) become a star so that stacks merge, unless `keep`. Control
 * characters become '?': file names are hostile. At most OBJNAME_MAX bytes; of a longer
 * text the end is kept. Calls that do the same have one name ("recv" for recvfrom,
 * "nanosleep" for clock_nanosleep).
 */
#ifndef FLAME_TRACER_OBJECTS_OBJNAME_H
#define FLAME_TRACER_OBJECTS_OBJNAME_H

#include "common/trace_format.h"
#include "tracer/objects/objects.h"
#include "tracer/offcpu/sink.h"

#define OBJNAME_MAX 256

/*
 * The frame of the call on `object`; the thread is at a stop in it, or asleep. False: it
 * is a futex in a module's data, to be named by its address (TRACE_NODE_FUTEX); `out`
 * then says "futex".
 */
bool objname_call(struct objects *o, const struct objects_call *call,
                  const struct off_object *object, size_t set_size, bool keep, struct strbuf *out);

/* The descriptor of a call whose frame is the same as long as it is on the same object, of the same
 * process, by this descriptor: that of a pipe or a connection. -1: it is to be made anew. */
int objname_cacheable_fd(int nr, const uint64_t args[6], const struct off_object *object);

/* Whether the text of a call on a descriptor says what that is: else it could not be asked. */
bool objname_is_whole(int nr, const struct strbuf *text);

enum trace_off_kind objname_kind(int nr, const struct off_object *object);

/* A path (or any text) made safe and its numbers stars. For tests and fuzz targets. */
void objname_path(const char *path, size_t len, bool keep, struct strbuf *out);

#endif
