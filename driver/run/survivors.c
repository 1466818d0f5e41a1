#include "driver/run/survivors.h"

#include <signal.h>
#include <stdio.h>

#include "common/procpath.h"

bool process_maps_dir(uint32_t pid, const char *dir)
{
    char line[8192];
    bool found = false;
    FILE *f;

    if (!pid || pid > INT32_MAX || kill((pid_t)pid, 0) < 0)
        return false;
    f = fopen(proc_path((pid_t)pid, "maps").s, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, dir);

        found = at && at[strlen(dir)] == '/';
    }
    if (f)
        fclose(f);
    return found;
}

/* A process that executed another program has two traces, the later one last. */
static bool is_known(const struct run_totals *taken, size_t i)
{
    for (size_t k = i + 1; k < taken->nprocesses; k++)
        if (!taken->process[k].ended && taken->process[k].pid == taken->process[i].pid)
            return true;
    return false;
}

size_t survivors_list(struct strbuf *sb, const struct run_totals *taken, const char *dir,
                      size_t most)
{
    size_t running = 0;

    for (size_t i = 0; i < taken->nprocesses; i++) {
        const struct run_totals_process *p = &taken->process[i];

        if (p->ended || !process_maps_dir(p->pid, dir) || is_known(taken, i))
            continue;
        if (running++ < most)
            strbuf_addf(sb, "%s%s %u", sb->len ? ", " : "", p->comm, p->pid);
    }
    return running;
}
