/*
 * preload/runtime/seccomp_filter.h against the kernel: filters that are made up at random are
 * installed in children, which report what became of calls. The filter only decides
 * between allowing a call and failing it with a number of its own.
 */
#define _GNU_SOURCE
#include "preload/runtime/seccomp_filter.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define N_RANDOM 60
#define N_CALLS 40
#define MOST 64

static uint64_t state = 4711;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* A word of the call, or a number that one of its words is likely to be near. */
static uint32_t some_word(void)
{
    static const uint32_t words[] = {0,   1,    2,          3,          31,         32,         33,
                                     255, 4096, 0x7fffffff, 0x80000000, UINT32_MAX, SYS_getppid};

    return words[next(ARRAY_LEN(words))];
}

static struct sock_filter some_instruction(size_t left)
{
    static const uint16_t alu[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
                                   BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint16_t source = next(2) ? BPF_X : BPF_K, op;
    uint8_t far = (uint8_t)(left > 6 ? 5 : left);

    switch (next(10)) {
    case 0:
    case 1:
        /* Words 2 and 3 are left out: the interpreter has no address of the call. */
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (next(14) + 4) % 16 * 4);
    case 2:
        return (struct sock_filter)BPF_STMT((next(2) ? BPF_LD : BPF_LDX) | BPF_IMM, some_word());
    case 3:
        return (struct sock_filter)BPF_STMT((next(2) ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN, 0);
    case 4:
        return (struct sock_filter)BPF_STMT(BPF_MISC | (next(2) ? BPF_TAX : BPF_TXA), 0);
    case 5:
    case 6:
        op = alu[next(ARRAY_LEN(alu))];
        if (op == BPF_NEG)
            return (struct sock_filter)BPF_STMT(BPF_ALU | BPF_NEG, 0);
        if (op == BPF_DIV)
            return (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 1 + next(9));
        if (op == BPF_LSH || op == BPF_RSH)
            return (struct sock_filter)BPF_STMT(BPF_ALU | op | BPF_K, next(32));
        return (struct sock_filter)BPF_STMT(BPF_ALU | op | source, some_word());
    case 7:
        return (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, next(far));
    default:
        return (struct sock_filter)BPF_JUMP(BPF_JMP | jumps[next(ARRAY_LEN(jumps))] | source,
                                            some_word(), (uint8_t)next(far), (uint8_t)next(far));
    }
}

/*
 * Computes something from the call and, for getppid, fails it with the low bits. Scratch
 * words are stored before they are loaded, as the kernel wants it.
 */
static size_t make_filter(struct sock_filter *f)
{
    size_t n = 0, body;

    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, some_word());
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ST, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_STX, 1);
    body = 10 + next(30);
    for (size_t i = 0; i < body; i++)
        f[n++] = some_instruction(body - i);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ST, 15);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_MEM, next(2));
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_MEM, 15);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x3ff);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    return n;
}

static void make_args(unsigned long args[6])
{
    for (int i = 0; i < 6; i++)
        args[i] = (unsigned long)some_word() << 32 | some_word();
}

static long real_call(const unsigned long a[6])
{
    errno = 0;
    return syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]) < 0 ? errno : 0;
}

/* In a child: the number of calls whose result was not predicted; 255: the filter is not installed.
 */
static int compare(const struct sock_filter *f, size_t n)
{
    struct sock_fprog prog = {(unsigned short)n, (struct sock_filter *)f};
    int wrong = 0;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        return 255;
    for (int i = 0; i < N_CALLS; i++) {
        unsigned long args[6];
        struct seccomp_data call;

        make_args(args);
        call = seccomp_filter_data(SYS_getppid, args);
        wrong += real_call(args) != (long)(seccomp_filter_run(f, n, &call) & SECCOMP_RET_DATA);
    }
    return wrong > 254 ? 254 : wrong;
}

static int in_child(const struct sock_filter *f, size_t n)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(compare(f, n));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static void test_random(void)
{
    int wrong = 0, refused = 0;

    for (int i = 0; i < N_RANDOM; i++) {
        struct sock_filter f[MOST];
        size_t n = make_filter(f);
        int result = in_child(f, n);

        if (result == 255)
            refused++;
        else if (result)
            wrong++;
        if (result && result != 255)
            diag("filter %d: %d calls differ", i, result);
    }
    is_int(refused, 0, "the kernel accepts each random filter");
    is_int(wrong, 0, "seccomp_filter_run predicts the kernel's result of each call");
}

static uint32_t run(const struct sock_filter *f, size_t n)
{
    unsigned long args[6] = {1, 2, 3, 4, 5, 6};
    struct seccomp_data call = seccomp_filter_data(SYS_getppid, args);

    return seccomp_filter_run(f, n, &call);
}

#define REFUSED(what, ...)                                                                         \
    do {                                                                                           \
        struct sock_filter f[] = {__VA_ARGS__, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};      \
                                                                                                   \
        is_int(run(f, ARRAY_LEN(f)), SECCOMP_RET_KILL_PROCESS, what);                              \
    } while (0)

static void test_bad(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_filter on[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};

    is_int(run(&allow, 1), SECCOMP_RET_ALLOW, "a filter that allows all allows a call");
    is_int(run(&allow, 0), SECCOMP_RET_KILL_PROCESS, "an empty filter kills");
    is_int(run(on, 1), SECCOMP_RET_KILL_PROCESS, "a filter without a return kills");
    REFUSED("a jump beyond the filter's end kills", BPF_STMT(BPF_JMP | BPF_JA, 100));
    REFUSED("a jump far beyond the filter's end kills", BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX));
    REFUSED("a jump of an unknown kind kills", BPF_STMT(BPF_JMP | 0xf0, 0));
    REFUSED("a load beyond the call's data kills", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64));
    REFUSED("a load at an unaligned offset kills", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 3));
    REFUSED("a load of an unknown kind kills", BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0));
    REFUSED("a load into X from the call's data kills", BPF_STMT(BPF_LDX | BPF_W | BPF_ABS, 0));
    REFUSED("a store to a missing scratch word kills", BPF_STMT(BPF_ST, 16));
    REFUSED("a load from a missing scratch word kills", BPF_STMT(BPF_LD | BPF_MEM, 16));
    REFUSED("a division by 0 kills", BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0));
    REFUSED("arithmetic of an unknown kind kills", BPF_STMT(BPF_ALU | 0xf0, 0));
}

int main(void)
{
    test_bad();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        skip("the kernel accepts no seccomp filters here");
    else
        test_random();
    return done_testing();
}
