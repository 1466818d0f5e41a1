/*
 * narrow: a 32-bit program without a library: timed waits, 20 of 20 ms. Exit 1 if one was
 * cut short. Build with -m32 -nostdlib -static.
 */
#define SYS32_EXIT 1
#define SYS32_EPOLL_CREATE 254
#define SYS32_EPOLL_WAIT 256

static int call(int nr, long a, long b, long c, long d)
{
    int result;

    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d)
                     : "memory");
    return result;
}

void _start(void);
void _start(void)
{
    int set = call(SYS32_EPOLL_CREATE, 1, 0, 0, 0), bad = 0;
    char event[16];

    for (int i = 0; i < 20; i++)
        bad += call(SYS32_EPOLL_WAIT, set, (long)event, 1, 20) != 0;
    call(SYS32_EXIT, bad > 0, 0, 0, 0);
    for (;;)
        ;
}
