#include "driver/doctor/verdicts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"

/* File names and the output of programs may hold any bytes. */
static void print_line(const char *word, const char *subject, const char *text)
{
    printf("%-4s  %-14s  ", word, subject);
    for (const char *c = text; *c; c++)
        putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
    putchar('\n');
}

void verdict_print(enum verdict v, const char *subject, const char *format, ...)
{
    static const char *const words[] = {
        [VERDICT_YES] = "yes", [VERDICT_PART] = "part", [VERDICT_NO] = "no"};
    char *text = NULL;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    text = xcalloc((size_t)n + 1, 1);
    va_start(ap, format);
    vsnprintf(text, (size_t)n + 1, format, ap);
    va_end(ap);
    print_line(words[v], subject, text);
    free(text);
}

void verdict_cost(const char *cost, const char *command)
{
    if (cost)
        print_line("", "costs you", cost);
    if (command)
        print_line("", "change it by", command);
}
