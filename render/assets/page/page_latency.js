/*
 * ---- page_latency.js: durations of sleeps ----
 *
 * If a recording of waiting has classes of durations, stacks of the column "latency" end in a frame
 * that names a class of durations: "[1.048576ms to 1.179647ms]", and of the longest sleep of each
 * stack "[longest 1.1023ms]" (common/trace/sleepclass.h). A frame's or a symbol's histogram is the
 * sum of those of its stacks, so its percentiles are those of all its sleeps: the nearest rank,
 * shown as the middle of its class, which is within 1/16 of it, and never more than the longest,
 * which is exact.
 */

const LATENCY_VIEW = "latency";
const NO_SLEEPS = ["oncpu", "hotcold", "runq"]; /* views of running code, or with names of their
                                                 * own */
const LATENCY_UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const LATENCY_SHARES = [50, 95, 99];

/* {from, to, longest}, in nanoseconds, of a class or of one sleep; null: the name is neither. */
function readLatency(name) {
    const m = /^\[(?:longest (\d+(?:\.\d+)?)([mnu]?s)|(\d+(?:\.\d+)?)([mnu]?s) to (\d+(?:\.\d+)?)([mnu]?s))\]$/.exec(name);
    const amount = (n, unit) => Math.round(Number(n) * LATENCY_UNITS[unit]);
    if (!m || (m[1] && amount(m[1], m[2]) >= 2 ** 64))
        return null;
    if (m[1])
        return { ...latencyClass(amount(m[1], m[2])), longest: amount(m[1], m[2]) };
    const from = amount(m[3], m[4]), to = amount(m[5], m[6]), c = latencyClass(from);
    return c.from === from && c.to === to ? { ...c, longest: 0 } : null;
}

/* The class of a duration: eight to each power of two of nanoseconds. */
function latencyClass(ns) {
    const step = ns < 8 ? 1 : 2 ** (Math.floor(Math.log2(ns)) - 3), from = Math.floor(ns / step) * step;
    return { from, to: from + step - 1 };
}

/* Nodes of the profile with durations of sleeps: [{node, leaf, count, from, to, longest}], `leaf`
 * being the last of its stack's frames, and the number of sleeps of unknown duration, by node.
 * null: no such nodes. page_lanesleeps.js computes it for a part of the time. */
function findLatency(profile) {
    if (profile.latency !== undefined)
        return profile.latency;
    const { shape, names } = profile, known = new Map(), found = { classes: [], unknown: [] };
    const column = profile.columns.find((c) => c.name === LATENCY_VIEW);
    for (let i = 1; column && i < shape.n; i++) {
        if (!(column.own[i] > 0))
            continue;
        if (!known.has(shape.name[i]))
            known.set(shape.name[i], readLatency(names[shape.name[i]]));
        const c = known.get(shape.name[i]);
        if (c)
            found.classes.push({ node: i, leaf: shape.parent[i], count: column.own[i], ...c });
        else
            found.unknown.push({ node: i, count: column.own[i] });
    }
    profile.latency = found.classes.length ? found : null;
    return profile.latency;
}

/* Adds a class's sleeps to a histogram: {of: Map from -> {from, to, count}, n, longest}. */
function addLatency(sum, c) {
    const at = sum.of.get(c.from) || { from: c.from, to: c.to, count: 0 };
    at.count += c.count;
    sum.of.set(c.from, at);
    sum.n += c.count;
    sum.longest = Math.max(sum.longest, c.longest);
}

/* {p50, p95, p99, max, n}, times in nanoseconds. */
function latencyOf(sum) {
    const classes = [...sum.of.values()].sort((a, b) => a.from - b.from);
    const found = { n: sum.n, max: sum.longest, classes };
    for (const share of LATENCY_SHARES) {
        const rank = Math.ceil(sum.n * share / 100);
        let upTo = 0;
        const c = rank < sum.n && classes.find((k) => (upTo += k.count) >= rank);
        found["p" + share] = c ? Math.min(sum.longest, c.from + Math.floor((c.to - c.from) / 2)) : sum.longest;
    }
    return found;
}

