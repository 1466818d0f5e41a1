/* Which command lines are titles. */
#include "tracer/objects/proctitle.h"

#include "tests/tap.h"

/* The literal's own NUL, which every command line ends in, counts. */
#define LEN(s) ((int)proctitle_len(s, sizeof(s)))

int main(void)
{
    is_int(LEN("postgres: checkpointer \0\0\0\0"), 22, "PostgreSQL's, with what it cleared");
    is_int(LEN("redis-server *:6379"), 19, "redis'");
    is_int(LEN("nginx: worker process\0\0"), 21, "nginx'");
    is_int(LEN("sshd: user [priv]"), 17, "sshd's");
    is_int((int)proctitle_len("app: over all of it", 19), 19, "one without an end");
    is_int(LEN("sleep\0001"), 0, "a command with an argument is none");
    is_int(LEN("my app: x\0001"), 0, "whatever it is called");
    is_int(LEN("sleep"), 0, "nor is one without");
    is_int(LEN("-bash"), 0, "a login shell");
    is_int(LEN("/opt/chrome/chrome --type=renderer --lang=en"), 0, "arguments in one string");
    is_int(LEN("./my program"), 0, "a path with a blank in it");
    is_int(LEN(""), 0, "nothing");
    is_int(LEN("   \0"), 0, "blanks");
    is_int((int)proctitle_len("", 0), 0, "no byte at all, as of a kernel's thread");
    is_int(LEN("a\0\0b: c"), 0, "empty arguments among others");
    return done_testing();
}
