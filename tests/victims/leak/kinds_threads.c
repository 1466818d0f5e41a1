/* Cases (kinds.h) of threads: the blocks that they hold in every stage of their lives. */
#define _GNU_SOURCE
#include "tests/victims/leak/kinds.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>

#define STACK_SIZE ((size_t)256 << 10)

static __thread void *of_thread;

static pthread_key_t make_key(void (*at_end)(void *))
{
    pthread_key_t key;

    if (pthread_key_create(&key, at_end) != 0)
        abort();
    return key;
}

/* ---- threads that run ---- */

ALLOCATES(reachable_stack)
ALLOCATES(reachable_local)
ALLOCATES(reachable_key)
static void *holds(void *unused)
{
    void *volatile p = reachable_stack(301);

    of_thread = reachable_local(302);
    pthread_setspecific(make_key(NULL), reachable_key(303));
    stay();
    free(p);
    return unused;
}

CASE(waits, NAMED(reachable_stack) NAMED(reachable_local) NAMED(reachable_key))
{
    begin_thread(holds);
}

ALLOCATES(reachable_detached)
static void *is_detached(void *unused)
{
    void *volatile p = reachable_detached(304);

    stay();
    free(p);
    return unused;
}

CASE(detached, NAMED(reachable_detached))
{
    pthread_detach(begin_thread(is_detached));
}

ALLOCATES(reachable_spinning)
static void *spins(void *unused)
{
    void *volatile p = reachable_spinning(305);

    arrive();
    for (volatile int i = 0;; i++)
        ;
    free(p);
    return unused;
}

CASE(computes, NAMED(reachable_spinning))
{
    begin_thread(spins);
}

#if defined(__x86_64__)
/* The pointer is in a register only. */
ALLOCATES(reachable_register)
static void *has_in_register(void *unused)
{
    void *volatile p = reachable_register(306);

    arrive();
    __asm__ volatile("mov %0, %%r13\n"
                     "movq $0, %0\n"
                     "xor %%eax, %%eax\n"
                     "1: pause\n"
                     "jmp 1b\n"
                     : "+m"(p)
                     :
                     : "r13", "rax");
    free(p);
    return unused;
}

CASE(in_a_register, NAMED(reachable_register))
{
    begin_thread(has_in_register);
}
#endif

ALLOCATES(reachable_given)
static void *is_given(void *block)
{
    void *volatile p = block;

    stay();
    free(p);
    return NULL;
}

