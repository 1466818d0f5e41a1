/* Logged calls as events, and the sleeps that the state machine makes of those. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/tap.h"
#include "tests/unit/offcpu_stage.h"
#include "tracer/inproc/ringevents.h"
#include "tracer/offcpu/arg_copy.h"

static struct ringevents *events;
static struct ring_reader from;
static char reported[2000];
static bool to_machine;

/* "TID>CALL@TIME" entered, "TID<CALL=RESULT@TIME" left, "TID!SIGNAL@TIME". Calls by number. */
static void take(void *arg, const struct off_event *e, uint32_t stack)
{
    size_t at = strlen(reported), room = sizeof reported - at;
    const char *gap = at ? " " : "";

    (void)arg;
    if (to_machine)
        stage_event(e);
    if (e->kind == OFF_ENTRY)
        snprintf(reported + at, room, "%s%d>%d@%d%s%s", gap, (int)e->tid, e->nr, (int)e->time,
                 e->cannot_block ? "w" : "", e->restarted ? "r" : "");
    else if (e->kind == OFF_EXIT)
        snprintf(reported + at, room, "%s%d<%d=%d@%d%s", gap, (int)e->tid, e->nr, (int)e->result,
                 (int)e->time, e->stayed_on_cpu ? "on" : "");
    else
        snprintf(reported + at, room, "%s%d!%d@%d%s", gap, (int)e->tid, e->nr, (int)e->time,
                 e->caught ? "c" : "");
    if (e->kind != OFF_SIGNAL && stack != (uint32_t)e->nr + 1)
        snprintf(reported + at, room, " stack of %d is %u", e->nr, stack);
}

static void begin(void)
{
    static const struct ringevents_client client = {.event = take};

    ringevents_free(events);
    events = ringevents_new(&client);
    memset(&from, 0, offsetof(struct ring_reader, record));
    from.tid = 11;
    from.pid = 10;
    reported[0] = '\0';
}

static void enter(uint32_t serial, int nr, uint64_t a0, uint64_t a1, uint64_t time)
{
    from.time = time;
    from.call = (struct ring_call){
        .serial = serial, .nr = nr, .begin = time, .args = {a0, a1}, .stack = (uint32_t)nr + 1};
    from.open[from.nopen++] = from.call;
    ringevents_record(events, RING_ENTERED, &from);
}

static void leave(uint32_t serial, int64_t result, uint64_t time, uint32_t flags)
{
    while (from.open[--from.nopen].serial != serial)
        ;
    from.call = from.open[from.nopen];
    from.time = time;
    from.result = result;
    from.flags = flags;
    ringevents_record(events, RING_LEFT, &from);
}

static bool sig(int nr, uint64_t time)
{
    const struct off_event e = {.kind = OFF_SIGNAL, .time = time, .tid = 11, .pid = 10, .nr = nr};

    return ringevents_signal(events, &e);
}

static void test_calls(void)
{
    begin();
    enter(1, SYS_read, 3, 0, 10);
    leave(1, 5, 20, 0);
    is_str(reported, "11>0@10 11<0=5@20", "a call that may sleep gets an entry and an exit event");
    begin();
    enter(1, SYS_read, 3, 0, 10);
    leave(1, 5, 20, RING_RAN_ON);
    is_str(reported, "11>0@10 11<0=5@20on",
           "the exit of a call that stayed on its CPU is marked so");
    begin();
    enter(1, SYS_futex, 64, FUTEX_WAKE, 10);
    leave(1, 1, 20, 0);
    is_str(reported, "11>202@10w", "a call that only wakes gets an entry only");
    begin();
    enter(1, SYS_futex, 64, FUTEX_FD, 10);
    enter(2, SYS_getpid, 0, 0, 11);
    leave(2, 10, 12, 0);
    leave(1, 1, 20, 0);
    is_str(reported, "", "calls that neither sleep nor wake get no events");
}

/* The call is over when its beginning is read, and has no end record. */
static void pass(uint32_t serial, int nr, uint64_t a0, uint64_t a1, int64_t result)
{
    from.passed = true;
    from.result = result;
    enter(serial, nr, a0, a1, 10);
    from.passed = false;
    from.nopen--;
}

