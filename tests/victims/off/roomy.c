/*
 * roomy SHAPE: a thread that sleeps where it must not be interrupted, in a read() of a socket with
 * a timeout. The frames of the functions above it can be found only by their frame pointer, as
 * their room on the stack has a size that the compiler does not know. "ready" is printed when it is
 * asleep; it ends with status 0 when standard input does. Shapes, each with the stack main,
 * wait_SHAPE, serve_SHAPE, pause_here, syscall:
 *
 *   alloca   room of a size known at run time
 *   aligned  room that begins at a multiple of 64, so that the frame pointer is not where the
 *            caller's frame is
 *   pointer  like alloca, called through a pointer, by by_pointer()
 *   callback no serve_callback: by_pointer() calls pause_here
 *   thread   like alloca, by a thread's first function (no main)
 *   naked    code without unwind tables that keeps no frame pointer: its caller cannot be
 *            found
 *   begun    like naked, but it clears the frame pointer, as code that begins a thread does
 *   made     as naked, in memory of no file
 *
 * Compiled with -DGO it has the note that says a program is written in Go.
 *
 * Before it sleeps it calls other functions as deep, so that the room is full of their leftovers:
 * return addresses and frame pointers of frames that are gone.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static int silent; /* its other end writes nothing */
static volatile size_t room = 3000;
static volatile int sink;

/* Only the caller knows the pointer's value. */
APART static void by_pointer(void (*f)(int), int n)
{
    volatile char *p = alloca(room / 64);

    p[0] = (char)n;
    f(n);
    sink += p[0];
}

APART static void leave_traces(int depth)
{
    volatile char *p = alloca(room / 64);

    p[0] = (char)depth;
    if (depth > 10)
        leave_traces(depth - 1);
    else if (depth > 0)
        by_pointer(leave_traces, depth - 1);
    sink += p[0];
}

APART static void pause_here(int n)
{
    char c;

    /* read() itself would save the frame pointer, and so reveal it. */
    sink += (int)syscall(SYS_read, silent, &c, n);
}

APART static void serve_alloca(void)
{
    volatile char *p = alloca(room);

    p[0] = 1;
    pause_here(1);
    sink += p[0];
}

APART static void wait_alloca(void)
{
    leave_traces(20);
    serve_alloca();
    sink++;
}

APART static void serve_aligned(void)
{
    volatile char __attribute__((aligned(64))) first[64];
    volatile char *p = alloca(room);

    p[0] = first[0] = 1;
    pause_here(1);
    sink += p[0] + first[0];
}

APART static void wait_aligned(void)
{
    leave_traces(20);
    serve_aligned();
    sink++;
}

APART static void serve_pointer(int n)
{
    volatile char *p = alloca(room);

    p[0] = (char)n;
    pause_here(n);
    sink += p[0];
}

APART static void wait_pointer(void)
{
    leave_traces(20);
    by_pointer(leave_traces, 9);
    by_pointer(serve_pointer, 1);
    sink++;
}

APART static void *serve_thread(void *arg)
{
    volatile char *p;

    leave_traces(20);
    p = alloca(room);
    p[0] = 1;
    pause_here(1);
    sink += p[0];
    return arg;
}

APART static void wait_callback(void)
{
    leave_traces(20);
    by_pointer(leave_traces, 9);
    by_pointer(pause_here, 1);
    sink++;
}

static void wait_thread(void)
{
    pthread_t t;

    pthread_create(&t, NULL, serve_thread, NULL);
    pthread_join(t, NULL);
}

static void (*volatile pause_by_pointer)(int) = pause_here;

/* Room for some words and a call. */
#define NAKED(name, first)                                                                         \
    void name(void);                                                                               \
    __asm__(".pushsection .text." #name ", \"ax\", @progbits\n"                                    \
            ".type " #name ", @function\n" #name ":\n"                                             \
            "    push %rbp\n"                                                                      \
            "    " first "\n"                                                                      \
            "    sub $128, %rsp\n"                                                                 \
            "    mov $1, %edi\n"                                                                   \
            "    call *pause_by_pointer(%rip)\n"                                                   \
            "    cmp $0, %rax\n"                                                                   \
            "    add $128, %rsp\n"                                                                 \
            "    pop %rbp\n"                                                                       \
            "    ret\n"                                                                            \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n")

NAKED(serve_naked, "nop");
NAKED(serve_begun, "xor %ebp, %ebp");

APART static void wait_naked(void)
{
    serve_naked();
    sink++;
}

APART static void wait_begun(void)
{
    serve_begun();
    sink++;
}

#ifdef GO
__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
        ".long 4, 4, 4\n"
        ".ascii \"Go\\0\\0id\\0\\0\"\n"
        ".popsection\n");
#endif

/* Code like naked's, generated at run time, with 1 in the frame pointer's register. */
static void wait_made(void)
{
    static const unsigned char made[] = {
        0x55,                                     /* push %rbp */
        0x48, 0x81, 0xec, 0x80, 0x00, 0x00, 0x00, /* sub $128,%rsp */
        0xbd, 0x01, 0x00, 0x00, 0x00,             /* mov $1,%ebp */
        0x48, 0x89, 0xf8,                         /* mov %rdi,%rax */
        0xbf, 0x01, 0x00, 0x00, 0x00,             /* mov $1,%edi */
        0xff, 0xd0,                               /* call *%rax */
        0x48, 0x83, 0xf8, 0x00,                   /* cmp $0,%rax */
        0x48, 0x81, 0xc4, 0x80, 0x00, 0x00, 0x00, /* add $128,%rsp */
        0x5d,                                     /* pop %rbp */
        0xc3,                                     /* ret */
    };
    void *code = mmap(NULL, sizeof made, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED)
        return;
    memcpy(code, made, sizeof made);
    ((void (*)(void (*)(int)))code)(pause_here);
    sink++;
}

static void *say_ready(void *arg)
{
    char path[64], text[64] = "";
    FILE *f;
    char c;

    /* 0 is read. */
    do {
        usleep(1000);
        snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", (long)getpid());
        f = arg ? fopen(path, "r") : NULL;
        if (f && !fgets(text, sizeof text, f))
            text[0] = 0;
        if (f)
            fclose(f);
    } while (arg && strncmp(text, "0 ", 2) != 0);
    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    _exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*wait)(void);
    } shapes[] = {{"alloca", wait_alloca},     {"aligned", wait_aligned}, {"pointer", wait_pointer},
                  {"callback", wait_callback}, {"thread", wait_thread},   {"naked", wait_naked},
                  {"begun", wait_begun},       {"made", wait_made}};
    static const struct timeval long_enough = {600, 0};
    int pair[2];
    bool main_sleeps = argc > 1 && strcmp(argv[1], "thread") != 0;
    pthread_t t;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &long_enough, sizeof long_enough) < 0)
        return 2;
    silent = pair[0];
    pthread_create(&t, NULL, say_ready, main_sleeps ? argv : NULL);
    for (size_t i = 0; argc > 1 && i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, argv[1]) == 0)
            shapes[i].wait();
    return 2;
}
