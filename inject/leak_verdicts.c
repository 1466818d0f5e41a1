#include "inject/leak_verdicts.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "inject/memory/heap_marks.h"

/* Adds up the blocks with that mark by their stacks. */
static struct leak_sum add(struct agent_trace *t, const struct agent_blocks *b,
                           const uint8_t *marks, enum heap_mark mark, uint16_t flag)
{
    uint32_t rows = agent_blocks_rows(b);
    struct leak_sum all = {0, 0};
    struct sums {
        uint64_t bytes, blocks;
    } *sums = xcalloc(rows, sizeof *sums);

    for (size_t i = 0; i < b->n; i++) {
        if (marks[i] != mark)
            continue;
        sums[b->block[i].row].bytes += b->block[i].size;
        sums[b->block[i].row].blocks++;
        all.bytes += b->block[i].size;
        all.blocks++;
    }
    for (uint32_t row = 1; row < rows; row++)
        if (sums[row].blocks)
            agent_trace_verdict(t, row, flag, sums[row].bytes, sums[row].blocks);
    free(sums);
    return all;
}

struct leak_sum leak_verdicts_add(struct agent_trace *t, const struct heap_scan *s)
{
    uint8_t *marks = heap_marks_find(s);
    struct leak_sum first = add(t, s->blocks, marks, HEAP_LEADER, TRACE_ROW_LEAKED);
    struct leak_sum others = add(t, s->blocks, marks, HEAP_LEAK, TRACE_ROW_LEAKED_BY_LEAK);

    add(t, s->blocks, marks, HEAP_INSIDE, TRACE_ROW_INNER);
    agent_trace_leaks(t);
    free(marks);
    return (struct leak_sum){first.bytes + others.bytes, first.blocks + others.blocks};
}