static void test_passed(void)
{
    begin();
    pass(1, SYS_write, 3, 0, 5);
    is_str(reported, "11>1@10w", "a passed call that may wake gets an entry");
    begin();
    pass(1, SYS_write, 3, 0, -EAGAIN);
    is_str(reported, "", "a passed call that failed gets no event");
    begin();
    pass(1, SYS_getdents64, 3, 0, 5);
    is_str(reported, "", "a passed call that cannot wake gets no event");
    begin();
    enter(1, SYS_read, 3, 0, 5);
    pass(2, SYS_write, 3, 0, 1);
    leave(1, 5, 30, 0);
    is_str(reported, "11>0@5 11<0=-514@10 11>1@10w 11>0@10r 11<0=5@30",
           "a passed call in a handler interrupts the outer call");
}

static void test_signals(void)
{
    begin();
    ok(!sig(SIGUSR1, 5), "a signal outside of calls is left to the caller");
    enter(1, SYS_read, 3, 0, 10);
    ok(sig(SIGUSR1, 15), "a signal within a call is taken over");
    leave(1, -EINTR, 20, 0);
    is_str(reported, "11>0@10 11<0=-4@15 11!10@15c",
           "a signal that ended its call is reported at its own time");
    ok(!sig(SIGUSR1, 25), "a signal after a call's end is left to the caller");
    begin();
    enter(1, SYS_read, 3, 0, 10);
    sig(SIGCHLD, 15);
    leave(1, 5, 20, 0);
    is_str(reported, "11>0@10 11<0=5@20", "a signal that did not end its call is not reported");
    enter(2, SYS_read, 3, 0, 30);
    leave(2, -EINTR, 40, 0);
    is_str(reported, "11>0@10 11<0=5@20 11>0@30 11<0=-4@40",
           "a signal that did not end its call is not reported with the next call");
    begin();
    enter(1, SYS_read, 3, 0, 10);
    sig(SIGCHLD, 13);
    sig(SIGUSR1, 15);
    leave(1, -EINTR, 20, 0);
    is_str(reported, "11>0@10 11<0=-4@15 11!10@15c", "of two signals the last one ended the call");
}

static void test_handlers(void)
{
    begin();
    enter(1, SYS_read, 3, 0, 10);
    sig(SIGALRM, 15);
    enter(2, SYS_write, 4, 0, 16);
    leave(2, 1, 17, RING_RAN_ON);
    leave(1, -EINTR, 18, 0);
    is_str(reported, "11>0@10 11<0=-514@15 11!14@15c 11>1@16 11<1=1@17on",
           "a handler's call follows the end of the call that it interrupted");
    begin();
    enter(1, SYS_read, 3, 0, 10);
    sig(SIGALRM, 15);
    enter(2, SYS_write, 4, 0, 16);
    leave(2, 1, 17, 0);
    leave(1, 7, 30, 0);
    is_str(reported, "11>0@10 11<0=-514@15 11!14@15c 11>1@16 11<1=1@17 11>0@17r 11<0=7@30",
           "an interrupted call that continues is entered again after the handler");
    begin();
    enter(1, SYS_read, 3, 0, 10);
    sig(SIGALRM, 15);
    enter(2, SYS_pause, 0, 0, 16);
    leave(2, 0, 20, 0);
    enter(3, SYS_pause, 0, 0, 25);
    leave(3, 0, 30, 0);
    is_str(reported, "11>0@10 11<0=-514@15 11!14@15c 11>34@16 11<34=0@20 11>34@25 11<34=0@30",
           "a call that a handler jumped out of ended when the signal came");
    begin();
    for (uint32_t i = 1; i <= RINGS_NESTED; i++)
        enter(i, SYS_pause, 0, 0, i);
    is_int(from.nopen, RINGS_NESTED, "RINGS_NESTED calls are nested");
    memmove(from.open, from.open + 1, --from.nopen * sizeof *from.open);
    enter(50, SYS_pause, 0, 0, 50);
    reported[0] = '\0';
    leave(2, -EINTR, 60, 0);
    is_str(reported, "", "the end of an outer call is not reported twice");
}

static char pointed[100]; /* addresses of what entries point to */

static void take_memory(void *arg, const struct off_event *e, uint32_t stack)
{
    uint64_t is = 0;

    (void)arg, (void)stack;
    if (e->kind == OFF_ENTRY)
        snprintf(pointed + strlen(pointed), sizeof pointed - strlen(pointed), "%d:%d ", e->nr,
                 e->memory && arg_copy_read(e->memory, 64, &is, 8) ? (int)is : -1);
}

