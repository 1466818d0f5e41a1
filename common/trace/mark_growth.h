/*
 * mark_growth.h: growth from mark to mark of a trace, stack by stack.
 *
 * A pass is from one mark to the next. Only marks of one name at equal distances (trace_mark_step)
 * are compared, and the first quarter of them is warm-up. The live memory of a stack, in all
 * threads together, grows when the rest of the marks lie along a line:
 *
 *   slope  the median of the slopes between all pairs of marks: the estimator of Theil (A
 *          rank-invariant method of linear and polynomial regression analysis, 1950) and Sen
 *          (Estimates of the regression coefficient based on Kendall's tau, JASA 63, 1968),
 *          which a few odd marks do not move. It must be greater than 0.
 *   halves the slopes between the medians of the first, middle and last third of the marks, as
 *          Tukey's resistant line has them (Exploratory Data Analysis, 1977): each at least
 *          GROWTH_HALF of the slope. Memory that fills up and then remains constant fails this
 *          test, as does memory that grows in a single step.
 *   fit    1 - sum |y - line| / sum |y - median of y|: the share of the deviations that the
 *          line explains, as Koenker and Machado have it for medians (Goodness of Fit and
 *          Related Inference Processes for Quantile Regression, JASA 94, 1999). 1 is a line; at
 *          least GROWTH_FIT. An array that doubles as it grows fails this test.
 *
 * Bytes are judged, or blocks where the bytes do not change.
 */
#ifndef FLAME_COMMON_TRACE_MARK_GROWTH_H
#define FLAME_COMMON_TRACE_MARK_GROWTH_H

#include "common/trace/trace.h"

#define GROWTH_MARKS 10u /* of one name, at least */
#define GROWTH_HALF 0.7
#define GROWTH_FIT 0.75

/* A line through points. */
struct growth_line {
    double slope, fit;
    bool grows;
};

/* Judges n points, at most TRACE_MARKS_KEPT + 1, whose x ascend; the warm-up is removed here. Fewer
 * than GROWTH_MARKS do not grow. */
struct growth_line growth_judge(const double *x, const double *y, size_t n);

/*
 * Adds to the trace a row of TRACE_ROW_GROWTH for each stack that grows between t->marks, and
 * removes such rows that are there before. Bytes and blocks of a pass are rounded up, and a stack
 * that grows has at least 1 block. A stack that grows for several names gets one row, for the
 * first.
 */
void trace_growth(struct trace *t);

#endif