CASE(argument, NAMED(reachable_given))
{
    begin_thread_with(is_given, reachable_given(307), NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

ALLOCATES(reachable_locked)
static void *waits_for_lock(void *unused)
{
    void *volatile p = reachable_locked(308);

    arrive();
    pthread_mutex_lock(&lock);
    free(p);
    return unused;
}

CASE(in_a_lock, NAMED(reachable_locked))
{
    pthread_mutex_lock(&lock);
    begin_thread(waits_for_lock);
}

ALLOCATES(reachable_cleanup)
static void *has_cleanup(void *unused)
{
    pthread_cleanup_push(free, reachable_cleanup(309));
    stay();
    pthread_cleanup_pop(1);
    return unused;
}

CASE(cleanup_handler, NAMED(reachable_cleanup))
{
    begin_thread(has_cleanup);
}

ALLOCATES(reachable_c11)
static int runs_c11(void *unused)
{
    static tss_t key;

    (void)unused;
    tss_create(&key, NULL);
    tss_set(key, reachable_c11(310));
    stay();
    return 0;
}

CASE(c11, NAMED(reachable_c11))
{
    thrd_t t;

    pthread_barrier_init(&kinds_arrival, NULL, 2);
    thrd_create(&t, runs_c11, NULL);
    pthread_barrier_wait(&kinds_arrival);
}

/* Pointers that returned calls left below the stack pointer do not count. */
ALLOCATES(definite_below_stack)
NOINLINE static void leaves_below(void)
{
    void *volatile below[100];

    below[50] = definite_below_stack(311);
    (void)below;
}

static void *calls_and_stays(void *unused)
{
    leaves_below();
    pthread_barrier_wait(&kinds_arrival);
    for (;;)
        pause();
    return unused;
}

CASE(below_a_threads_stack, NAMED(definite_below_stack))
{
    begin_thread(calls_and_stays);
}

static pthread_attr_t *on_stack(void *stack)
{
    static pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, STACK_SIZE);
    return &attr;
}

static void *map_stack(void)
{
    return mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

ALLOCATES(reachable_own_stack)
static void *holds_on_own(void *unused)
{
    void *volatile p = reachable_own_stack(312);

    stay();
    free(p);
    return unused;
}

CASE(own_stack, NAMED(reachable_own_stack))
{
    begin_thread_with(holds_on_own, NULL, on_stack(map_stack()));
}

NOINLINE static void *reachable_stack_block(void)
{
    return aligned_alloc(4096, STACK_SIZE);
}

ALLOCATES(reachable_on_block_stack)
static void *holds_on_block(void *unused)
{
    void *volatile p = reachable_on_block_stack(313);

    stay();
    free(p);
    return unused;
}

CASE(stack_from_malloc, NAMED(reachable_stack_block) NAMED(reachable_on_block_stack))
{
    begin_thread_with(holds_on_block, NULL, on_stack(reachable_stack_block()));
}

/* ---- threads that end ---- */

static void end_thread(pthread_t t)
{
    pthread_join(t, NULL);
}

ALLOCATES(definite_ended_stack)
ALLOCATES(definite_ended_local)
ALLOCATES(definite_ended_key)
static void *ends(void *unused)
{
    void *volatile p = definite_ended_stack(314);

    of_thread = definite_ended_local(315);
    pthread_setspecific(make_key(NULL), definite_ended_key(316));
    (void)p;
    arrive();
    return unused;
}

CASE(joined, NAMED(definite_ended_stack) NAMED(definite_ended_local) NAMED(definite_ended_key))
{
    end_thread(begin_thread(ends));
}

/* Returns when the kernel has nothing more of the thread. */
static void wait_until_gone(pid_t tid)
{
    while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
        usleep(1000);
}

static pid_t tid_of_ended;

ALLOCATES(reachable_result_waiting)
static void *has_result(void *unused)
{
    (void)unused;
    tid_of_ended = (pid_t)syscall(SYS_gettid);
    arrive();
    return reachable_result_waiting(317);
}

/* pthread_join would return the pointer. Until then it is only in memory of the C library, with the
 * rest of the thread's stack. */
CASE(result_not_fetched, NAMED(reachable_result_waiting))
{
    static pthread_t t;

    t = begin_thread(has_result);
    wait_until_gone(tid_of_ended);
}

/* The C library still has the argument of a thread that has ended, but gives it to no one. */
ALLOCATES(definite_argument_of_ended)
static void *forgets_argument(void *unused)
{
    (void)unused;
    tid_of_ended = (pid_t)syscall(SYS_gettid);
    arrive();
    return NULL;
}

CASE(argument_of_ended, NAMED(definite_argument_of_ended))
{
    static pthread_t t;

    t = begin_thread_with(forgets_argument, definite_argument_of_ended(322), NULL);
    wait_until_gone(tid_of_ended);
}

ALLOCATES(definite_result_dropped)
static void *has_result_dropped(void *unused)
{
    (void)unused;
    arrive();
    return definite_result_dropped(318);
}

CASE(result_dropped, NAMED(definite_result_dropped))
{
    end_thread(begin_thread(has_result_dropped));
}

ALLOCATES(definite_cancelled)
static void *is_cancelled(void *unused)
{
    void *volatile p = definite_cancelled(319);

    stay();
    free(p);
    return unused;
}

CASE(cancelled, NAMED(definite_cancelled))
{
    pthread_t t = begin_thread(is_cancelled);

    pthread_cancel(t);
    end_thread(t);
}

ALLOCATES(definite_detached_end)
static void *ends_detached(void *unused)
{
    void *volatile p = definite_detached_end(320);

    (void)p;
    pthread_detach(pthread_self());
    tid_of_ended = (pid_t)syscall(SYS_gettid);
    arrive();
    return unused;
}

CASE(ended_detached, NAMED(definite_detached_end))
{
    begin_thread(ends_detached);
    wait_until_gone(tid_of_ended);
}

ALLOCATES(reachable_in_destructor)
static void stays_in_destructor(void *block)
{
    void *volatile p = block;

    stay();
    free(p);
}

static void *ends_in_destructor(void *unused)
{
    pthread_setspecific(make_key(stays_in_destructor), reachable_in_destructor(321));
    return unused;
}

CASE(in_a_destructor, NAMED(reachable_in_destructor))
{
    begin_thread(ends_in_destructor);
}

ALLOCATES(reachable_later_value)
static void gives_another(void *block)
{
    void *volatile p = reachable_later_value(322);

    free(block);
    stay();
    free(p);
}

static void *allocates_in_destructor(void *unused)
{
    pthread_setspecific(make_key(gives_another), malloc(1));
    return unused;
}

CASE(allocated_in_a_destructor, NAMED(reachable_later_value))
{
    begin_thread(allocates_in_destructor);
}

static void *ends_plainly(void *unused)
{
    arrive();
    return unused;
}

/* A hundred threads that came and went, whose stacks were reused. */
ALLOCATES(definite_generation)
static void *loses_one(void *unused)
{
    void *volatile p = definite_generation(323);

    (void)p;
    return ends_plainly(unused);
}

CASE(generations, NAMED(definite_generation))
{
    for (int i = 0; i < 100; i++)
        end_thread(begin_thread(loses_one));
}

ALLOCATES(reachable_handed_over)
static void *puts_global(void *at)
{
    *(void **)at = reachable_handed_over(324);
    arrive();
    return NULL;
}

CASE(handed_over, NAMED(reachable_handed_over))
{
    static void *kept;

    end_thread(begin_thread_with(puts_global, &kept, NULL));
}

/* ---- a child of vfork has its parent's memory: the parent stops until the child is gone ---- */

static int never[2];

ALLOCATES(reachable_vfork)
static void *waits_in_vfork(void *unused)
{
    void *volatile p = reachable_vfork(325);
    char c;

    pthread_barrier_wait(&kinds_arrival);
    if (vfork() == 0) {
        /* Waits until this process ends, and with it the pipe. */
        close(never[1]);
        _exit(read(never[0], &c, 1) == 1);
    }
    free(p);
    return unused;
}

CASE_ALONE(in_vfork, NAMED(reachable_vfork))
{
    if (pipe(never) != 0)
        abort();
    begin_thread(waits_in_vfork);
    usleep(100000);
}

/* ---- how the first thread and others end the process ---- */

static pthread_t first_thread;

static void *outlives(void *unused)
{
    pthread_join(first_thread, NULL);
    return unused;
}

/* The first thread's own variables stay where they are when it has ended. */
ALLOCATES(reachable_after_first)
CASE_ALONE(first_thread_ends, NAMED(reachable_after_first))
{
    pthread_t t;

    of_thread = reachable_after_first(326);
    first_thread = pthread_self();
    pthread_create(&t, NULL, outlives, NULL);
    pthread_exit(NULL);
}

ALLOCATES(reachable_of_first)
static void *ends_process(void *unused)
{
    exit(0);
    return unused;
}

CASE_ALONE(exit_in_a_thread, NAMED(reachable_of_first))
{
    void *volatile p = reachable_of_first(327);
    pthread_t t;

    wipe();
    pthread_create(&t, NULL, ends_process, NULL);
    pthread_join(t, NULL);
    free(p);
}