static void enter_with(uint32_t serial, int nr, uint64_t pointed_to)
{
    from.memory[0] = 64;
    from.memory[1] = 8;
    from.memory[2] = pointed_to;
    from.nmemory = 3;
    enter(serial, nr, 64, 0, serial);
    from.nmemory = 0;
    from.memory[2] = 0;
}

/* The memory that a call points to comes with it, also when the call continues after another. */
static void test_memory(void)
{
    static const struct ringevents_client client = {.event = take_memory};

    begin();
    ringevents_free(events);
    events = ringevents_new(&client);
    enter_with(1, SYS_connect, 5);
    sig(SIGALRM, 2);
    enter_with(3, SYS_connect, 6);
    leave(3, 0, 4, 0);
    enter(5, SYS_pause, 64, 0, 5);
    leave(5, 0, 6, 0);
    leave(1, 0, 7, 0);
    is_str(pointed, "42:5 42:6 34:-1 42:5 ",
           "a continued call has the memory that it was logged with");
    begin();
    ringevents_free(events);
    events = ringevents_new(&client);
    pointed[0] = '\0';
    for (uint32_t i = 1; i <= RINGS_NESTED; i++)
        enter_with(i, SYS_connect, i);
    memmove(from.open, from.open + 1, --from.nopen * sizeof *from.open);
    enter_with(50, SYS_connect, 50);
    pointed[0] = '\0';
    leave(50, 0, 60, 0);
    leave(RINGS_NESTED, 0, 61, 0);
    leave(2, 0, 62, 0);
    is_str(pointed, "42:16 42:2 ", "of too many nested calls only the outermost loses its memory");
}

static void test_vfork(void)
{
    begin();
    enter(1, SYS_read, 3, 0, 10);
    leave(1, 1, 11, 0);
    ringevents_lend(events, 11, 40);
    enter(2, SYS_write, 3, 0, 12);
    leave(2, 1, 13, 0);
    ringevents_back(events, 11);
    enter(3, SYS_read, 3, 0, 14);
    leave(3, 1, 15, 0);
    is_str(reported, "11>0@10 11<0=1@11 40>1@12 40<1=1@13 11>0@14 11<0=1@15",
           "calls between vfork and exec belong to the child");
    enter(4, SYS_read, 3, 0, 20);
    ringevents_gone(events, 11);
    reported[0] = '\0';
    enter(5, SYS_read, 3, 0, 21);
    is_str(reported, "11>0@21", "an ended thread leaves no open call");
}

static bool stop(enum off_event_kind kind, int nr, uint64_t time)
{
    const struct off_event e = {.kind = kind,
                                .time = time,
                                .tid = 11,
                                .pid = 10,
                                .nr = nr,
                                .stopped = {.ns = kind == OFF_SAMPLE ? 5 : 0, .times = 1}};

    return ringevents_stopped(events, &e);
}

static void test_stops(void)
{
    begin();
    enter(1, SYS_read, 3, 0, 10);
    sig(SIGALRM, 15);
    stop(OFF_ENTRY, SYS_write, 16);
    stop(OFF_EXIT, SYS_write, 18);
    leave(1, 7, 30, 0);
    is_str(reported, "11>0@10 11<0=-514@15 11!14@15c 11>0@18r 11<0=7@30",
           "a handler's stopped call interrupts the logged call");
    begin();
    enter(1, SYS_read, 3, 0, 10);
    leave(1, 7, 12, 0);
    stop(OFF_ENTRY, SYS_write, 16);
    stop(OFF_EXITING, 0, 17);
    is_str(reported, "11>0@10 11<0=7@12",
           "a stopped call after the logged one does not interrupt it");
}

static uint64_t held;

static void add_held(void *arg, const struct off_event *e, uint32_t stack)
{
    (void)arg, (void)stack;
    held += e->stopped.ns;
}

static void test_samples(void)
{
    static const struct ringevents_client client = {.event = add_held};

    begin();
    ok(!stop(OFF_SAMPLE, 0, 10), "a sample outside of calls is left to the caller");
    enter(1, SYS_read, 3, 0, 7);
    is_str(reported, "11>0@10", "a call logged before a sample begins no earlier than the sample");
    leave(1, 7, 20, 0);
    is_str(reported, "11>0@10 11<0=7@20", "a call's end after a sample has its logged time");
    begin();
    sig(SIGALRM, 30);
    enter(1, SYS_read, 3, 0, 29);
    is_str(reported, "11>0@29",
           "a signal for a thread without events does not move its first call");
    ok(sig(SIGALRM, 32) && !stop(OFF_STOPPED, 0, 40),
       "a signal in a call is taken over, and the stop after it is left to the caller");
    leave(1, -EINTR, 35, 0);
    is_str(reported, "11>0@29 11<0=-4@40 11!14@40c",
           "events of a call after a stop are no earlier than that stop");

    ringevents_free(events);
    events = ringevents_new(&client);
    enter(2, SYS_read, 3, 0, 50);
    ok(stop(OFF_SAMPLE, 0, 60), "a sample within a call is taken over");
    held = 0;
    leave(2, 7, 61, 0);
    is_int(held, 5, "the stopped time of a sample within a call is reported with the call's exit");
    held = 0;
}

