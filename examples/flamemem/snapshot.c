/*
 * Snapshots: the live blocks at moments that the program chooses, here before and after each phase.
 *
 *     cc -g -I PREFIX/include -o snapshot snapshot.c
 *     mkdir snapshots; flame mem --snapshots snapshots -- ./snapshot
 *     flame diff --view live snapshots/s*-1-loaded.flame snapshots/s*-2-sorted.flame
 */
#include <stdio.h>
#include <stdlib.h>

#include "flamemem.h"

#define ROWS 1000

static int **rows, **sorted;

static void load(void)
{
    rows = malloc(ROWS * sizeof *rows);
    for (int i = 0; i < ROWS; i++) {
        rows[i] = malloc(sizeof **rows);
        *rows[i] = i * 7919 % ROWS;
    }
}

static void sort(void)
{
    sorted = calloc(ROWS, sizeof *sorted);
    for (int i = 0; i < ROWS; i++)
        sorted[*rows[i]] = rows[i];
    free(rows);
    rows = NULL;
}

int main(void)
{
    int kept;

    load();
    kept = flamemem_snapshot("loaded");
    sort();
    kept += flamemem_snapshot("sorted");
    printf("%d %d, %d snapshots\n", *sorted[0], *sorted[ROWS - 1], kept);
    return 0;
}
