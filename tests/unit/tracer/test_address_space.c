/*
 * Address spaces and their contents, in a child that is stopped where the test needs it: names of
 * places, forks, epochs, deleted files, code without tables.
 */
#define _GNU_SOURCE
#include "tracer/stacks/address_space.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tracer/stacks/capture.h"

static char dir[] = "/tmp/flame-test-XXXXXX";
static char trace_path[64], file_path[64], program[64], source_path[64];

static struct offtrace *to;
static struct stacks *s;
static uint16_t thread;

/* Addresses that the child reports; it shares this page. */
static struct reported {
    uintptr_t heap, anon, shared, stack, code;
} * reported;

static int initialised = 1;
static int zeroed[5000];

static void begin(void)
{
    struct offtrace_init init = {.path = trace_path, .pid = getpid(), .depth = 128};

    unlink(trace_path);
    to = offtrace_new(&init);
    s = stacks_new(to, 128);
    thread = offtrace_thread(to, 1, 1, "x");
}

static struct trace *end(void)
{
    struct trace *t = NULL;

    stacks_free(s);
    offtrace_free(to);
    trace_load(trace_path, &t);
    return t;
}

/* A child that runs `body`, which stops itself with raise(SIGSTOP). */
static pid_t child(void (*body)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        body();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
    return pid;
}

static void go_on(pid_t pid)
{
    ptrace(PTRACE_CONT, pid, 0, 0);
    waitpid(pid, NULL, 0);
}

static void finish(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static uint32_t capture(struct space *sp, pid_t tid)
{
    struct user_regs_struct regs;

    ptrace(PTRACE_GETREGS, tid, 0, &regs);
    return stacks_capture(s, sp, tid, thread, &regs, false);
}

/* ---- places ---- */

static void body_places(void)
{
    int on_stack, fd = open(file_path, O_RDWR | O_CREAT, 0600);

    if (fd < 0 || ftruncate(fd, 16384) < 0)
        return;
    reported->heap = (uintptr_t)sbrk(4096);
    reported->anon =
        (uintptr_t)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    reported->shared = (uintptr_t)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    reported->stack = (uintptr_t)&on_stack;
    raise(SIGSTOP);
    reported->anon =
        (uintptr_t)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    raise(SIGSTOP);
}

static enum space_area area(struct space *sp, pid_t pid, uintptr_t addr)
{
    struct space_place place;

    space_where(sp, pid, addr, &place);
    return place.area;
}

static void test_places(void)
{
    pid_t pid = child(body_places);
    struct space_place place;
    struct stat st = {0};
    struct space *sp;
    struct trace *t;
    char self[4096] = "";

    begin();
    sp = space_new(stacks_spaces(s), pid);
    ok(readlink("/proc/self/exe", self, sizeof self - 1) > 0 && stat(file_path, &st) == 0,
       "test setup: the paths of the program and of the mapped file are known");
    space_where(sp, pid, (uintptr_t)&initialised, &place);
    is_int(place.area, SPACE_MODULE, "space_where puts an initialised variable in a module");
    is_str(place.path, self, "the module of an initialised variable is the program");
    is_int(area(sp, pid, (uintptr_t)&zeroed[4999]), SPACE_MODULE,
           "space_where puts a zero-initialised variable in a module");
    is_int(area(sp, pid, reported->heap), SPACE_HEAP, "space_where recognises the heap");
    is_int(area(sp, pid, reported->anon), SPACE_ANON, "space_where recognises anonymous memory");
    is_int(area(sp, pid, reported->stack), SPACE_STACK, "space_where recognises the stack");
    is_int(area(sp, pid, 16), SPACE_NOWHERE,
           "space_where reports an unmapped address as SPACE_NOWHERE");
    space_where(sp, pid, reported->shared + 4100, &place);
    is_int(place.area, SPACE_SHARED, "space_where recognises a shared file mapping");
    is_int((intmax_t)place.inode, (intmax_t)st.st_ino,
           "a shared file mapping has the file's inode");
    is_int((intmax_t)place.offset, 8196, "a shared file mapping has the offset in the file");
    is_str(place.path, file_path, "a shared file mapping has the file's path");
    go_on(pid);
    is_int(area(sp, pid, reported->anon + 5000), SPACE_ANON,
           "space_where finds memory that was mapped after the first lookup");
    finish(pid);
    space_release(sp);
    t = end();
    ok(t && trace_module_at(t, (uintptr_t)&zeroed[4999], 1) != NULL,
       "space_where writes the module of the address to the trace");
    trace_free(t);
    unlink(file_path);
}

/* ---- stacks of threads, of which the first may be gone ---- */

static void *body_thread(void *arg)
{
    int here;

    reported->stack = (uintptr_t)&here;
    raise(SIGSTOP);
    return arg;
}

static void body_threads(void)
{
    pthread_t th;

    raise(SIGSTOP);
    pthread_create(&th, NULL, body_thread, NULL);
    pthread_exit(NULL);
}

static void test_leader_gone(void)
{
    pid_t pid = child(body_threads), tid = 0;
    struct space *sp;
    struct trace *t;
    int status;

    begin();
    sp = space_new(stacks_spaces(s), pid);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
    ptrace(PTRACE_CONT, pid, 0, 0);
    for (;;) {
        pid_t who = waitpid(-1, &status, __WALL);

        if (who < 0)
            break;
        if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP && who != pid && tid) {
            tid = who;
            break;
        }
        if (who != pid)
            tid = who;
        if (WIFSTOPPED(status))
            ptrace(PTRACE_CONT, who, 0, 0);
    }
    usleep(20000); /* the first thread's end reports nothing while others live */
    ok(tid > 0 && capture(sp, tid) != 0,
       "a thread has a stack after the process's first thread has ended");
    is_int(area(sp, tid, reported->stack), SPACE_STACK,
           "the stack of a thread is recognised after the first thread has ended");
    kill(pid, SIGKILL);
    waitpid(tid, NULL, __WALL);
    waitpid(pid, NULL, 0);
    space_release(sp);
    t = end();
    trace_free(t);
}