static void test_held(void)
{
    static const struct ringevents_client client = {.event = add_held};
    struct off_event e = {
        .kind = OFF_SIGNAL, .time = 15, .tid = 11, .pid = 10, .stopped = {40, 40, 1}};

    begin();
    ringevents_free(events);
    events = ringevents_new(&client);
    enter(1, SYS_read, 3, 0, 10);
    ringevents_signal(events, &e);
    leave(1, 7, 30, 0);
    is_int(held, 40, "the stopped time of a signal that did not end its call is reported");
}

static void test_vfork_in_handler(void)
{
    begin();
    enter(1, SYS_read, 3, 0, 10);
    stop(OFF_ENTRY, SYS_vfork, 12);
    ringevents_lend(events, 11, 40);
    enter(2, SYS_pause, 0, 0, 13);
    ringevents_back(events, 11);
    from.nopen = 1;
    reported[0] = '\0';
    leave(1, 7, 30, 0);
    is_str(reported, "11>0@12r 11<0=7@30",
           "an open call of a vfork child does not become its parent's");
}

/* Times of the stage are in us. */
#define US(t) ((uint64_t)(t)*1000)

static void test_machine(void)
{
    begin();
    stage_open(1, 4);
    stage_object(3, OFF_ON_PIPE, 7, 0);
    stage_begin(0, 11, 10, 0);
    stage_begin(0, 12, 10, 0);
    to_machine = true;
    enter(1, SYS_read, 3, 0, US(10));
    from.tid = 12;
    from.nopen = 0;
    enter(1, SYS_write, 3, 0, US(50));
    leave(1, 1, US(52), RING_RAN_ON);
    from.tid = 11;
    from.call = (struct ring_call){.serial = 1, .nr = SYS_read, .args = {3}, .stack = 1};
    from.open[0] = from.call;
    from.nopen = 1;
    leave(1, 1, US(60), 0);
    is_int(stage_sleeps(), 1, "a logged read that another thread's write ends is one sleep");
    is_int(stage_last()->blocked_ns, US(50), "a logged read blocks until its end");
    is_str(stage_chain(), "12", "a logged read has its waker");
    enter(2, SYS_read, 3, 0, US(100));
    leave(2, 1, US(900), RING_RAN_ON);
    is_int(stage_sleeps(), 1, "a call that stayed on its CPU is no sleep, however long it took");
    enter(3, SYS_read, 3, 0, US(1000));
    sig(SIGALRM, US(1400));
    leave(3, -EINTR, US(1500), 0);
    from.time = US(2400);
    from.waited_ns = US(300);
    from.waits = 1;
    ringevents_record(events, RING_DELAYED, &from);
    ringevents_record(events, RING_DELAYED, &from);
    enter(4, SYS_read, 3, 0, US(2500));
    leave(4, 1, US(2600), RING_RAN_ON);
    stage_finish(2700);
    is_int(stage_sleeps(), 2, "a logged read that a signal ended is a sleep");
    is_int(stage_last()->blocked_ns, US(400),
           "a logged read that a signal ended blocks until the signal");
    is_str(stage_chain(), "[signal]", "a logged read that a signal ended has [signal]");
    is_int((intmax_t)stage_rest(11, OFF_OTHER_ROOM).ns, US(600),
           "waits for room in the ring are added up with the next event");
    is_int((intmax_t)stage_rest(11, OFF_OTHER_ROOM).times, 2,
           "each wait for room in the ring is counted");
    to_machine = false;
    stage_close();
}

int main(void)
{
    test_calls();
    test_passed();
    test_signals();
    test_handlers();
    test_memory();
    test_vfork();
    test_stops();
    test_samples();
    test_held();
    test_vfork_in_handler();
    test_machine();
    ringevents_free(events);
    return done_testing();
}
