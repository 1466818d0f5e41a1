/*
 * Pause: a table that is read once and never freed is not recorded.
 *
 *     cc -g -I PREFIX/include -o pause pause.c
 *     flame mem -o pause.svg -- ./pause
 *
 * The table is not in the picture; the summary has the number of bytes that were not counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "flamemem.h"

#define ROWS 1000

static char *table[ROWS];

static void load_table(void)
{
    flamemem_pause();
    for (int i = 0; i < ROWS; i++) {
        table[i] = malloc(32);
        snprintf(table[i], 32, "row %d", i);
    }
    flamemem_resume();
}

static char *answer(int row)
{
    char *text = malloc(64);

    snprintf(text, 64, "answer: %s", table[row]);
    return text;
}

int main(void)
{
    char *text;

    load_table();
    text = answer(7);
    puts(text);
    free(text);
    for (int i = 0; i < ROWS; i++)
        free(table[i]); /* needs no pause of its own */
    return 0;
}
