#define _GNU_SOURCE
#include "driver/doctor/settings.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/strbuf.h"
#include "driver/doctor/verdicts.h"

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static const char allow_in_container[] =
    "docker run --cap-add SYS_PTRACE --cap-add PERFMON ..., or SystemCallFilter=@debug "
    "process_vm_readv in the service's unit";
static const char scope_command[] = "sudo sysctl kernel.yama.ptrace_scope=0";
static const char reboot_command[] =
    "echo kernel.yama.ptrace_scope=0 | sudo tee /etc/sysctl.d/99-ptrace.conf, and reboot";
static const char paranoid_command[] = "sudo sysctl kernel.perf_event_paranoid=1";

/* ---- reading ---- */

/* `missing`, if there is no such file. */
static int read_number(const char *path, int missing)
{
    struct strbuf text = STRBUF_INIT;
    int n = strbuf_read_file(&text, path, 64) == 0 ? atoi(text.buf) : missing;

    strbuf_release(&text);
    return n;
}

static bool has_capability(int cap)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};

    return syscall(SYS_capget, &head, data) == 0 &&
           data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

/* The kernel's events take capabilities of the first user namespace, which maps all ids to
 * themselves. */
static bool in_first_user_namespace(void)
{
    struct strbuf text = STRBUF_INIT;
    bool first = strbuf_read_file(&text, "/proc/self/uid_map", 4096) == 0;
    char *at = text.buf;

    first = first && strtoul(at, &at, 10) == 0 && strtoul(at, &at, 10) == 0 &&
            strtoul(at, &at, 10) == 4294967295ul;
    strbuf_release(&text);
    return first;
}

/* Each call has an argument that the kernel itself refuses with another error than a filter's. */
static bool is_refused(long call)
{
    long result = -1;

    errno = 0;
    switch (call) {
    case SYS_ptrace: /* no process has the number 0 */
        result = ptrace(PTRACE_SEIZE, 0, 0, 0);
        return result < 0 && errno != ESRCH;
    case SYS_process_vm_readv: /* no flags are defined */
        result = syscall(call, getpid(), NULL, 0ul, NULL, 0ul, ~0ul);
        return result < 0 && errno != EINVAL;
    default: /* perf_event_open: not all flags are defined */
        result = syscall(call, NULL, 0, 0, -1, ~0ul);
        return result < 0 && errno != EINVAL;
    }
}

/* In a child, because a filter may kill the process. */
static bool child_is_refused(long call)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(is_refused(call));
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

static int seccomp_mode(void)
{
    static const char field[] = "\nSeccomp:";
    struct strbuf text = STRBUF_INIT;
    const char *at = NULL;
    int mode;

    if (strbuf_read_file(&text, "/proc/self/status", 1 << 16) == 0)
        at = strstr(text.buf, field);
    mode = at ? atoi(at + sizeof field - 1) : 0;
    strbuf_release(&text);
    return mode;
}

void settings_read(struct settings *s)
{
    *s = (struct settings){.ptrace_scope = read_number(YAMA, -1),
                           .paranoid = read_number(PARANOID, SETTINGS_NO_PERF),
                           .may_ptrace = has_capability(CAP_SYS_PTRACE),
                           .filters = seccomp_mode()};
    s->may_perf =
        in_first_user_namespace() && (has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN));
    if (!s->filters)
        return;
    s->no_ptrace = child_is_refused(SYS_ptrace);
    s->no_read = child_is_refused(SYS_process_vm_readv);
    s->no_perf = child_is_refused(SYS_perf_event_open);
}

/* ---- commands ---- */

const char *settings_allow_ptrace(const struct settings *s)
{
    if (s->no_ptrace || s->no_read)
        return allow_in_container;
    if (s->ptrace_scope == 3)
        return reboot_command;
    return s->ptrace_scope > 0 && !s->may_ptrace ? scope_command : NULL;
}

const char *settings_allow_perf(const struct settings *s, int most)
{
    if (s->no_perf)
        return allow_in_container;
    return s->paranoid > most && !s->may_perf ? paranoid_command : NULL;
}

/* ---- lines ---- */

