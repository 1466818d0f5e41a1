/*
 * ---- page_compare.js: views of a comparison ----
 */

/*
 * Turns a comparison into three columns: the counts after, the counts before, and the larger of
 * both, which alone has room for frames that one side does not have.
 */
function compareColumns(after, delta) {
    after = { ...after, own: Float64Array.from(after.own) };
    const before = new Float64Array(after.own.length), either = before.slice();
    for (let i = 0; i < before.length; i++) {
        before[i] = Math.max(0, after.own[i] - delta[i]);
        either[i] = Math.max(before[i], after.own[i]);
    }
    return [
        { ...after, name: "after", title: "After", label: "After" },
        { ...after, name: "before", title: "Before", label: "Before", own: before },
        { ...after, name: "either", title: "Either", label: "Either", own: either },
    ];
}

const ONLY_BEFORE = "[only before]";

/*
 * Data of the elided view: `gone` flags nodes of the profile that have no count after, `was` has
 * their totals before, and `column` has the counts after and, for gone nodes, the counts before.
 * `name` is the name of the frame at the right.
 */
function readElided(profile) {
    const [after, before] = profile.columns, { n } = profile.shape;
    const now = pour(profile.shape, after.own)[1], was = pour(profile.shape, before.own)[1];
    const gone = new Uint8Array(n), own = after.own.slice();
    for (let i = 1; i < n; i++)
        if (!(now[i] > 0) && was[i] > 0) {
            gone[i] = 1;
            own[i] = before.own[i];
        }
    profile.names.push(ONLY_BEFORE);
    profile.kinds.push("separator");
    const column = { ...after, name: "elided", title: "After, and what is gone", own };
    column.sum = own.reduce((a, b) => a + b, 0);
    return { gone, was, column, name: profile.names.length - 1 };
}

/* The elided view: paths that exist, and, below a frame of their own, gone paths with their
 * callers. */
function mergeElided(profile, view) {
    const { n, name, parent } = profile.shape, { gone } = profile.elided;
    const merger = mergeForward(profile, view, gone), { owner } = merger;
    const within = new Uint8Array(n), place = new Int32Array(n).fill(-1);
    const out = leftOut(profile, view), { filtered } = view;
    let region = -1;
    for (let i = n - 1; i > 0; i--)
        if ((gone[i] && !out[i]) || within[i])
            within[i] = within[parent[i]] = 1;
    for (let i = 0; i < n; i++) {
        if (!within[i] || out[i])
            continue;
        if (view.focus.size ? view.focus.has(i) : i === 0) {
            if (region < 0)
                region = merger.child(0, profile.elided.name);
            place[i] = gone[i] ? merger.child(region, name[i]) : region;
        } else if (place[parent[i]] >= 0) {
            const p = place[parent[i]];
            place[i] = (filtered && !filtered.shown[i]) ||
                (p !== region && isRepeated(view, merger, p, name[i])) ? p :
                merger.child(p, name[i]);
        }
        if (gone[i] && (!filtered || filtered.left[i]))
            owner[i] = place[i];
    }
    return merger;
}

/* Adds the counts of gone nodes to their callers' counts before. */
function addLost(profile, graph) {
    const { name, parent } = profile.shape, { gone } = profile.elided, { owner } = graph.shape;
    const before = profile.columns[1].own, heir = new Int32Array(gone.length);
    const lost = new Float64Array(graph.n);
    for (let i = 1; i < name.length; i++) {
        heir[i] = gone[i] ? (gone[parent[i]] ? heir[parent[i]] : parent[i]) : i;
        if (gone[i] && owner[i] >= 0 && owner[heir[i]] > 0)
            lost[owner[heir[i]]] += before[i];
    }
    for (let i = graph.n - 1; i > 0; i--) {
        if (graph.parent[i] > 0)
            lost[graph.parent[i]] += lost[i];
        graph.was[i] += lost[i];
        graph.change[i] -= lost[i];
    }
    return graph;
}

const BAND = 1, GONE = 2, NEW = 3;

/* By node of an elided view: GONE, NEW or 0. */
function elidedMarks(profile, shape) {
    const marks = new Uint8Array(shape.n).fill(NEW), { was, name } = profile.elided;
    marks[0] = 0;
    for (let i = 0; i < shape.owner.length; i++)
        if (was[i] > 0 && shape.owner[i] >= 0)
            marks[shape.owner[i]] = 0;
    for (let i = 1; i < shape.n; i = shape.end[i])
        if (shape.name[i] === name)
            marks.fill(GONE, i, shape.end[i]);
    return marks;
}

