/*
 * ---- page_lanedata.js: threads' waits over time, and sums of a part of the time ----
 *
 * Times are nanoseconds from the beginning of the recording. A wait belongs to a row: a thread, a
 * stack, the object of the wait and its waker; columns list the rows of their nodes.
 *
 * For each pixel, drawing needs the time that a thread waited in it, and the kind of wait. `levels`
 * has it: sums of LANE_GROUP waits, of LANE_GROUP of those, and so on, each with its begin and end,
 * so that waits within a pixel need not be read one by one.
 */

const LANE_GROUP = 16;
const WAIT_PART = 1, WAIT_SHARE = 2, WAIT_SUM = 3; /* else a whole wait (enum trace_interval_kind) */
const ON_CPU = 15;

/* Classes in which waits are drawn: [key, name, kinds of the trace (enum trace_off_kind)]. */
const WAIT_CLASSES = [
    ["lock", "Lock", [1]], ["disk", "Disk, pages", [2, 18]], ["network", "Network", [3]],
    ["local", "Pipe, local", [4, 9, 10]], ["poll", "Poll", [5]], ["timer", "Timer", [6]],
    ["child", "Child, signal", [7, 8]], ["other", "Other", [0, 17, 19, 20, 21, 22]],
];
const RUNNABLE = WAIT_CLASSES.length, SUM_CLASSES = RUNNABLE + 1;
const CLASS_OF_KIND = new Uint8Array(256).fill(RUNNABLE - 1);
WAIT_CLASSES.forEach(([, , kinds], i) => kinds.forEach((kind) => {
    CLASS_OF_KIND[kind] = i;
}));
const KIND_NAMES = { 0: "waited", 1: "waited for a lock", 2: "waited for a file", 3: "waited for the network",
    4: "waited for a pipe or local socket", 5: "waited for one of several", 6: "waited for time",
    7: "waited for a child", 8: "waited for a signal", 9: "waited for a terminal",
    10: "waited for IPC", 15: "on a CPU", 16: "stopped by the tracer", 17: "stopped",
    18: "page faults", 19: "off its CPU outside of calls", 20: "in calls that are left out",
    21: "short sleeps", 22: "sleeps not caught" };

