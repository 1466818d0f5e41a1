/*
 * ---- page_lanesleeps.js: durations of sleeps, in a part of the time ----
 *
 * Lanes have each wait, and so the durations of the sleeps in a part of the time: of those that
 * ended in it, with their full length. Each wait is assigned to its box in the view latency once:
 * its stack's class, or its stack's longest sleep; a part is then counted in one pass. So every
 * display of that view, percentiles included, works for a part as for the whole.
 *
 * Unknown durations remain unknown. Where lanes have only the sum of some waits, each counts as
 * long as the mean (data.meanSleeps is their number). A wait without a duration in the whole run,
 * or one that is only a share of the time, counts as such.
 */

const SHORT_KIND = 21, MISSED_KIND = 22, UNKNOWN_SLEEP = "[no duration known]";

/* A leaf's boxes in the view: {classes: Map from -> node, longest: Map ns -> node, unknown: node}. */
function sleepBoxes({ name, end }, nameOf, leaf) {
    const boxes = { classes: new Map(), longest: new Map(), unknown: leaf };
    for (let c = leaf + 1; c < end[leaf]; c = end[c]) {
        const text = nameOf(name[c]), read = text.startsWith("[") && end[c] === c + 1 ? readLatency(text) : null;
        if (read && read.longest)
            boxes.longest.set(read.longest, c);
        else if (read)
            boxes.classes.set(read.from, c);
        else if (text === UNKNOWN_SLEEP)
            boxes.unknown = c;
    }
    return boxes;
}

/* The box in which each wait counts: {entries: [{node, leaf, from, to}], at: by lane, by wait an
 * entry plus one}. */
class SleepPlaces {
    constructor(profile, off) {
        const { lanes: data, lines, names, ids } = profile, shape = lines ? lines.fine : profile.shape;
        const nodeOf = nodesOfRows(off.laneRows, data.rows), leaves = new Map(), known = new Map();
        const nameOf = (n) => lines ? names[ids[n]] : names[n];
        this.entries = [];
        const boxesOf = (leaf) => {
            if (!leaves.has(leaf))
                leaves.set(leaf, sleepBoxes(shape, nameOf, leaf));
            return leaves.get(leaf);
        };
        /* ns < 0: not known. */
        const entryOf = (row, ns) => {
            const leaf = nodeOf[row];
            if (leaf < 0)
                return 0;
            const boxes = boxesOf(leaf), c = ns < 0 ? null : latencyClass(ns);
            const node = !c ? boxes.unknown : boxes.longest.get(ns) || boxes.classes.get(c.from) || leaf;
            const key = c ? `${node}.${leaf}.${c.from}` : node;
            if (!known.has(key))
                known.set(key, this.entries.push({ node, leaf, ...c }));
            return known.get(key);
        };
        this.lanes = data.lanes.map((l) => this.placeWaits(l, data, entryOf,
            (row, wait) => boxesOf(nodeOf[row]).unknown !== nodeOf[row] && (l.begin[wait] === 0 || l.end[wait] === data.last)));
        this.shares = data.lanes.flatMap((l) => l.shares
            .filter((s) => s.times > 0 && (data.kind[s.row] === SHORT_KIND || data.kind[s.row] === MISSED_KIND))
            .map((s) => ({ ...s, entry: entryOf(s.row, -1) })));
    }

    /* `cut`: whether a wait of a known row began before or ended after the recording. */
    placeWaits(l, data, entryOf, cut) {
        const at = new Int32Array(l.n), whole = new Float64Array(l.n);
        let parts = 0; /* parts of a wait; its last part is an ordinary wait */
        for (let i = 0; i < l.n; i++) {
            const ns = l.ns[i] + l.runq[i], row = l.row[i];
            if (data.kind[row] === ON_CPU)
                continue;
            if (l.is[i] === WAIT_PART) {
                parts += ns;
                continue;
            }
            whole[i] = l.is[i] === WAIT_SUM ? Math.round(ns / Math.max(1, l.times[i])) : ns + parts;
            parts = 0;
            at[i] = entryOf(row, -1) && entryOf(row, l.is[i] !== WAIT_SUM && cut(row, i) ? -1 : whole[i]);
        }
        return { at, whole };
    }

    /* Sleeps that ended from `from` to `to`, by entry: {counts, longest, means: number of sleeps of
     * which only the sum is known}. */
    count(data, from, to) {
        const counts = new Float64Array(this.entries.length), longest = counts.slice();
        const part = ({ begin, end, times }) => Math.round(times *
            (end > begin ? Math.max(0, Math.min(end, to) - Math.max(begin, from)) / (end - begin) : 1));
        let means = 0;
        data.lanes.forEach((l, k) => {
            const { at, whole } = this.lanes[k];
            for (let i = 0; i < l.n && l.begin[i] <= to; i++) {
                const entry = at[i] - 1, sum = l.is[i] === WAIT_SUM;
                if (entry < 0 || l.end[i] < from || (!sum && (l.end[i] > to || (l.end[i] === from && from > data.first))))
                    continue;
                const times = sum ? part({ begin: l.begin[i], end: l.end[i], times: l.times[i] }) : 1;
                counts[entry] += times;
                means += sum ? times : 0;
                if (times > 0)
                    longest[entry] = Math.max(longest[entry], sum ? Math.min(l.longest[i], this.entries[entry].to) : whole[i]);
            }
        });
        for (const s of this.shares)
            if (s.entry && s.end >= from && s.begin <= to)
                counts[s.entry - 1] += part(s);
        return { counts, longest, means };
    }
}

/* The column of sleeps that follows the lanes' range, if the profile has one. */
function sleepColumn({ lanes, columns }) {
    const off = lanes && columns.find((c) => c.name === "off" && c.laneRows);
    return off ? columns.find((c) => c.name === LATENCY_VIEW) : undefined;
}

/* Whether a column's counts are those of the range on the lanes. */
const followsLanes = (profile, column) => Boolean(column.laneRows) || column === sleepColumn(profile);

/* Sets the data about sleeps to those of [from, to]; null: to those of the whole time. */
function selectSleeps(profile, range) {
    const { lanes: data, lines, columns } = profile, column = sleepColumn(profile);
    if (!column)
        return;
    column.whole = column.whole || { own: column.own, fine: column.fine, title: column.title };
    Object.assign(column, column.whole);
    profile.latencyByName = null;
    profile.latency = undefined;
    data.meanSleeps = 0;
    if (range) {
        data.sleeps = data.sleeps || new SleepPlaces(profile, columns.find((c) => c.name === "off" && c.laneRows));
        const { counts, longest, means } = data.sleeps.count(data, ...range), found = { classes: [], unknown: [] };
        const own = new Float64Array(lines ? lines.fine.n : profile.shape.n), merged = (i) => lines ? lines.owner[i] : i;
        data.sleeps.entries.forEach(({ node, leaf, from, to }, i) => {
            if (!counts[i])
                return;
            own[node] += counts[i];
            const sleep = { node: merged(node), leaf: merged(leaf), count: counts[i], from, to, longest: longest[i] };
            (from === undefined ? found.unknown : found.classes).push(sleep);
        });
        column.own = lines ? pourLines(lines, profile.shape.n, own) : own;
        column.fine = lines ? () => own : column.fine;
        column.title = `${column.whole.title}, ${laneTime(data, range[0])} to ${laneTime(data, range[1])}`;
        data.meanSleeps = means;
        profile.latency = found;
    }
    column.sum = sumOf(column.own);
}