/* By name, the result of latencyOf. A stack counts once for each name in it. */
function latencyByName(profile) {
    const all = findLatency(profile), of = new Map();
    if (!all || profile.latencyByName)
        return profile.latencyByName || of;
    const { parent, name } = profile.shape;
    for (const c of all.classes) {
        const seen = new Set();
        for (let i = c.leaf; i > 0; i = parent[i])
            if (!seen.has(name[i])) {
                seen.add(name[i]);
                if (!of.has(name[i]))
                    of.set(name[i], { of: new Map(), n: 0, longest: 0 });
                addLatency(of.get(name[i]), c);
            }
    }
    profile.latencyByName = new Map([...of].map(([key, sum]) => [key, latencyOf(sum)]));
    return profile.latencyByName;
}

/* Three digits, as the value is not more exact. */
const latencyText = (ns) => formatShort(Number(ns.toPrecision(3)), "ns").replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");

/* Percentiles belong to functions; p95 is dropped first. */
for (const [key, title, hint, rank] of [
    ...LATENCY_SHARES.map((share) => ["p" + share, "p" + share,
        `${share} % of its sleeps took this long or less, within 1/16`, share === 95 ? 12 : 11]),
    ["max", "Max", "Its longest sleep took this long, exactly", 10]]) {
    const of = (profile, row) => (latencyByName(profile).get(row.name) || {})[key];
    TABLE_COLUMNS.push({ key, title, hint, all: true, ofTime: true, width: [84, 78, 70], rank,
        wanted: (profile, by, column) => by === "function" && latencyByName(profile).size > 0 &&
            (!column || column.name === LATENCY_VIEW ||
                (timeUnit(column.unit) >= 0 && !NO_SLEEPS.includes(column.name))),
        of: (row, profile) => of(profile, row) || -1,
        cell: (row, { profile }) => {
            const value = of(profile, row);
            const cell = element("td", `col-${key} col-class`, value ? latencyText(value) : "");
            cell.title = hint;
            return cell;
        } });
}

/* Rows of a tooltip: percentiles of the frame's sleeps, and their histogram. */
function latencyRows(chart, node) {
    const all = findLatency(chart.profile);
    if (!all)
        return [];
    const test = nodeTest(chart, node);
    const sum = { of: new Map(), n: 0, longest: 0 };
    let unknown = 0;
    for (const c of all.classes)
        if (test(c.node))
            addLatency(sum, c);
    for (const c of all.unknown)
        unknown += test(c.node) ? c.count : 0;
    if (!sum.n)
        return [];
    const found = latencyOf(sum), rows = [];
    rows.push(tipRow("Sleeps", groups.format(found.n) +
        (unknown ? `, and ${groups.format(unknown)} of which no duration is known` : "")));
    if (chart.profile.partOfTime && chart.profile.lanes.meanSleeps)
        rows.push(tipRow("Short ones", "only their sum is known: each counts as long as their mean"));
    rows.push(tipRow("p50 / p95 / p99", LATENCY_SHARES.map((s) => formatShort(found["p" + s], "ns")).join(" / ")));
    rows.push(tipRow("Longest", formatShort(found.max, "ns")));
    return [...rows, latencyBars(found)];
}

/* A bar for each class between the shortest and the longest; those of percentiles are
 * highlighted. */
function latencyBars({ classes, p50, p95, p99, n }) {
    const most = classes.reduce((a, c) => Math.max(a, c.count), 0), bars = element("div", "hist-bars");
    const last = classes[classes.length - 1], shown = new Map(classes.map((c) => [c.from, c]));
    let peak = classes[0];
    for (let at = classes[0]; at.from <= last.from; at = latencyClass(at.to + 1)) {
        const c = shown.get(at.from) || { ...at, count: 0 };
        const marks = [p50, p95, p99].some((p) => p >= c.from && p <= c.to);
        const bar = element("div", marks ? "hist-bar median" : "hist-bar");
        bar.style.height = c.count > 0 ? Math.max(4, 100 * c.count / most) + "%" : "0";
        bars.append(bar);
        if (c.count > peak.count)
            peak = c;
    }
    return element("div", "hist", bars, element("div", "tip-row hist-axis",
        element("span", "", formatShort(classes[0].from, "ns")),
        element("span", "", `${formatPercent(peak.count, n)} in the highest`),
        element("span", "", formatShort(last.to, "ns"))));
}
