#define _GNU_SOURCE
#include "fold/symbols/container_file.h"

#include <sys/stat.h>

#include "common/procpath.h"
#include "common/strbuf.h"

bool container_file_is_elsewhere(uint32_t pid)
{
    struct stat theirs, ours;

    return pid && stat(proc_path((pid_t)pid, "ns/mnt").s, &theirs) == 0 &&
           stat(proc_path(PROC_SELF, "ns/mnt").s, &ours) == 0 &&
           (theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev);
}

struct elfsym *container_file_open(uint32_t pid, const char *path)
{
    struct strbuf below = STRBUF_INIT;
    struct elfsym *e = NULL;

    if (container_file_is_elsewhere(pid)) {
        strbuf_addf(&below, "%s%s", proc_path((pid_t)pid, "root").s, path);
        e = elfsym_open(below.buf);
    }
    strbuf_release(&below);
    return e;
}
