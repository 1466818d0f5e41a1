#include "patch/find/isa.h"

#include "patch/find/isa_x86_64.h"

static const struct isa *const isas[] = {&isa_x86_64};

const struct isa *isa_of(uint16_t machine)
{
    for (size_t i = 0; i < ARRAY_LEN(isas); i++)
        if (isas[i]->machine == machine)
            return isas[i];
    return NULL;
}
