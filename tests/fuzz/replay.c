/*
 * Runs a fuzz target over files instead of libFuzzer's inputs, so that every
 * compiler can replay the corpus. Prints TAP, one line a file; a crash or abort
 * ends the program and with it the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    int failed = 0;

    printf("1..%d\n", argc - 1);
    fflush(stdout);
    for (int i = 1; i < argc; i++) {
        struct strbuf sb = STRBUF_INIT;
        int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        int err = fd < 0 ? -errno : strbuf_read_fd(&sb, fd);

        if (fd >= 0)
            close(fd);
        if (!err) {
            /* An exact heap copy, so that a sanitizer sees a read past the end. */
            uint8_t *copy = xmalloc(sb.len);

            memcpy(copy, sb.buf, sb.len);
            LLVMFuzzerTestOneInput(copy, sb.len);
            free(copy);
        }
        printf("%sok %d - %s\n", err ? "not " : "", i, argv[i]);
        fflush(stdout);
        failed |= err != 0;
        strbuf_release(&sb);
    }
    return failed;
}
