/*
 * Opens and closes converters in turn. The C library loads a module for each and
 * unloads it later, without a call of dlclose that anybody could see.
 */
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static const char *const names[] = {"UTF-16",  "UTF-32",      "UTF-7",       "UNICODE",
                                        "EUC-JP",  "ISO-2022-JP", "ISO-2022-KR", "BIG5",
                                        "GB18030", "CP932",       "KOI8-R",      "TCVN"};
    unsigned random = 1;

    for (int i = 0; i < 300; i++) {
        char in[] = "hello", out[100], *from = in, *to = out;
        size_t left = strlen(in), room = sizeof out;
        iconv_t it;

        random = random * 1103515245u + 12345;
        it = iconv_open(names[(random >> 16) % (sizeof names / sizeof *names)], "UTF-8");
        if (it == (iconv_t)-1)
            continue;
        iconv(it, &from, &left, &to, &room);
        iconv_close(it);
    }
    puts("done");
    return 0;
}
