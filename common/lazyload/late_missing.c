#include "common/lazyload/lazyload.h"

#include "common/error.h"

int late_missing_status = FLAME_FAILED;
