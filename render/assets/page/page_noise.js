/*
 * ---- page_noise.js: whether chance explains a change between two sampled recordings ----
 *
 * A frame was seen `was` times before and `now` times after. If both runs did the same, the counts
 * are of two Poisson distributions with one mean, and for a given sum n = was + now the second one
 * is binomial with n trials and p = 1/2, whatever that mean is. P is the probability of a
 * difference as large, in either direction:
 *
 *     P = 2 * sum of C(n, k) / 2^n for k from max(was, now) to n, and at most 1
 *
 * (J. Przyborowski and H. Wilenski, "Homogeneity of results in testing samples from Poisson
 * series", Biometrika 31, 1940, pages 313-323.) From n = EXACT on, the normal distribution with a
 * correction for continuity replaces it, its tail by the bound of M. Abramowitz and I. Stegun,
 * Handbook of Mathematical Functions, 1964, 26.2.17 (error under 7.5e-8).
 *
 * Rejected: the shares of both totals instead of the counts, because they answer another question:
 * a run that took twice as long did change.
 */

const EXACT = 1000, UNLIKELY = 0.05;

function upperTail(z) {
    const t = 1 / (1 + 0.2316419 * z);
    const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 +
        t * (-1.821255978 + t * 1.330274429))));
    return Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * series;
}

/* P as defined above; counts need not be whole. */
function chanceOf(was, now) {
    const n = Math.round(was + now), most = Math.min(n, Math.ceil(Math.max(was, now) - 1e-9));
    if (n <= 0 || 2 * most <= n)
        return 1;
    if (n >= EXACT)
        return Math.min(1, 2 * upperTail((2 * most - n - 1) / Math.sqrt(n)));
    /* From k = n downwards, in logarithms, as 2^-n may be too small for a number. */
    let log = -n * Math.LN2, sum = 0;
    for (let k = n; k >= most; k--) {
        sum += Math.exp(log);
        log += Math.log(k) - Math.log(n - k + 1);
    }
    return Math.min(1, 2 * sum);
}

/* Amount that one sample represents in the shown column; 0: counts are exact. */
function noisePeriod({ profile, column }) {
    return !profile.delta ? 0 : column.unit === "samples" ? 1 :
        column.unit === "bytes" ? profile.sample || 0 : 0;
}

/* "0.3 %", or the power of ten it is under. */
const formatChance = (p) => p >= 0.001 ? `${Number((100 * p).toPrecision(2))}%` : "under 0.1%";

/* Rows of the tooltip: before, after, and the probability that the change is chance. */
function sideRows({ graph, profile }, node) {
    if (!graph.change)
        return [];
    const { unit } = graph, was = graph.was[node], now = graph.now[node];
    const rows = [tipRow("Before", formatShort(was, unit)), tipRow("After", formatShort(now, unit))];
    const period = noisePeriod({ profile, column: graph.column });
    if (period && was !== now) {
        const chance = chanceOf(was / period, now / period);
        rows.push(tipRow("By chance", chance > UNLIKELY ?
            `may be: as large in ${formatChance(chance)} of runs that do the same` :
            `hardly: as large in ${formatChance(chance)} of runs that do the same`));
    }
    return rows;
}
