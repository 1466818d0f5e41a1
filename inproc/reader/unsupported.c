#include "inproc/reader/unsupported.h"

#include <inttypes.h>

#include "common/strbuf.h"
#include "patch/patcher.h"

static const char *const texts[SHM_REFUSALS] = {
    [SHM_NO_GATE] = "libflamegate.so is not where it is linked for, as with loaders before "
                    "glibc 2.36",
    [SHM_HAS_THREADS] = "it had threads before its libraries were ready",
    [SHM_PID_NAMESPACE] = "it is in a pid namespace of its own",
    [SHM_NO_XSAVE] = "this processor has no xsave",
    [SHM_NO_WIPE] = "the kernel lacks MADV_WIPEONFORK (Linux 4.14)",
    [SHM_UNKNOWN_LIBC] = "its C library is another than flame's",
    [SHM_NOT_PATCHED] = "its C library cannot be patched: ",
    [SHM_OTHER_USER] = "it has changed to another user, who may not write to the run's memory",
};

/* Bound on the number of processes, and on their ids, of any system (PID_MAX_LIMIT). */
#define PROCESSES_MOST (1u << 22)

bool unsupported_is_sound(const struct shm_server *s, enum shm_refusal why)
{
    struct shm_refused r = shm_server_refused(s, why);

    if (!r.n)
        return !r.pid;
    return r.n <= PROCESSES_MOST && r.pid <= PROCESSES_MOST &&
           (why != SHM_NOT_PATCHED || r.detail <= PATCH_AGAIN);
}

bool unsupported_add_text(struct strbuf *sb, const struct shm_server *s, enum shm_refusal why)
{
    struct shm_refused r = shm_server_refused(s, why);

    if (!r.n)
        return false;
    if (r.pid)
        strbuf_addf(sb, "process %" PRIu32, r.pid);
    else /* it was killed while it wrote its report */
        strbuf_addstr(sb, "a process");
    if (r.n > 1)
        strbuf_addf(sb, " and %" PRIu32 " more are", r.n - 1);
    else
        strbuf_addstr(sb, " is");
    strbuf_addf(sb, " traced by stops alone: %s%s", texts[why],
                why == SHM_NOT_PATCHED ? patch_result_name((enum patch_result)r.detail) : "");
    return true;
}
