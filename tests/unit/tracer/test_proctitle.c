/* Command lines that are titles, which a program writes over its arguments. */
#include "tracer/objects/proctitle.h"

#include "tests/tap.h"

/* Counts the literal's own NUL, as every command line ends in one. */
#define LEN(s) ((int)proctitle_len(s, sizeof(s)))

int main(void)
{
    is_int(LEN("postgres: checkpointer \0\0\0\0"), 22,
           "a PostgreSQL title is recognised without its cleared rest");
    is_int(LEN("redis-server *:6379"), 19, "a redis title is recognised");
    is_int(LEN("nginx: worker process\0\0"), 21, "an nginx title is recognised");
    is_int(LEN("sshd: user [priv]"), 17, "an sshd title is recognised");
    is_int((int)proctitle_len("app: over all of it", 19), 19,
           "a title without a terminating NUL is recognised");
    is_int(LEN("sleep\0001"), 0, "a command with an argument is not a title");
    is_int(LEN("my app: x\0001"), 0,
           "a command with a blank and a colon in its name is not a title");
    is_int(LEN("sleep"), 0, "a command without arguments is not a title");
    is_int(LEN("-bash"), 0, "a login shell is not a title");
    is_int(LEN("/opt/chrome/chrome --type=renderer --lang=en"), 0,
           "arguments joined in one string are not a title");
    is_int(LEN("./my program"), 0, "a path with a blank is not a title");
    is_int(LEN(""), 0, "an empty command line is not a title");
    is_int(LEN("   \0"), 0, "blanks are not a title");
    is_int((int)proctitle_len("", 0), 0,
           "the empty command line of a kernel thread is not a title");
    is_int(LEN("a\0\0b: c"), 0, "a command line with empty arguments is not a title");
    return done_testing();
}