/* The first index of a sorted array whose value is at least `value`. */
function lowerBound(array, value) {
    let lo = 0, hi = array.length;
    while (lo < hi) {
        const mid = lo + hi >> 1;
        if (array[mid] < value)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

function packedNumbers(text) {
    const out = [], read = unpacker(text);
    while (read.more())
        out.push(read.next());
    return out;
}

/* One thread's waits; arrays of one length, in order of `begin`. */
function newLane(thread, n) {
    return { thread, n, begin: new Float64Array(n), end: new Float64Array(n), ns: new Float64Array(n),
        runq: new Float64Array(n), row: new Uint32Array(n), is: new Uint8Array(n),
        times: new Float64Array(n), longest: new Float64Array(n), longestSum: 0, levels: [],
        shares: [], first: Infinity, last: 0 };
}

/* [thread, numbers] of the file: waits, and the shares of time apart from them. */
function readLane(thread, text) {
    const waits = [], shares = [], read = unpacker(text);
    for (let begin = 0; read.more();) {
        const v = read.next(), is = v % 4, row = (v - is) / 4;
        begin += read.next();
        const length = read.next(), rest = unfoldSign(read.next()), runq = read.next();
        const ns = Math.max(0, length - rest - runq), many = is === WAIT_SHARE || is === WAIT_SUM;
        const times = many ? read.next() : is === WAIT_PART ? 0 : 1, longest = many ? read.next() : ns;
        (is === WAIT_SHARE ? shares : waits).push([begin, begin + length, ns, runq, row, is, times, longest]);
    }
    const lane = newLane(thread, waits.length);
    waits.forEach((w, i) => {
        [lane.begin[i], lane.end[i], lane.ns[i], lane.runq[i], lane.row[i], lane.is[i], lane.times[i],
            lane.longest[i]] = w;
    });
    lane.shares = shares.map(([begin, end, ns, runq, row, , times]) => ({ begin, end, ns, runq, row, times }));
    return lane;
}

/* Sums of groups of waits; `kind`: kind of wait, by row. */
function buildLevels(lane, kind) {
    const { n, begin, end, ns, runq, row, is } = lane;
    lane.first = lane.shares.reduce((a, s) => Math.min(a, s.begin), n ? begin[0] : Infinity);
    lane.last = lane.shares.reduce((a, s) => Math.max(a, s.end), 0);
    lane.total = 0;
    for (let i = 0; i < n; i++) {
        lane.last = Math.max(lane.last, end[i]);
        lane.total += ns[i] + runq[i];
        if (is[i] === WAIT_SUM)
            lane.longestSum = Math.max(lane.longestSum, end[i] - begin[i]);
    }
    let below = null;
    for (let size = n; size > LANE_GROUP;) {
        const count = Math.ceil(size / LANE_GROUP);
        const level = { n: count, begin: new Float64Array(count), end: new Float64Array(count),
            sums: new Float32Array(count * SUM_CLASSES) };
        for (let i = 0; i < size; i++) {
            const g = Math.floor(i / LANE_GROUP), at = g * SUM_CLASSES;
            if (i % LANE_GROUP === 0)
                level.begin[g] = below ? below.begin[i] : begin[i];
            level.end[g] = Math.max(level.end[g], below ? below.end[i] : end[i]);
            if (below) {
                for (let c = 0; c < SUM_CLASSES; c++)
                    level.sums[at + c] += below.sums[i * SUM_CLASSES + c];
            } else {
                level.sums[at + CLASS_OF_KIND[kind[row[i]]]] += ns[i];
                level.sums[at + RUNNABLE] += runq[i];
            }
        }
        lane.levels.push(level);
        below = level;
        size = count;
    }
    return lane;
}

/* {threads, rows, kind, waker, lanes, short, window, lost, others, first, last, n, links}, or null. */
function readLanes(data) {
    if (!data.lanes)
        return null;
    const { threads, rows, lost } = data.lanes;
    const kind = Uint8Array.from(packedNumbers(data.lanes.kind));
    const lanes = data.lanes.waits.map(([thread, text]) => buildLevels(readLane(thread, text), kind));
    const all = {
        threads, rows, lost, others: data.lanes.others || 0, kind, lanes, short: data.lanes.short, window: data.lanes.window,
        thread: Uint32Array.from(packedNumbers(data.lanes.thread)),
        waker: Int32Array.from(packedNumbers(data.lanes.waker), (v) => v - 1),
        first: Math.min(...lanes.map((l) => l.first)), last: Math.max(...lanes.map((l) => l.last)),
        n: lanes.reduce((a, l) => a + l.n, 0), path: readLanePath(data.lanes.path),
        regions: readLaneRegions(data.lanes.regions), links: readLaneLinks(data.lanes.links, rows),
    };
    return all.last > all.first ? all : null;
}

/* By nodes of a column: rows first[i]..first[i + 1] of `row` count in node[i]. */
function readLaneRows(text) {
    const node = [], first = [], row = [], read = unpacker(text);
    for (let at = 0; read.more();) {
        at += read.next();
        node.push(at);
        first.push(row.length);
        for (let left = read.next(), v = 0; left > 0; left--)
            row.push(v += unfoldSign(read.next()));
    }
    first.push(row.length);
    return { node: Int32Array.from(node), first: Int32Array.from(first), row: Uint32Array.from(row) };
}

/* The node of a column that a row counts in, by row; -1: none. */
function nodesOfRows(rows, n) {
    const at = new Int32Array(n).fill(-1);
    for (let i = 0; i < rows.node.length; i++)
        for (let k = rows.first[i]; k < rows.first[i + 1]; k++)
            at[rows.row[k]] = rows.node[i];
    return at;
}

/* ---- waiting time in each pixel ---- */

/*
 * Adds to sums[x * SUM_CLASSES + class] the nanoseconds that the thread waited in pixel x. A pixel
 * is `step` long and the first begins at `from`. Groups that are no longer than a pixel are taken
 * as evenly spread.
 */
class LaneSums {
    constructor(width) {
        this.width = width;
        this.sums = new Float64Array(width * SUM_CLASSES);
    }

    make(lane, kind, from, step) {
        this.sums.fill(0);
        Object.assign(this, { lane, kind, from, step, to: from + step * this.width });
        const top = lane.levels.length - 1;
        const count = top >= 0 ? lane.levels[top].n : lane.n;
        for (let i = 0; i < count; i++)
            this.visit(top, i);
        return this.sums;
    }

    visit(level, i) {
        const { lane, from, to, step } = this;
        if (level < 0) {
            this.addWait(i);
            return;
        }
        const sums = lane.levels[level];
        if (sums.end[i] <= from || sums.begin[i] >= to)
            return;
        if (sums.end[i] - sums.begin[i] <= step) {
            for (let c = 0, at = i * SUM_CLASSES; c < SUM_CLASSES; c++)
                if (sums.sums[at + c] > 0)
                    this.spread(sums.begin[i], sums.end[i], sums.sums[at + c], c);
            return;
        }
        const below = level ? lane.levels[level - 1].n : lane.n;
        const first = i * LANE_GROUP, last = Math.min(below, first + LANE_GROUP);
        for (let k = first; k < last; k++)
            this.visit(level - 1, k);
    }

    addWait(i) {
        const { lane } = this, begin = lane.begin[i], end = lane.end[i];
        if (end < this.from || begin >= this.to)
            return;
        const c = CLASS_OF_KIND[this.kind[lane.row[i]]], runq = lane.runq[i];
        if (lane.is[i] === WAIT_SUM) {
            this.spread(begin, end, lane.ns[i], c);
            this.spread(begin, end, runq, RUNNABLE);
        } else {
            const woken = Math.max(begin, end - runq);
            this.spread(begin, woken, Math.min(lane.ns[i], woken - begin), c);
            this.spread(woken, end, runq, RUNNABLE);
        }
    }

    /* `ns` of the time from begin to end, evenly. */
    spread(begin, end, ns, c) {
        const { from, step, width, sums } = this;
        if (!(ns > 0))
            return;
        let x = Math.floor((begin - from) / step);
        const last = Math.min(width - 1, Math.floor((end - from) / step));
        if (x === last || end <= begin) {
            if (x >= 0 && x < width)
                sums[x * SUM_CLASSES + c] += ns;
            return;
        }
        const share = ns / (end - begin);
        for (x = Math.max(0, x); x <= last; x++) {
            const left = from + x * step;
            sums[x * SUM_CLASSES + c] += share * (Math.min(end, left + step) - Math.max(begin, left));
        }
    }
}

/* The wait of a lane at time t, the shortest of several; -1: none. `slack`: tolerance beside a
 * wait. */
function waitAt(lane, t, slack) {
    let best = -1, least = Infinity;
    let i = Math.max(0, lowerBound(lane.begin, t - slack - lane.longestSum) - 1);
    for (; i < lane.n && lane.begin[i] <= t + slack; i++) {
        const inside = lane.begin[i] <= t && t < lane.end[i];
        const off = inside ? 0 : Math.min(Math.abs(lane.begin[i] - t), Math.abs(lane.end[i] - t));
        const size = inside ? (lane.end[i] - lane.begin[i]) * 1e-6 : slack + off;
        if ((inside || off <= slack) && size < least) {
            best = i;
            least = size;
        }
    }
    return best;
}

/* ---- a part of the time ---- */

/* The part of a wait in [from, to]: [ns, runq]. */
function clipWait(begin, end, ns, runq, even, from, to) {
    if (begin >= from && end <= to)
        return [ns, runq];
    const over = (a, b) => Math.max(0, Math.min(b, to) - Math.max(a, from));
    if (even)
        return [ns, runq].map((v) => end > begin ? v * over(begin, end) / (end - begin) : 0);
    const woken = Math.max(begin, end - runq);
    return [woken > begin ? ns * over(begin, woken) / (woken - begin) : 0, over(woken, end)];
}

/* By row, the waiting time from `from` to `to`: {ns, runq, exact: false where parts were split}. */
function laneRangeSums(data, from, to) {
    const ns = new Float64Array(data.rows), runq = new Float64Array(data.rows);
    let exact = true;
    const add = (begin, end, n, r, row, even) => {
        if (end < from || begin > to || (end === from && begin < from))
            return;
        const [a, b] = clipWait(begin, end, n, r, even, from, to);
        exact = exact && (!even || (begin >= from && end <= to));
        ns[row] += a;
        runq[row] += b;
    };
    for (const lane of data.lanes) {
        const { begin, end, row, is } = lane;
        for (let i = 0; i < lane.n && begin[i] <= to; i++)
            if (end[i] >= from)
                add(begin[i], end[i], lane.ns[i], lane.runq[i], row[i], is[i] === WAIT_SUM);
        for (const s of lane.shares)
            add(s.begin, s.end, s.ns, s.runq, s.row, true);
    }
    return { ns, runq, exact };
}

/* A row's count in a view (fold/offviews.c), in microseconds as in the file. */
function laneValue(view, kind, ns, runq) {
    const all = view === "runq" ? runq : view === "oncpu" || kind === ON_CPU ? ns : ns + runq;
    return all / 1000;
}

/* Counts by node of a column with n nodes; valueOf: of a number in the column's rows. */
function laneCounts(column, valueOf, n, owner) {
    const { node, first, row } = column.laneRows, own = new Float64Array(n);
    for (let i = 0; i < node.length; i++) {
        let sum = 0;
        for (let k = first[i]; k < first[i + 1]; k++)
            sum += valueOf(row[k]);
        own[owner ? owner[node[i]] : node[i]] += Math.round(sum);
    }
    return own;
}

/* Sets the shown counts of the columns of waiting to those of [from, to]; null: to those of the
 * whole time. */
function selectLaneRange(profile, range) {
    const data = profile.lanes, { lines } = profile;
    const sums = range && laneRangeSums(data, ...range), chains = range && chainsOf(profile);
    const links = chains && chains.range(...range);
    data.exact = !sums || sums.exact;
    profile.partOfTime = Boolean(range);
    for (const c of profile.columns) {
        if (!c.laneRows)
            continue;
        c.whole = c.whole || { own: c.own, fine: c.fine, title: c.title };
        Object.assign(c, c.whole);
        if (range) {
            const valueOf = links && c.name === "chain" ? (link) => links[link] / 1000 :
                (row) => laneValue(c.name, data.kind[row], sums.ns[row], sums.runq[row]);
            c.own = laneCounts(c, valueOf, profile.shape.n, lines && lines.owner);
            c.title = `${c.whole.title}, ${laneTime(data, range[0])} to ${laneTime(data, range[1])}`;
            if (lines)
                c.fine = () => laneCounts(c, valueOf, lines.fine.n, null);
        }
        c.sum = c.own.reduce((a, b) => a + b, 0);
    }
    selectSleeps(profile, range);
}

/* A duration: "12.3 µs". */
const laneSpan = (ns) => formatShort(Math.round(ns), "ns");

/* A time from the beginning, as exact as the step shows: "12.345678 s". */
function laneTime(data, ns, step) {
    const s = ns / 1e9, digits = Math.min(9, Math.max(3, Math.ceil(-Math.log10((step || 1e6) / 1e9))));
    return s.toFixed(digits).replace(/0+$/, "").replace(/\.$/, "") + " s";
}
