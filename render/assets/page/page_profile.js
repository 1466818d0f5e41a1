/*
 * ---- page_profile.js: the data of the page, unpacked ----
 *
 * Nodes are in pre-order with the root as 0, so the subtree of node i is the range i..end[i].
 * `columns` are own counts by node; totals are summed where they are needed (see page_graph.js), as
 * they depend on the filters.
 */

/* Numbers of seven bits a byte, lowest first, in base64. */
function unpacker(text) {
    const bytes = atob(text);
    let at = 0;
    return {
        more: () => at < bytes.length,
        next() {
            let v = 0, scale = 1;
            for (;;) {
                if (at >= bytes.length)
                    throw new RangeError("the data end early");
                const c = bytes.charCodeAt(at++);
                if (c < 128)
                    return v + c * scale;
                v += (c - 128) * scale;
                scale *= 128;
            }
        },
    };
}

function readShape(data) {
    const n = data.nodes;
    /* A node takes two bytes or more. */
    if (!Number.isInteger(n) || n < 1 || n > data.frames.length + 1)
        throw new RangeError("the number of frames is wrong");
    const shape = newShape(n, data.names.length);
    const { name, parent, end } = shape, names = data.names.length;
    let { depth } = shape;
    const read = unpacker(data.frames), open = [0];
    let last = 0, height = 0;
    name[0] = 0;
    parent[0] = -1;
    for (let i = 1; i < n; i++) {
        const d = last + 1 - read.next();
        if (d < 1)
            throw new RangeError("a frame hangs nowhere");
        for (; last >= d; last--)
            end[open[last]] = i;
        const which = read.next();
        if (which >= names)
            throw new RangeError("a frame has no name");
        if (d > height) {
            height = d;
            depth = widen(depth, d);
        }
        name[i] = which;
        parent[i] = open[d - 1];
        depth[i] = d;
        open[d] = i;
        last = d;
    }
    for (; last >= 0; last--)
        end[open[last]] = n;
    shape.height = height;
    shape.depth = depth;
    return shape;
}

/* Uses half the memory if the sum of all counts is a whole number under 2^32. */
function readOwn(column, n) {
    const read = unpacker(column.own);
    let own = column.fractions ? new Float64Array(n) : new Uint32Array(n), sum = 0;
    for (let i = 0; read.more();) {
        i += read.next();
        const count = read.next();
        sum += count;
        if (sum >= 2 ** 32 && own.BYTES_PER_ELEMENT === 4)
            own = Float64Array.from(own);
        own[i] = column.fractions ? count + read.next() / 1e6 : count;
    }
    return own;
}

function sumOf(counts) {
    let sum = 0;
    for (let i = 0; i < counts.length; i++)
        sum += counts[i];
    return sum;
}

function markStacks(stacks, own) {
    for (let i = 0; i < own.length; i++)
        if (own[i] > 0)
            stacks[i] = 1;
}

function readDelta(data, n) {
    const delta = new Float64Array(n), read = unpacker(data.delta);
    for (let i = 0; read.more();) {
        i += read.next();
        const v = read.next();
        delta[i] = (v % 2 ? -(v + 1) / 2 : v / 2) / data.deltaScale;
    }
    return delta;
}

/* Annotations at the end of a name for the kind of code. */
const MARKS = { "_[k]": "kernel", "_[j]": "jit", "_[i]": "inlined", "_[w]": "waker",
    "_[o]": "cold" };

function readNames(raw) {
    const names = new Array(raw.length), kinds = new Array(raw.length);
    for (let i = 0; i < raw.length; i++) {
        const s = raw[i], kind = MARKS[s.slice(-4)];
        names[i] = kind ? s.slice(0, -4) : s;
        kinds[i] = kind || (s === "-" || s === "--" ? "separator" : "user");
    }
    return { names, kinds };
}

/* `apart`: frames of one function in several lines are not merged. */
function readProfile(text, apart) {
    const data = JSON.parse(text);
    const { names, kinds, id, where } = readFunctions(data.names, apart || data.ordered);
    let shape = readShape(data), lines = null;
    const fine = shape.n, hasTimes = data.columns.some((c) => c.time !== undefined);
    let columns = gatherMoments(data.columns, fine);
    let delta = data.delta === undefined || hasTimes ? null : readDelta(data, fine);
    const fileDelta = delta, places = readPlaces(data, data.names);
    const timeline = readTimeline(data);
    for (const c of timeline ? columns : []) {
        const packed = data.columns.find((k) => k.history !== undefined && k.name === c.name);
        if (packed)
            c.history = readHistory(packed.history);
    }
    const lanes = readLanes(data);
    if (lanes)
        addLaneRows(columns, data.columns);
    if (where) {
        ({ shape, lines } = mergeLines(shape, names, id, where));
        for (const c of columns)
            keepLines(c, lines, shape.n);
        delta = delta && pourLines(lines, shape.n, delta);
    }
    const n = shape.n, view = data.view || (delta && columns[0].name);
    if (delta)
        columns = compareColumns(columns[0], delta);
    for (const c of columns) {
        c.sum = sumOf(c.own);
        c.most = c.moments ? c.moments.reduce((a, m) => a + m.sum, 0) :
            c.history && c.history.node.length ? Math.max(1, c.sum) : c.sum;
    }
    /* A title that only describes the first column is removed when another is shown. */
    const single = columns.length === 1, named = single || data.title !== columns[0].title;
    const wrappers = new Set((data.wrappers || []).map((i) => id[i]));
    const namedWrappers = new Set((data.named || []).map((i) => id[i]));
    const stacks = new Uint8Array(n);
    for (const c of columns)
        markStacks(stacks, c.own);
    const profile = {
        title: data.title, named, single, subtitle: data.subtitle, nametype: data.nametype,
        reverse: data.reverse, names, kinds, shape, columns, delta, lines, apart,
        lanes, /* times when threads waited (page_lanedata.js), or null */
        timeline, /* live memory at moments (page_timeline.js), or null */
        hasLines: apart || (where !== null && where.some(Boolean)),
        places, ids: id, modules: modulesByName({ places, names }, id), fileDelta, /* page_places.js */
        ordered: data.ordered === true, /* siblings are in order of time, and those of one name are
                                         * not merged */
        moments: columns.reduce((a, c) => Math.max(a, c.moments ? c.moments.length : 0), 0),
        nameId: (i) => id[i], /* of a name of the file */
        findings: data.findings || [], /* sentences (page_findings.js) */
        wrappers, namedWrappers, /* names whose own counts are attributed to their callers, of
                                  * `wrapped` columns */
        dropped: data.dropped === true, /* a comparison that page_drop.js made */
        carry: data.carry === true, /* a comparison's colours include callees */
        sample: data.sample > 0 ? data.sample : 0, /* mean bytes from sample to sample; 0: exact */
        view, /* the column to begin with, if it has a name; of a comparison, the compared view */
        widths: data.widths || "after", change: data.change || "absolute",
        stacks, /* 1: a stack ends in this node, in some column */
        nstacks: sumOf(stacks),
    };
    if (delta)
        profile.elided = readElided(profile);
    return profile;
}

/* Turns a column of the file's nodes into one of the merged nodes, which also has the former. */
function keepLines(column, lines, n) {
    const all = column.own, before = column.moments;
    column.fine = () => all;
    if (before) {
        const fine = { ...column };
        column.fine = () => addMoments(fine, lines.fine.n, ...column.shown);
        column.shown = [0, before.length - 1];
        column.moments = before.map((m) => ({ ...m, at: m.at.map((i) => lines.owner[i]) }));
    }
    column.own = pourLines(lines, n, all);
}
