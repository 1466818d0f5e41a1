#include "inside/wait/ownclock.h"

#include <linux/prctl.h>

bool ownclock_by_call;

void ownclock_begin(void)
{
    int state = 0;

    /* Refused by processors that have no such switch. */
    if (kernel_call(SYS_prctl, PR_GET_TSC, &state) == 0 && state == PR_TSC_SIGSEGV)
        ownclock_by_call = true;
}
