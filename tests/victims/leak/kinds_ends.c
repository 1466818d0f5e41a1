/* Cases (kinds.h) of ways to end a process, and of its children. */
#define _GNU_SOURCE
#include "tests/victims/leak/kinds.h"

#include <err.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static void *global;

#define LOSE_AND(name, end)                                                                        \
    CASE_ALONE(name, BLOCK(definite_at_##name) BLOCK(reachable_at_##name))                         \
    {                                                                                              \
        void *volatile kept = reachable_at_##name(401);                                            \
                                                                                                   \
        definite_at_##name(402);                                                                   \
        wipe();                                                                                    \
        end;                                                                                       \
        free(kept);                                                                                \
    }

LOSE_AND(exit, exit(0))
LOSE_AND(underscore_exit, _exit(0))
LOSE_AND(capital_exit, _Exit(0))
LOSE_AND(quick_exit, quick_exit(0))
LOSE_AND(err, errx(0, "ends"))

CASE_ALONE(return, BLOCK(definite_at_return) BLOCK(reachable_at_return))
{
    definite_at_return(403);
    global = reachable_at_return(404);
}

static void ends_again(void)
{
    exit(0);
}

LOSE_AND(exit_in_a_handler, atexit(ends_again); exit(0))

static void end_by_signal(int number)
{
    (void)number;
    _exit(0);
}

LOSE_AND(exit_by_a_signal, signal(SIGTERM, end_by_signal); raise(SIGTERM))

/* A block that a later handler frees is no leak. */
static void free_global(void)
{
    free(global);
}

CASE_ALONE(freed_in_a_handler, BLOCK(unjudged_until_freed) BLOCK(reachable_besides))
{
    static void *besides;

    besides = reachable_besides(405);
    global = unjudged_until_freed(406);
    (void)besides;
    atexit(free_global);
}

/* Blocks that handlers and destructors allocate come after the first scan; a last scan finds them.
 */
ALLOCATES(definite_late)
ALLOCATES(indirect_late)
ALLOCATES(reachable_late)
static void lose_late(void)
{
    static void *kept;

    global = definite_late(407);
    *(void **)global = indirect_late(409);
    global = NULL;
    kept = reachable_late(410);
    free(malloc(411));
    (void)kept;
}

CASE_ALONE(lost_in_a_handler, NAMED(definite_late) NAMED(indirect_late) NAMED(reachable_late))
{
    atexit(lose_late);
}

ALLOCATES(definite_in_destructor)
static int destructor_loses;

__attribute__((destructor)) static void lose_in_destructor(void)
{
    if (destructor_loses)
        definite_in_destructor(412);
    wipe();
}

CASE_ALONE(lost_in_a_destructor, NAMED(definite_in_destructor))
{
    destructor_loses = 1;
}

/* Handlers of quick_exit, which are others, allocate late as well. */
ALLOCATES(definite_quickly)
ALLOCATES(reachable_quickly)
static void lose_quickly(void)
{
    definite_quickly(424);
    global = reachable_quickly(425);
    wipe();
}

CASE_ALONE(lost_in_a_quick_handler, NAMED(definite_quickly) NAMED(reachable_quickly))
{
    at_quick_exit(lose_quickly);
    quick_exit(0);
}

/* A handler may end the process, after losing a block itself. */
ALLOCATES(definite_before_last_end)
static void lose_and_end(void)
{
    definite_before_last_end(413);
    wipe();
    _exit(0);
}

CASE_ALONE(lost_in_a_handler_that_ends, NAMED(definite_before_last_end))
{
    atexit(lose_and_end);
}

/* A block that is reachable when exit begins, and is forgotten later, is no leak. The block that
 * the handler allocates causes a second scan, which must not count the first one. */
ALLOCATES(reachable_meanwhile)
static void forget_global(void)
{
    global = reachable_meanwhile(426);
}

CASE_ALONE(forgotten_in_a_handler, BLOCK(reachable_until_forgotten) NAMED(reachable_meanwhile))
{
    global = reachable_until_forgotten(414);
    atexit(forget_global);
}

/* ---- ends without a scan ---- */

#define LOSE_UNSEEN(name, end)                                                                     \
    CASE_ALONE(name, BLOCK(unjudged_at_##name))                                                    \
    {                                                                                              \
        unjudged_at_##name(408);                                                                   \
        wipe();                                                                                    \
        end;                                                                                       \
    }

LOSE_UNSEEN(abort, abort())
LOSE_UNSEEN(killed, kill(getpid(), SIGKILL))
LOSE_UNSEEN(terminated, raise(SIGTERM))
LOSE_UNSEEN(exit_group, syscall(SYS_exit_group, 0))
LOSE_UNSEEN(executes, execl("/bin/true", "true", NULL))

/* ---- children ---- */

static void wait_for(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0)
        ;
}

CASE_ALONE(forked, BLOCK(definite_in_child) BLOCK(reachable_in_parent) BLOCK(definite_in_parent))
{
    void *volatile kept = reachable_in_parent(409);
    pid_t pid;

    definite_in_parent(410);
    wipe();
    pid = fork();
    if (pid == 0) {
        definite_in_child(411);
        wipe();
        exit(0);
    }
    wait_for(pid);
    exit(0);
    free(kept);
}

/* Inherited blocks are never a child's leaks, but its parent's. */
CASE_ALONE(forked_and_forgot, BLOCK(reachable_inherited))
{
    global = reachable_inherited(412);
    if (fork() == 0) {
        global = NULL;
        wipe();
        exit(0);
    }
    while (wait(NULL) > 0)
        ;
}

ALLOCATES(reachable_of_other)
static void *stays(void *unused)
{
    void *volatile p = reachable_of_other(413);

    stay();
    free(p);
    return unused;
}

/* The child has blocks of its parent's threads, but not the threads. */
CASE_ALONE(forked_from_threads, NAMED(reachable_of_other) BLOCK(definite_in_lone_child))
{
    pid_t pid;

    begin_thread(stays);
    pid = fork();
    if (pid == 0) {
        definite_in_lone_child(414);
        wipe();
        _exit(0);
    }
    wait_for(pid);
}

CASE_ALONE(vforked, BLOCK(reachable_over_vfork) BLOCK(definite_before_vfork))
{
    pid_t pid;

    definite_before_vfork(415);
    global = reachable_over_vfork(416);
    pid = vfork();
    if (pid == 0)
        _exit(0);
    wait_for(pid);
}

CASE_ALONE(spawned, BLOCK(reachable_over_spawn) BLOCK(definite_before_spawn))
{
    char *argv[] = {"true", NULL};
    pid_t pid;

    definite_before_spawn(417);
    global = reachable_over_spawn(418);
    if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0)
        wait_for(pid);
}

CASE_ALONE(child_executes, BLOCK(reachable_over_exec) BLOCK(definite_before_exec))
{
    pid_t pid;

    definite_before_exec(419);
    global = reachable_over_exec(420);
    pid = fork();
    if (pid == 0) {
        global = NULL;
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    wait_for(pid);
}

CASE_ALONE(became_daemon, BLOCK(definite_in_daemon) BLOCK(reachable_in_daemon))
{
    int ends[2];
    char c;

    /* The first process waits for the one that is left. */
    if (pipe(ends) != 0)
        abort();
    if (fork() > 0) {
        close(ends[1]);
        _exit(read(ends[0], &c, 1) == 1);
    }
    setsid();
    definite_in_daemon(421);
    global = reachable_in_daemon(422);
}

/* ---- jumps ---- */

static jmp_buf above;

ALLOCATES(definite_jumped_over)
NOINLINE static void jump(void)
{
    void *volatile p = definite_jumped_over(423);

    (void)p;
    longjmp(above, 1);
}

CASE(jumped_over, NAMED(definite_jumped_over))
{
    if (!setjmp(above))
        jump();
}
