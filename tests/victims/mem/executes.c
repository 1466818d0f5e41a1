/*
 * executes.c: executes a program by the function its first argument names.
 *
 *   executes HOW PROGRAM [ARGUMENT...]   execve execv execvp execvpe execl execlp execle
 *                                        fexecve execveat spawn spawnp vfork system popen:
 *                                        ends as PROGRAM does
 *   executes errors                      prints what calls that must fail return
 *   executes show                        prints its arguments and what the loader is asked
 *
 * PROGRAM gets the present environment with HOW=HOW added at its end where the function
 * takes one. The lists of execl and its like are of two arguments.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 34)
/* The C library has none: the recorder's is called, or the system. */
static int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    int (*ours)(int, const char *, char *const[], char *const[], int);

    *(void **)&ours = dlsym(RTLD_DEFAULT, "execveat");
    return ours ? ours(dir, path, argv, envp, flags)
                : (int)syscall(SYS_execveat, dir, path, argv, envp, flags);
}
#endif

static char **with(const char *how)
{
    static char *envp[4096], text[64];
    size_t n = 0;

    snprintf(text, sizeof text, "HOW=%s", how);
    while (environ[n] && n < 4000) {
        envp[n] = environ[n];
        n++;
    }
    envp[n++] = text;
    envp[n] = NULL;
    return envp;
}

static int leave(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return leave(status);
}

static int by_shell(const char *how, char **argv)
{
    char line[4096] = "", buf[256];
    size_t at = 0, n;
    FILE *f;

    for (; *argv; argv++)
        at += (size_t)snprintf(line + at, sizeof line - at, "%s ", *argv);
    if (strcmp(how, "system") == 0)
        return leave(system(line));
    f = popen(line, "r");
    while (f && (n = fread(buf, 1, sizeof buf, f)) > 0)
        fwrite(buf, 1, n, stdout);
    return f ? leave(pclose(f)) : 99;
}

static int spawn(int how(pid_t *, const char *, const posix_spawn_file_actions_t *,
                         const posix_spawnattr_t *, char *const *, char *const *),
                 char **argv, char **envp)
{
    pid_t pid = -7;
    int err = how(&pid, argv[0], NULL, NULL, argv, envp);

    if (err)
        printf("error %d, pid %d\n", err, (int)pid);
    return err ? 98 : wait_for(pid);
}

static int by_vfork(char **argv, char **envp)
{
    pid_t pid = vfork();

    if (pid == 0) {
        execve(argv[0], argv, envp);
        _exit(97);
    }
    return wait_for(pid);
}

static int run(const char *how, char **argv)
{
    char **envp = with(how);
    const char *file = argv[0];

    if (strcmp(how, "execve") == 0)
        execve(file, argv, envp);
    else if (strcmp(how, "execv") == 0)
        execv(file, argv);
    else if (strcmp(how, "execvp") == 0)
        execvp(file, argv);
    else if (strcmp(how, "execvpe") == 0)
        execvpe(file, argv, envp);
    else if (strcmp(how, "execl") == 0)
        execl(file, argv[0], argv[1], (char *)NULL);
    else if (strcmp(how, "execlp") == 0)
        execlp(file, argv[0], argv[1], (char *)NULL);
    else if (strcmp(how, "execle") == 0)
        execle(file, argv[0], argv[1], (char *)NULL, envp);
    else if (strcmp(how, "fexecve") == 0)
        fexecve(open(file, O_RDONLY | O_CLOEXEC), argv, envp);
    else if (strcmp(how, "execveat") == 0)
        execveat(open("/", O_PATH | O_CLOEXEC), file + 1, argv, envp, 0);
    else if (strcmp(how, "spawn") == 0)
        return spawn(posix_spawn, argv, envp);
    else if (strcmp(how, "spawnp") == 0)
        return spawn(posix_spawnp, argv, envp);
    else if (strcmp(how, "vfork") == 0)
        return by_vfork(argv, envp);
    else
        return by_shell(how, argv);
    return 96;
}

/* ---- what fails must fail alike ---- */

static char *const none[] = {NULL};
static char *const args[] = {(char *)"x", NULL};

static void tell(const char *what, int result)
{
    printf("%s: %d, errno %d\n", what, result, errno);
    errno = 0;
}

static void errors(void)
{
    static char big[200000];
    char *many[40], *const *volatile null = NULL;
    const char *volatile nowhere = NULL;
    int dir = open("/", O_PATH | O_CLOEXEC), file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_t pid = -7;

    memset(big, 'x', sizeof big - 1);
    for (size_t i = 0; i < 39; i++)
        many[i] = big;
    many[39] = NULL;
    errno = 0;
    tell("no such file", execve("/no/such/file", args, environ));
    tell("a directory", execve("/", args, environ));
    tell("a device", execve("/dev/null", args, environ));
    tell("no path", execve(nowhere, args, environ));
    tell("an empty path", execve("", args, environ));
    tell("no format", execve("./text", args, environ));
    tell("no interpreter", execve("./orphan", args, environ));
    tell("not executable", execve("./plain", args, environ));
    tell("too much", execve("/bin/true", many, environ));
    tell("execv", execv("/no/such/file", args));
    tell("execvp", execvp("no-such-file-anywhere", args));
    tell("execvp, empty", execvp("", args));
    tell("execvp, there", execvp("./plain", args));
    tell("execvpe, no environment", execvpe("no-such-file-anywhere", args, null));
    tell("execl", execl("/no/such/file", "x", (char *)NULL));
    tell("execlp", execlp("no-such-file-anywhere", "x", "y", (char *)NULL));
    tell("execle", execle("/no/such/file", "x", (char *)NULL, none));
    tell("fexecve, closed", fexecve(-1, args, environ));
    tell("fexecve, a device", fexecve(file, args, environ));
    tell("execveat", execveat(dir, "no/such/file", args, environ, 0));
    tell("execveat, flags", execveat(dir, "bin/true", args, environ, 0x40000000));
    tell("execveat, empty", execveat(file, "", args, environ, 0));
    tell("posix_spawn", posix_spawn(&pid, "/no/such/file", NULL, NULL, args, environ));
    tell("posix_spawnp", posix_spawnp(NULL, "no-such-file-anywhere", NULL, NULL, args, none));
}

static int show(int argc, char **argv)
{
    const char *preload = getenv("LD_PRELOAD"), *how = getenv("HOW");

    printf("arguments:");
    for (int i = 2; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\nhow: %s\nLD_PRELOAD: %s\n", how ? how : "-", preload ? preload : "-");
    return 7;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "errors") == 0) {
        errors();
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "show") == 0)
        return show(argc, argv);
    if (argc < 3)
        return 95;
    return run(argv[1], argv + 2);
}
