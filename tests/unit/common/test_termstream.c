/* Output to a terminal, written in pieces of any size. */
#define _GNU_SOURCE
#include "common/files/termstream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/termtext.h"
#include "tests/tap.h"

/* A terminal that changes no byte of its output. */
static int open_terminal(int *master)
{
    struct termios raw;
    int slave;

    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0)
        return -1;
    slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave >= 0 && tcgetattr(slave, &raw) == 0) {
        cfmakeraw(&raw);
        tcsetattr(slave, TCSANOW, &raw);
    }
    return slave;
}

/* Bytes that the terminal shows of `text` when it is written in pieces of `piece` bytes. */
static const char *shown(const char *text, size_t len, size_t piece)
{
    static char got[4096];
    int master, slave = open_terminal(&master);
    FILE *f = slave < 0 ? NULL : termstream_open(fdopen(slave, "w"));
    size_t n = 0;
    ssize_t more;

    if (!f)
        return "no terminal";
    setvbuf(f, NULL, _IONBF, 0);
    for (size_t i = 0; i < len; i += piece)
        fwrite(text + i, 1, len - i < piece ? len - i : piece, f);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC); /* keeps the bytes that are not
                                                                   * read yet */
    fclose(f);
    fcntl(master, F_SETFL, O_NONBLOCK);
    while (n < sizeof got - 1 && (more = read(master, got + n, sizeof got - 1 - n)) > 0)
        n += (size_t)more;
    got[n] = '\0';
    close(slave);
    close(master);
    return got;
}

static void hostile_names(void)
{
    static const char text[] = "a;b\xc2\x9b"
                               "31m\xe2\x80\xae\x1b[2J\r\x9b\xe2\x80\xa8\xe2\x81\xa9 7\n"
                               "\td\xc3\xa9tect\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5\n";
    static const char want[] = "a;b\\x9b31m\\u{202e}\\x1b[2J\\x0d\\x9b\\u{2028}\\u{2069} 7\n"
                               "\td\xc3\xa9tect\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5\n";

    for (size_t piece = 1; piece <= 9; piece++)
        is_str(shown(text, sizeof text - 1, piece), want,
               "hostile names are escaped, in pieces of any size");
    is_str(shown("\xf0\x9f\x94", 3, 1), "\\xf0\\x9f\\x94",
           "an incomplete character at the end is escaped");
    is_str(shown("\xe2\x80\xe2\x80\xe2\x80\xae", 7, 1), "\\xe2\\x80\\xe2\\x80\\u{202e}",
           "a hostile character behind incomplete ones is escaped");
    is_str(shown("", 0, 1), "", "nothing is shown of empty output");
}

/* Random bytes, with many that begin or continue characters. */
static void any_bytes(void)
{
    static const char often[] = "\xc2\xe2\xf0\x80\x9b\xae\x9f\n";
    unsigned wrong = 0, seed = 1;

    for (int round = 0; round < 200; round++) {
        char text[64];
        struct strbuf want = STRBUF_INIT;

        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1103515245u + 12345u;
            text[i] = seed >> 28 ? often[seed >> 16 & 7] : (char)(seed >> 8 | 1);
        }
        for (size_t i = 0, n; i < sizeof text; i += n) {
            struct termtext c = {.escaped = ""};

            n = text[i] == '\n' || text[i] == '\t' ? 1
                                                   : termtext_next(text + i, sizeof text - i, &c);
            if (*c.escaped)
                strbuf_addstr(&want, c.escaped);
            else
                strbuf_add(&want, text + i, n);
        }
        wrong +=
            strcmp(shown(text, sizeof text, seed >> 20 & 7 ? seed >> 20 & 7 : 1), want.buf) != 0;
        strbuf_release(&want);
    }
    is_int(wrong, 0, "random bytes are shown in pieces as they are whole");
}

static void copies(void)
{
    char to[8];

    is_int(termtext_copy(to, sizeof to,
                         "ab\x1b"
                         "c",
                         4),
           7, "termtext_copy returns the length of the escaped text");
    is_mem(to, "ab\\x1bc", 7, "termtext_copy writes the escaped text");
    is_int(termtext_copy(to, 5,
                         "ab\x1b"
                         "c",
                         4),
           2, "termtext_copy does not split an escape");
    is_int(termtext_copy(to, 2, "\xe2\x82\xac", 3), 0, "termtext_copy does not split a character");
}

int main(void)
{
    FILE *plain = tmpfile();

    ok(termstream_open(plain) == plain, "termstream_open returns a plain file unchanged");
    fclose(plain);
    hostile_names();
    any_bytes();
    copies();
    return done_testing();
}