/*
 * By node of a chain: BAND for names of threads. A sleeper's stack begins with its thread's name. A
 * waker's stack is reversed and ends with it. A waker of one frame, such as "[timer]", is no thread
 * but takes the place of one.
 */
function threadMarks(profile, graph) {
    const hops = countHops(profile, graph);
    if (!hops)
        return null;
    const marks = new Uint8Array(graph.n), link = profile.names.indexOf("--");
    const isLink = (i) => graph.name[i] === link;
    for (let i = 1; i < graph.n; i++) {
        const p = graph.parent[i];
        if (!isLink(i))
            marks[i] = (p === 0 && graph.name[0] === 0) || (hops[i] && !isLink(p) && graph.end[i] === i + 1) ? BAND : 0;
        else if (hops[p] && !isLink(p) && !isLink(graph.parent[p]))
            marks[p] = BAND;
    }
    /* "name-1234" beside the name of the process: a thread that has its own frame. */
    const numbered = (i) => /.-[0-9]+$/.test(profile.names[graph.name[i]]);
    for (let i = 1; i < graph.n; i++) {
        const p = graph.parent[i];
        if (graph.depth[i] === 2 && graph.name[0] === 0 && numbered(i))
            marks[i] = BAND;
        else if (marks[i] === BAND && hops[i] && numbered(p))
            marks[p] = BAND;
    }
    return marks;
}

/* Marks of special frames of a graph, by node, or null; computed at the first call. */
function marksOf(profile, graph, reversed) {
    if (graph.marks === undefined)
        graph.marks = graph.column === (profile.elided || {}).column && profile.elided ?
            elidedMarks(profile, graph.shape) : reversed ? null : threadMarks(profile, graph);
    return graph.marks;
}

const CHANGE_MODES = ["change", "relative", "ratio"];

/* Counts before and after for the colours; with `carry` they include callees. */
const shownChange = (graph, carry) => carry || !graph.self ? graph : graph.self;

function largestChange(graph, carry) {
    const { change } = shownChange(graph, carry);
    let largest = 0;
    for (let i = 1; i < graph.n; i++)
        largest = Math.max(largest, Math.abs(change[i]));
    return largest;
}

/*
 * A function from a node to its change as a number from -1 to 1: against the largest change,
 * against the frame itself, or of its ratio (after for each before) against that of all, where four
 * times as much or as little is 1. Like framecolor.c for pictures: ratios always include callees,
 * the others do with `carry`.
 */
function changeShare(graph, mode, carry) {
    const { was, now, change } = shownChange(graph, carry || mode === "ratio");
    if (mode === "relative")
        return (i) => change[i] === 0 ? 0 : change[i] / Math.max(was[i], now[i]);
    if (mode === "ratio") {
        const all = now[0] / was[0];
        return (i) => !(all > 0) || !Number.isFinite(all) || !(was[i] > 0 || now[i] > 0) ? 0 :
            !(was[i] > 0) ? 1 : !(now[i] > 0) ? -1 :
                Math.max(-1, Math.min(1, Math.log2(now[i] / was[i] / all) / 2));
    }
    const largest = largestChange(graph, carry);
    return (i) => largest > 0 ? change[i] / largest : 0;
}

/*
 * For a profile with several columns: the shown column per unit of another one, such as bytes per
 * call: {other, was, now}, which changeShare treats as a ratio; null without another column.
 */
function perColumn(profile, graph, mode) {
    const other = profile.columns[perIndex(mode)];
    if (!other || other === graph.column || profile.delta)
        return null;
    return { n: graph.n, other, was: pour(graph.shape, other.own)[1], now: graph.total };
}

const perIndex = (mode) => /^per-\d{1,4}$/.test(mode) ? Number(mode.slice(4)) : -1;

/* The shown count for each unit of the other column, such as "1.25 KiB". */
function formatPer({ was, now }, node, unit) {
    return was[node] > 0 ? formatShort(Number((now[node] / was[node]).toPrecision(4)), unit) : "none";
}

/* The links of a chain that lead to a frame: [[waker's thread or "", its node], ...]. */
function linksTo(profile, graph, node) {
    const path = pathOf(graph, node), marks = threadMarks(profile, graph), links = [];
    path.forEach((i) => {
        if (profile.names[graph.name[i]] === "--")
            links.push(["", i]);
        else if (links.length && marks[i] === BAND)
            links[links.length - 1][0] = profile.names[graph.name[i]];
    });
    /* The thread may still follow, if there is only one path to it. */
    let i = node;
    while (marks[i] !== BAND && i + 1 < graph.n && graph.end[i + 1] === graph.end[i])
        i++;
    if (links.length && !links[links.length - 1][0] && marks[i] === BAND)
        links[links.length - 1][0] = profile.names[graph.name[i]];
    return links;
}
