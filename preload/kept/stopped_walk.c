#include "preload/kept/stopped_walk.h"

#include "unwind/debugframe.h"
#include "unwind/local.h"
#include "unwind/modules.h"
#include "unwind/step.h"

bool stopped_walk_is_free(void)
{
    return modules_is_free() && debugframe_is_free();
}

uint32_t stopped_walk(struct walk_regs regs, bool exact, uintptr_t lo, uintptr_t hi,
                      struct stopped_frame *frames, uint32_t max)
{
    struct walk_window w = {.lo = lo, .hi = hi, .bytes = (const uint8_t *)lo};
    struct frame_state f = {.r = regs, .kind = exact ? FRAME_EXACT : FRAME_CALL};
    struct rules *rules = local_rules();
    struct step_words words;
    enum step step = STEP_OK;
    uint32_t n = 0;

    while (n < max && step <= STEP_STACK) {
        frames[n++] = (struct stopped_frame){f.r.sp, f.r.pc, (f.kind & FRAME_EXACT) == FRAME_EXACT};
        step = step_out(rules, &w, &f, &words);
    }
    return step == STEP_BOGUS && n > 1 ? n - 1 : n;
}
