/*
 * ---- page_timeline.js: live memory at moments of the recording ----
 *
 * The file has changes; this code sums them, so that a stack's level at a moment is found by
 * bisection. A selection is two times in seconds: a moment if they are equal, else the growth from
 * the first to the second. Columns without a history cover the whole run.
 */

/* Restores the sign that varint_base64.h folds in. */
function unfoldSign(v) {
    return v % 2 ? -(v + 1) / 2 : v / 2;
}

function readSums(text) {
    const sums = [], read = unpacker(text);
    for (let sum = 0; read.more();)
        sums.push(sum += unfoldSign(read.next()));
    return Float64Array.from(sums);
}

/* {times, live, mapped, rss, marks: [{time, name}]}, or null. */
function readTimeline(data) {
    if (!data.moments)
        return null;
    const { us, live, mapped, rss, marks } = data.moments;
    return {
        times: readSums(us).map((v) => v / 1e6), live: readSums(live), mapped: readSums(mapped),
        rss: readSums(rss), marks: marks.map(([at, name]) => ({ time: at / 1e6, name })),
    };
}

/*
 * By nodes that ever had a count: changes first[i]..first[i + 1] of node[i] have the moments, and
 * the node's count from then on.
 */
function readHistory(text) {
    const node = [], first = [], moment = [], level = [], read = unpacker(text);
    for (let at = 0; read.more();) {
        at += read.next();
        node.push(at);
        first.push(moment.length);
        let when = 0, sum = 0;
        for (let left = read.next(); left > 0; left--) {
            when += read.next();
            sum += unfoldSign(read.next());
            moment.push(when);
            level.push(sum);
        }
    }
    first.push(moment.length);
    return { node: Int32Array.from(node), first: Int32Array.from(first),
        moment: Int32Array.from(moment), level: Float64Array.from(level) };
}

/* The levels of n nodes at a moment; `owner`: by node of the file, the node to which it belongs. */
function levelsAt(history, n, at, owner) {
    const { node, first, moment, level } = history, own = new Float64Array(n);
    for (let i = 0; i < node.length; i++) {
        let lo = first[i], hi = first[i + 1];
        while (lo < hi) {
            const mid = lo + hi >> 1;
            if (moment[mid] <= at)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo > first[i])
            own[owner ? owner[node[i]] : node[i]] += level[lo - 1];
    }
    return own.map((v) => Math.max(0, v));
}

/* The moment nearest to a time. */
function nearestMoment(times, time) {
    let lo = 0, hi = times.length - 1;
    while (lo < hi) {
        const mid = lo + hi >> 1;
        if (times[mid] < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && time - times[lo - 1] <= times[lo] - time ? lo - 1 : lo;
}

/* The moments of a selection, or null: [3, 3], [3, 17]. */
function momentsOf(timeline, span) {
    return timeline && span ? span.map((t) => nearestMoment(timeline.times, t)) : null;
}

const grownBetween = (now, was) => now.map((v, i) => Math.max(0, v - was[i]));

/*
 * Sets the shown counts of the columns with a history to those of the selection; null: to those of
 * the end, as in the file. `was` and `now` are the counts at both ends of a growth.
 */
function selectSpan(profile, span) {
    const moments = momentsOf(profile.timeline, span), { n } = profile.shape;
    for (const c of profile.columns) {
        if (!c.history)
            continue;
        c.atEnd = c.atEnd || { own: c.own, fine: c.fine, title: c.title };
        c.was = c.now = null;
        Object.assign(c, c.atEnd);
        if (moments) {
            const { lines } = profile, owner = lines && lines.owner;
            const at = (size, to) => {
                const now = levelsAt(c.history, size, moments[1], to);
                const was = moments[0] === moments[1] ? null :
                    levelsAt(c.history, size, moments[0], to);
                return [was ? grownBetween(now, was) : now, was, now];
            };
            const [own, was, now] = at(n, owner);
            Object.assign(c, { own, was, now: was && now, title: spanTitle(c.atEnd.title, profile.timeline, moments) });
            if (lines)
                c.fine = () => at(lines.fine.n, null)[0];
        }
        c.sum = c.own.reduce((a, b) => a + b, 0);
    }
}

function spanTitle(title, { times }, [first, last]) {
    const what = title.replace(/ at the end$/, "");
    return first === last ? `${what} at ${formatTime(times[first])}` :
        `${what}: growth from ${formatTime(times[first])} to ${formatTime(times[last])}`;
}

/* "12.5 s", "3 min 20 s", "2 h 5 min": exact to a thousandth, but not below µs. */
function formatTime(seconds) {
    const t = Math.max(0, seconds);
    if (t > 0 && t < 0.0995)
        return Number((t * 1e3).toFixed(t < 0.01 ? 3 : 2)) + " ms";
    if (t < 59.95)
        return Number(t.toFixed(t < 10 ? 3 : 2)) + " s";
    const all = Math.round(t), days = Math.floor(all / 86400);
    const parts = [[days, "d"], [Math.floor(all / 3600) % 24, "h"],
        [Math.floor(all / 60) % 60, "min"], [all % 60, "s"]];
    const from = parts.findIndex(([v]) => v > 0);
    return parts.slice(from, from + 2).filter(([v]) => v > 0)
        .map(([v, unit]) => `${v} ${unit}`).join(" ");
}
