#define _GNU_SOURCE
#include "inject/memory/held_room.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/procpath.h"

#define SPARE ((uint64_t)4 << 20)

uint64_t held_room_for(uint64_t resident, uint64_t available)
{
    bool fits = resident && resident <= HELD_MOST && resident <= available / HELD_SHARE;

    return fits ? resident + resident / 8 + SPARE : 0;
}

/* The number behind `key` at the beginning of a line of a file. False: there is none. */
static bool number(const char *path, const char *key, uint64_t *to)
{
    FILE *f = fopen(path, "re");
    size_t len = strlen(key);
    unsigned long long n;
    char line[256];
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, key, len) == 0 && sscanf(line + len, " %llu", &n) == 1;
    if (f)
        fclose(f);
    *to = found ? n : 0;
    return found;
}

/* Files of a memory control group, of either version. */
static const struct version {
    const char *line; /* of /proc/self/cgroup, before the group */
    const char *root, *most, *used, *files;
} versions[] = {
    {"0::", "", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

static bool file_number(const struct version *v, const char *group, const char *name,
                        const char *key, uint64_t *to)
{
    char path[4200];

    snprintf(path, sizeof path, "/sys/fs/cgroup%s%s/%s", v->root, group, name);
    return number(path, key, to);
}

/* Memory that the group may still have: the unused part of its limit, and caches of files. */
static uint64_t left_in(const struct version *v, const char *group)
{
    uint64_t most, used, files;

    if (!file_number(v, group, v->most, "", &most) || !file_number(v, group, v->used, "", &used))
        return UINT64_MAX;
    file_number(v, group, "memory.stat", v->files, &files);
    used -= files < used ? files : used;
    return used < most ? most - used : 0;
}

/* Like left_in, of the group and all around it. */
static uint64_t left_around(const struct version *v, char *group)
{
    uint64_t least = UINT64_MAX;

    group[strcspn(group, "\n")] = '\0';
    for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
        uint64_t left;

        *end = '\0';
        left = left_in(v, group);
        least = left < least ? left : least;
    }
    return least;
}

/* Like left_in, of the groups of this process and all around them. */
static uint64_t left_in_groups(void)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    uint64_t least = UINT64_MAX;
    char line[4100];

    while (f && fgets(line, sizeof line, f))
        for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
            char *found = strstr(line, versions[i].line);
            uint64_t left;

            if (!found)
                continue;
            left = left_around(&versions[i], found + strlen(versions[i].line));
            least = left < least ? left : least;
        }
    if (f)
        fclose(f);
    return least;
}

static uint64_t available(void)
{
    uint64_t kib, left = left_in_groups();

    if (!number("/proc/meminfo", "MemAvailable:", &kib))
        return 0;
    return kib << 10 < left ? kib << 10 : left;
}

uint64_t held_room(pid_t pid)
{
    const struct proc_path status = proc_path(pid, "status");
    uint64_t resident, swapped;

    if (!number(status.s, "VmRSS:", &resident))
        return 0;
    number(status.s, "VmSwap:", &swapped);
    return held_room_for((resident + swapped) << 10, available());
}
