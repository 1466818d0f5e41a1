#include "inproc/reader/unsupported.h"

#include <inttypes.h>

#include "common/strbuf.h"
#include "patch/patcher.h"

static const char *const texts[SESSION_REFUSALS] = {
    [SESSION_NO_GATE] = "libflamegate.so is not where it is linked for, as with loaders before "
                        "glibc 2.36",
    [SESSION_HAS_THREADS] = "it had threads before its libraries were ready",
    [SESSION_PID_NAMESPACE] = "it is in a pid namespace of its own",
    [SESSION_NO_XSAVE] = "this processor has no xsave",
    [SESSION_NO_WIPE] = "the kernel lacks MADV_WIPEONFORK (Linux 4.14)",
    [SESSION_UNKNOWN_LIBC] = "its C library is another than flame's",
    [SESSION_NOT_PATCHED] = "its C library cannot be patched: ",
    [SESSION_OTHER_USER] = "it has changed to another user, who may not write to what others note",
};

/* No system has more processes, or higher numbers of them (PID_MAX_LIMIT). */
#define PROCESSES_MOST (1u << 22)

bool refusal_is_sound(const struct session *s, enum session_refusal why)
{
    struct session_refused r = session_refused(s, why);

    if (!r.n)
        return !r.pid;
    return r.n <= PROCESSES_MOST && r.pid <= PROCESSES_MOST &&
           (why != SESSION_NOT_PATCHED || r.detail <= PATCH_AGAIN);
}

bool refusal_add_text(struct strbuf *sb, const struct session *s, enum session_refusal why)
{
    struct session_refused r = session_refused(s, why);

    if (!r.n)
        return false;
    if (r.pid)
        strbuf_addf(sb, "process %" PRIu32, r.pid);
    else /* it was killed while it said so */
        strbuf_addstr(sb, "a process");
    if (r.n > 1)
        strbuf_addf(sb, " and %" PRIu32 " more are", r.n - 1);
    else
        strbuf_addstr(sb, " is");
    strbuf_addf(sb, " traced by stops alone: %s%s", texts[why],
                why == SESSION_NOT_PATCHED ? patch_result_name((enum patch_result)r.detail) : "");
    return true;
}
