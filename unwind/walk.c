#include "unwind/walk.h"

#include "unwind/step.h"

int walk_frames(struct rules *rules, struct walk_regs regs,
                bool (*window)(void *arg, uintptr_t sp, struct walk_window *out), void *arg,
                uintptr_t *pcs, int max, enum walk_end *end)
{
    struct frame_state f = {.r = regs};
    struct step_words words;
    struct walk_window w;
    int n = 0;

    *end = WALK_COMPLETE;
    if (unlikely(max <= 0 || !window(arg, regs.sp, &w)))
        return 0;
    while (n < max) {
        pcs[n++] = f.r.pc;
        switch (step_out(rules, &w, &f, &words)) {
        case STEP_OK:
            break;
        case STEP_STACK:
            if (window(arg, f.r.sp, &w))
                break;
            *end = WALK_LOST;
            return n;
        case STEP_END:
            return n;
        case STEP_BOGUS:
            return n - 1;
        default:
            *end = WALK_LOST;
            return n;
        }
    }
    return n;
}
