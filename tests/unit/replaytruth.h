/*
 * replaytruth.h: compares a replay with what the program recorded about itself: the comment lines
 * "# truth TID BY BEGIN FROM TO END CPU" of a log, as tests/victims/off/truth.h writes them.
 */
#ifndef FLAME_TESTS_UNIT_REPLAYTRUTH_H
#define FLAME_TESTS_UNIT_REPLAYTRUTH_H

#include "tests/unit/replayer.h"

/*
 * Appends a line for each violation, and returns the number of truths in the log. For each truth:
 *
 *   - each sleep of TID that BY ended, and that is not wholly outside, lies within BEGIN and END;
 *   - all of these sleeps together are not longer than that;
 *   - and not shorter than the calls of the log that TID was in between FROM and TO, less what the
 *     log has of these calls as stops by the tracer and waits for a CPU, and less time on a CPU,
 * which is CPU or what the log has, whichever is less;
 *   - sleeps that TID began and ended between FROM and TO were ended by BY.
 */
size_t replay_check_truths(const struct replayed *r, const char *log, size_t len,
                           struct strbuf *wrong);

/* Checks threads likewise: sleeps, time on CPUs, waits for one and the rest are together as long as
 * each thread was traced. */
void replay_check_threads(const struct replayed *r, struct strbuf *wrong);

#endif
