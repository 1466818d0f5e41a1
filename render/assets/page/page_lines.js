/*
 * ---- page_lines.js: functions, and the lines of their files ----
 *
 * `flame fold --lines` puts file and line behind a name, so one function called from two lines is
 * two frames. The page shows functions: frames that differ only in their lines are merged, and the
 * lines are shown in tooltips.
 */

const LINE = new RegExp("^(.+) ([^ ]+\\.(?:c|h|cc|cpp|cxx|c\\+\\+|hh|hpp|hxx|inc|inl|ipp|tcc|m|mm|s|S|asm|rs|go|" +
    "py|pyx|js|mjs|ts|jsx|tsx|java|kt|scala|rb|php|pl|pm|lua|swift|d|zig|nim|ml|mli|hs|cs|f|f90|" +
    "adb|pas|v|vala|l|y|def):[0-9]+)$");

/* "parse parser.c:12" is a function and its place; "" without a place. */
function splitLine(name) {
    const m = name.length < 5000 ? LINE.exec(name) : null;
    return m ? [m[1], m[2]] : [name, ""];
}

/*
 * From names as they are in the file: {names, kinds, id, where}, id[] giving each its function's
 * number, where[] its line. Without lines both are unchanged.
 */
function readFunctions(raw, apart) {
    const read = readNames(raw), where = new Array(raw.length).fill("");
    const id = Int32Array.from(raw, (_, i) => i);
    /* Names that occur twice belong to several modules (page_places.js). */
    const twice = new Set(raw).size < raw.length;
    if (apart || (!twice && !read.names.some((s) => splitLine(s)[1])))
        return { ...read, id, where: null };
    const names = [], kinds = [], known = new Map();
    read.names.forEach((s, i) => {
        const [name, line] = i ? splitLine(s) : [s, ""], key = read.kinds[i] + "\n" + name;
        where[i] = line;
        if (i && known.has(key)) {
            id[i] = known.get(key);
            return;
        }
        id[i] = names.length;
        names.push(name);
        kinds.push(read.kinds[i]);
        if (i) /* a frame with the root's name is a different frame */
            known.set(key, id[i]);
    });
    return { names, kinds, id, where };
}

/*
 * The shape with frames of one function under one caller merged, and the data to find their lines:
 * {shape, lines: {raw, where, owner, fine}}.
 */
function mergeLines(fine, names, id, where) {
    const { n, parent } = fine, raw = fine.name, merger = new Merger(0, n);
    merger.owner[0] = 0;
    for (let i = 1; i < n; i++)
        merger.owner[i] = merger.child(merger.owner[parent[i]], id[raw[i]]);
    const ranks = rankNames(names), { name } = merger;
    const shape = preorder(merger, (a, b) => ranks[name[a]] - ranks[name[b]]);
    const lines = { raw, where, owner: shape.owner, fine };
    shape.owner = null;
    return { shape, lines };
}

/* Counts of the file's nodes as counts of the merged ones. */
function pourLines(lines, n, counts) {
    const merged = new Float64Array(n);
    for (let i = 0; i < counts.length; i++)
        merged[lines.owner[i]] += counts[i];
    return merged;
}

/* Totals of the file's nodes in a column; cached for the next tooltip. */
function fineTotals({ lines }, column) {
    if (lines.totalsOf !== column.own) {
        const { n, parent } = lines.fine, total = column.fine().slice();
        for (let i = n - 1; i > 0; i--)
            total[parent[i]] += total[i];
        lines.totals = total;
        lines.totalsOf = column.own;
    }
    return lines.totals;
}

/* The lines of a frame with the count of each, largest first: [[line, total], ...]. */
function linesOf({ graph, profile }, node) {
    const { lines } = profile, sums = new Map();
    if (!lines)
        return [];
    const { raw, where, owner, fine } = lines, total = fineTotals(profile, graph.column);
    for (let i = 1; i < fine.n; i++) {
        const base = owner[i];
        if ((graph.owner ? graph.owner[base] : base) === node && where[raw[i]])
            sums.set(where[raw[i]], (sums.get(where[raw[i]]) || 0) + total[i]);
    }
    const all = [...sums].sort((a, b) => b[1] - a[1]);
    return all.some(([, v]) => v > 0) ? all.filter(([, v]) => v > 0) : all;
}
