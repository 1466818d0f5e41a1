/*
 * takesaway WHAT: a program that takes away what others in it might live on, and then makes calls
 * that wait. Says what came of them. WHAT:
 *
 *     munmap mprotect mremap mmap   the kernel's code that reads the clock (the vDSO), by that call
 *     child                         a forked child has no thread pointer
 *     pointer                       the thread's own leads to zeros for a while
 *
 * 77: that cannot be done here.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long from, size;

static int find(const char *name)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[300];
    unsigned long to = 0;

    while (!to && fgets(line, sizeof line, f))
        if (!strstr(line, name) || sscanf(line, "%lx-%lx", &from, &to) != 2)
            to = 0;
    fclose(f);
    size = to - from;
    return to != 0;
}

static int take(const char *how)
{
    void *at = (void *)from, *to;

    switch (how[1] + how[2]) {
    case 'u' + 'n':
        return munmap(at, size);
    case 'p' + 'r':
        return mprotect(at, size, PROT_NONE);
    case 'r' + 'e':
        to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to ? 0 : -1;
    default:
        return mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at ? 0
                                                                                               : -1;
    }
}

static long clocks(const char *how)
{
    int p[2];
    long got;
    char c;

    if (!find("[vdso]") || pipe(p) < 0 || take(how) != 0)
        return 77;
    if (fork() == 0) {
        syscall(SYS_write, p[1], "x", 1);
        _exit(0);
    }
    got = read(p[0], &c, 1);
    wait(NULL);
    return got;
}

static long child(void)
{
    int status;
    long pid = syscall(SYS_clone, CLONE_SETTLS | SIGCHLD, 0, 0, 0, 0L);

    if (pid == 0) {
        syscall(SYS_write, 1, "child ", 6);
        syscall(SYS_exit_group, 3);
    }
    waitpid((pid_t)pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

static long pointer(void)
{
    static char zeros[16384];
    unsigned long own = 0;
    long wrote;

    syscall(SYS_arch_prctl, ARCH_GET_FS, &own);
    syscall(SYS_arch_prctl, ARCH_SET_FS, zeros + sizeof zeros / 2);
    wrote = syscall(SYS_write, 1, "thread ", 7);
    syscall(SYS_arch_prctl, ARCH_SET_FS, own);
    return wrote;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "munmap";
    long came;

    came = what[0] == 'c' ? child() : what[0] == 'p' ? pointer() : clocks(what);
    if (came == 77)
        return 77;
    printf("%s %ld\n", what, came);
    return 0;
}
