/*
 * enters [PROGRAM ARG...]: prints the mappings that are of a file called "rules", enters a sandbox
 * that allows everything, and prints them again; then executes PROGRAM, which is within it.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void show(const char *when)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");

    while (f && fgets(line, sizeof line, f))
        n += strstr(line, "/rules\n") != NULL;
    if (f)
        fclose(f);
    printf("%s %d\n", when, n);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {1, all};

    show("before");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 1;
    show("within");
    if (argc > 1)
        execv(argv[1], argv + 1);
    return 0;
}