static void print_scope(const struct settings *s)
{
    static const char subject[] = "ptrace_scope";
    static const char *const allows[] = {
        "processes of the same user may be traced", "flame may trace only what it starts itself",
        "tracing takes CAP_SYS_PTRACE", "no process may be traced"};
    int scope = s->ptrace_scope > 3 ? 3 : s->ptrace_scope;

    if (scope < 0) {
        verdict_print(VERDICT_YES, subject, "this kernel has no Yama: %s", allows[0]);
    } else if (scope == 0) {
        verdict_print(VERDICT_YES, subject, "kernel.yama.ptrace_scope is 0: %s", allows[0]);
    } else if (scope < 3 && s->may_ptrace) {
        verdict_print(VERDICT_YES, subject,
                      "kernel.yama.ptrace_scope is %d, from which CAP_SYS_PTRACE exempts flame",
                      scope);
    } else {
        verdict_print(scope == 1 ? VERDICT_PART : VERDICT_NO, subject,
                      "kernel.yama.ptrace_scope is %d: %s", scope, allows[scope]);
        verdict_cost(scope == 1 ? "no flame mem -p, off -p and live -p"
                                : "no flame off, mem -p and live -p",
                     scope == 3 ? reboot_command : scope_command);
    }
}

static void print_paranoid(const struct settings *s)
{
    static const char subject[] = "perf events";

    if (s->paranoid == SETTINGS_NO_PERF) {
        verdict_print(VERDICT_NO, subject, "this kernel has no perf_event_open");
        verdict_cost("no page faults by stack (--view fault, touched); --no-stops is less exact",
                     "boot a kernel with CONFIG_PERF_EVENTS");
    } else if (s->paranoid <= 1) {
        verdict_print(VERDICT_YES, subject, "kernel.perf_event_paranoid is %d", s->paranoid);
    } else if (s->may_perf) {
        verdict_print(VERDICT_YES, subject,
                      "kernel.perf_event_paranoid is %d, from which CAP_PERFMON exempts flame",
                      s->paranoid);
    } else if (s->paranoid == 2) {
        verdict_print(VERDICT_PART, subject, "kernel.perf_event_paranoid is 2: no kernel events");
        verdict_cost("--view fault and touched lack page faults within system calls",
                     paranoid_command);
    } else {
        verdict_print(VERDICT_NO, subject, "kernel.perf_event_paranoid is %d: no events",
                      s->paranoid);
        verdict_cost("no page faults by stack (--view fault, touched); --no-stops is less exact",
                     paranoid_command);
    }
}

static void print_capabilities(const struct settings *s)
{
    static const char subject[] = "capabilities";

    if (s->may_ptrace && s->may_perf) {
        verdict_print(VERDICT_YES, subject, "CAP_SYS_PTRACE and CAP_PERFMON");
        return;
    }
    verdict_print(VERDICT_PART, subject, "no %s",
                  s->may_ptrace ? "CAP_PERFMON"
                  : s->may_perf ? "CAP_SYS_PTRACE"
                                : "CAP_SYS_PTRACE and CAP_PERFMON");
    verdict_cost(s->may_ptrace ? "no events of the kernel, where perf_event_paranoid is 2 or more"
                               : "no -p PID for processes of other users and those with "
                                 "privileges of their own",
                 "sudo flame ..., or docker run --cap-add SYS_PTRACE --cap-add PERFMON ...");
}

static void print_filter(const struct settings *s)
{
    static const char subject[] = "seccomp";

    if (!s->filters) {
        verdict_print(VERDICT_YES, subject, "no filter is in force");
    } else if (!s->no_ptrace && !s->no_read && !s->no_perf) {
        verdict_print(VERDICT_YES, subject, "a filter is in force, and allows what flame calls");
    } else {
        verdict_print(s->no_ptrace ? VERDICT_NO : VERDICT_PART, subject, "a filter refuses%s%s%s",
                      s->no_ptrace ? " ptrace" : "", s->no_read ? " process_vm_readv" : "",
                      s->no_perf ? " perf_event_open" : "");
        verdict_cost(s->no_ptrace ? "no flame off, mem -p and live -p; flame mem, leak and the "
                                    "preloaded recorder work"
                     : s->no_read ? "no --no-stops; other recordings work"
                                  : "no page faults by stack (--view fault, touched); --no-stops "
                                    "is less exact",
                     allow_in_container);
    }
}

static void print_debuginfod(void)
{
    static const char subject[] = "debuginfod";
    const char *urls = secure_getenv("DEBUGINFOD_URLS");

    if (urls && *urls) {
        verdict_print(VERDICT_YES, subject, "DEBUGINFOD_URLS is %s", urls);
        return;
    }
    verdict_print(VERDICT_PART, subject,
                  "DEBUGINFOD_URLS is not set: no server is asked for "
                  "symbols");
    verdict_cost("stripped files without a debug package show module and offset",
                 "export DEBUGINFOD_URLS=" SETTINGS_DEBUG_SERVER);
}

void settings_print(const struct settings *s)
{
    print_scope(s);
    print_paranoid(s);
    print_capabilities(s);
    print_filter(s);
    print_debuginfod();
}