/* ---- forks and epochs ---- */

static void body_maps(void)
{
    void *p, *code;
    int fd;

    raise(SIGSTOP);
    p = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    reported->code = (uintptr_t)p;
    fd = open("/proc/self/exe", O_RDONLY);
    code = mmap(p, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
    close(fd);
    raise(SIGSTOP);
    fd = open(program, O_RDONLY);
    if (code != p || mmap(p, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != p)
        return;
    raise(SIGSTOP);
}

static void test_epochs(void)
{
    pid_t pid = child(body_maps);
    struct space *sp, *forked;
    uint32_t first, second;
    struct trace *t;

    begin();
    sp = space_new(stacks_spaces(s), pid);
    ok(capture(sp, pid) != 0, "a stack is captured before the mappings change");
    first = space_epoch(sp);
    forked = space_forked(sp, pid);
    ok(forked != sp, "a forked process gets an address space of its own");
    ok(space_prepare(forked, pid) && space_epoch(forked) == first,
       "a forked address space has its parent's epoch");
    space_changed(forked);
    ok(space_prepare(forked, pid) && space_epoch(forked) != first,
       "a forked address space gets a new epoch when its mappings change");
    go_on(pid);
    space_changed(sp);
    ok(capture(sp, pid) != 0, "a stack is captured after a new mapping");
    is_int(space_epoch(sp), first, "a mapping at a free address does not begin a new epoch");
    is_int(area(sp, pid, reported->code), SPACE_MODULE,
           "a newly mapped module is found by its address");
    go_on(pid);
    space_changed(sp);
    ok(capture(sp, pid) != 0, "a stack is captured after another file replaced a mapping");
    second = space_epoch(sp);
    ok(second != first, "another file at the same address begins a new epoch");
    finish(pid);
    space_release(sp);
    space_release(forked);
    t = end();
    ok(t && trace_module_at(t, (uintptr_t)&initialised, first) &&
           trace_module_at(t, (uintptr_t)&capture, second),
       "the program is a module in both epochs");
    ok(t && trace_module_at(t, reported->code, first),
       "the replaced file is a module in the first epoch");
    trace_free(t);
}

/* ---- code of all kinds ---- */

static int count_nodes(const struct trace *t, uint32_t node, uint32_t kind, const char *module)
{
    int n = 0;

    for (uint32_t id = node; t && t->nodes[id].kind != TRACE_NODE_ROOT; id = t->nodes[id].parent) {
        const struct trace_module_view *m =
            trace_module_at(t, t->nodes[id].addr, (uint32_t)(trace_node_root(t, id)->addr >> 32));

        if (t->nodes[id].kind == kind)
            n += !module || (m && strcmp(m->path, module) == 0);
    }
    return n;
}

static void body_jit(void)
{
    /* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
    union {
        void *p;
        void (*call)(int, int (*)(int));
    } page = {mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

    memcpy(page.p, code, sizeof code);
    mprotect(page.p, 4096, PROT_READ | PROT_EXEC);
    reported->code = (uintptr_t)page.p;
    page.call(SIGSTOP, raise);
    raise(SIGSTOP);
}

static void test_jit(void)
{
    pid_t pid = child(body_jit);
    struct space *sp;
    struct trace *t;
    char self[4096] = "";
    uint32_t node;
    int jit = 0;

    begin();
    sp = space_new(stacks_spaces(s), pid);
    node = capture(sp, pid);
    finish(pid);
    space_release(sp);
    t = end();
    ok(readlink("/proc/self/exe", self, sizeof self - 1) > 0 && node,
       "a stack through JIT code is captured");
    for (uint32_t id = node; t && id; id = t->nodes[id].parent)
        jit += t->nodes[id].addr == reported->code + 6;
    is_int(jit, 1, "JIT code is one frame of the stack");
    ok(count_nodes(t, node, TRACE_NODE_PC, self) >= 3,
       "the stack through JIT code has the callers of that code");
    trace_free(t);
}

/* Builds a C program of 300 frames that stops itself. */
static bool build(const char *flags)
{
    char command[512];
    FILE *f = fopen(source_path, "we");

    if (!f)
        return false;
    fputs("#include <signal.h>\n"
          "int deep(int n);\n"
          "int deep(int n) {\n"
          "    volatile char c[20]; c[3] = 0;\n"
          "    if (!n) { raise(SIGSTOP); return 1; }\n"
          "    return deep(n - 1) + 1 + c[3];\n"
          "}\n"
          "int main(int argc, char **argv) { (void)argv; return deep(argc + 298); }\n",
          f);
    fclose(f);
    snprintf(command, sizeof command, "%s -O1 -g %s -w %s -o %s",
             getenv("CC") ? getenv("CC") : "gcc", flags, source_path, program);
    return system(command) == 0;
}

static pid_t run_program(void)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
    go_on(pid); /* from the exec to its own stop */
    return pid;
}

/* `spoil` runs between the program's stop and its first stack. */
static void test_program(const char *flags, const char *what, void (*spoil)(void), bool module)
{
    struct space *sp;
    struct trace *t;
    uint32_t node;
    pid_t pid;

    if (!build(flags)) {
        skip("%s: cannot be built", what);
        return;
    }
    pid = run_program();
    if (spoil)
        spoil();
    begin();
    sp = space_new(stacks_spaces(s), pid);
    node = capture(sp, pid);
    is_int((intmax_t)stacks_lost(s), 0, "%s: no stack is lost", what);
    finish(pid);
    space_release(sp);
    t = end();
    is_int(count_nodes(t, node, TRACE_NODE_TRUNCATED, NULL), 1,
           "%s: the stack has one truncated node", what);
    is_int(count_nodes(t, node, TRACE_NODE_PC, NULL) +
               count_nodes(t, node, TRACE_NODE_PC_EXACT, NULL),
           128, "%s: the stack keeps 128 frames", what);
    if (module)
        ok(count_nodes(t, node, TRACE_NODE_PC, program) >= 120,
           "%s: nearly all frames belong to the program", what);
    for (uint32_t id = node; t && t->nodes[id].kind != TRACE_NODE_ROOT; id = t->nodes[id].parent)
        if (t->nodes[id].kind == TRACE_NODE_TRUNCATED)
            ok(t->nodes[id].addr > 170 && t->nodes[id].addr < 185,
               "%s: the truncated node counts the missing frames: %d", what,
               (int)t->nodes[id].addr);
    trace_free(t);
}

static void spoil_delete(void)
{
    unlink(program);
}

/* Another file has the module's name now. */
static void spoil_replace(void)
{
    char command[200];

    unlink(program);
    snprintf(command, sizeof command, "cp /bin/true %s", program);
    if (system(command) != 0)
        diag("no /bin/true");
}

static void spoil_cut(void)
{
    char command[200];

    unlink(program);
    snprintf(command, sizeof command, "head -c 100 /bin/true >%s", program);
    if (system(command) != 0)
        diag("no /bin/true");
}

int main(void)
{
    if (!ok(mkdtemp(dir) != NULL, "a directory for the test's files is made"))
        return done_testing();
    snprintf(trace_path, sizeof trace_path, "%s/a.flame", dir);
    snprintf(file_path, sizeof file_path, "%s/a shared file", dir);
    snprintf(program, sizeof program, "%s/program", dir);
    snprintf(source_path, sizeof source_path, "%s/program.c", dir);
    reported = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    test_program("", "plain", NULL, true);
    test_places();
    test_epochs();
    test_leader_gone();
    test_jit();
    test_program("-static", "static", NULL, true);
    test_program("-no-pie -fno-asynchronous-unwind-tables -fno-unwind-tables", "only .debug_frame",
                 NULL, true);
    test_program("-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer -g0",
                 "frame pointers only", NULL, true);
    test_program("", "a deleted file", spoil_delete, true);
    test_program("", "a replaced file", spoil_replace, true);
    test_program("", "a replaced file that is damaged", spoil_cut, true);
    unlink(trace_path);
    unlink(program);
    unlink(source_path);
    rmdir(dir);
    return done_testing();
}
