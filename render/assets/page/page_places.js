/*
 * ---- page_places.js: modules, files, threads and processes ----
 *
 * A frame's name in the file gives its place: names[0] is the group of stacks without a known
 * place; of[] has a place plus one by the file's number of a name, or 0 where the frame has no
 * place of its own and is in its caller's. With a `depth` only frames at that depth count: the ones
 * at the root of a thread's or process's stacks.
 *
 * One function in two modules is two names of the file, which the page's graphs show as one; so
 * places are summed over the nodes of the file (profile.lines.fine), under the filters of the
 * graphs, and a stack counts once for each place it has a frame in. `flame top --by` does the same
 * (render/top/topplaces.c).
 */

const PLACE_KINDS = ["function", "module", "package", "file", "thread", "process"];
const PLACE_TITLES = { function: "Symbol", module: "Module", package: "Package", file: "File",
    thread: "Thread", process: "Process" };

/* If the input has no modules, packages are guessed from names (packageOf). */
function guessPackages(raw) {
    let made = null; /* computed at first use: there may be many names */
    const all = () => made || (made = packagesOf(raw));
    return { kind: "package", told: false, depth: 0,
        get names() {
            return all().names;
        },
        get of() {
            return all().of;
        } };
}

function packagesOf(raw) {
    const names = ["[unknown]"], known = new Map([["[unknown]", 0]]);
    const of = Int32Array.from(raw, (name, i) => {
        const text = i ? packageOf(splitLine(readNames([name]).names[0])[0]) : "[unknown]";
        if (!known.has(text)) {
            known.set(text, names.length);
            names.push(text);
        }
        return i ? known.get(text) + 1 : 0;
    });
    return { names, of };
}

/* By kind; `raw` are the names of the file. */
function readPlaces(data, raw) {
    const places = new Map();
    for (const { kind, told, depth, names, of } of data.places || []) {
        const read = unpacker(of);
        places.set(kind, { kind, told, depth, names,
            of: Int32Array.from(raw, () => read.more() ? read.next() : 0) });
    }
    /* A place that all stacks share needs no table. */
    for (const kind of ["thread", "process"])
        if (places.has(kind) && places.get(kind).names.length < 3)
            places.delete(kind);
    /* With rules for names alone most modules would be unknown: packages are more useful. */
    if (places.has("module") && !places.get("module").told)
        places.delete("module");
    if (!places.has("module"))
        places.set("package", guessPackages(raw));
    return places;
}

/* By name on the page: the module of its most frequent name in the file, or null. */
function modulesByName({ places, names }, id) {
    const module = places.get("module"), of = new Array(names.length).fill("");
    if (!module)
        return null;
    module.of.forEach((place, i) => {
        if (place > 1 && !of[id[i]])
            of[id[i]] = module.names[place - 1];
    });
    return of;
}

/* Own counts in a column by node of the file. */
function fileCounts({ lines, delta, fileDelta }, column) {
    if (!lines)
        return column.own;
    const after = column.fine();
    if (!delta || column.name === "after")
        return after;
    const before = after.map((v, i) => Math.max(0, v - fileDelta[i]));
    return column.name === "before" ? before : before.map((v, i) => Math.max(v, after[i]));
}

/* The counts that filters keep, by node of the file. */
function keptCounts(counts, owner, out, filtered) {
    return counts.map((v, i) => {
        const at = owner ? owner[i] : i;
        return out[at] || (filtered && !filtered.left[at]) ? 0 : v;
    });
}

function withCallees(counts, parent) {
    const total = counts.slice();
    for (let i = total.length - 1; i > 0; i--)
        total[parent[i]] += total[i];
    return total;
}

/*
 * Rows of the table: {name, own, total, ownChange, change}, `name` being the place's number.
 * `view`: as the shapes are made from it. `wrapping`: names of the page whose own counts are
 * their callers'.
 */
function placeRows(profile, view, column, place, wrapping) {
    const { lines, delta, columns } = profile, fine = lines ? lines.fine : profile.shape;
    const { n, name, parent, end, depth } = fine, owner = lines && lines.owner;
    const out = leftOut(profile, view), { filtered } = view, count = place.names.length;
    const kept = (c) => keptCounts(fileCounts(profile, c), owner, out, filtered);
    const own = kept(column), total = withCallees(own, parent);
    const after = delta && kept(columns[0]), before = delta && kept(columns[1]);
    const ownChange = delta && after.map((v, i) => v - before[i]);
    const change = delta && withCallees(ownChange, parent);
    const sums = { own: new Float64Array(count), total: new Float64Array(count),
        ownChange: new Float64Array(count), change: new Float64Array(count) };
    const covered = new Int32Array(count);
    /* By node: the nearest place, and the place of the nearest caller that is no wrapper; both plus
     * one. */
    const at = new Int32Array(n), owning = new Int32Array(n);
    for (let i = 0; i < n; i++) {
        const node = owner ? owner[i] : i, p = Math.max(0, parent[i]);
        const shown = !out[node] && !(filtered && !filtered.shown[node]);
        const mine = place.depth ? depth[i] === place.depth : shown;
        const here = i && mine ? place.of[name[i]] : 0;
        at[i] = here || at[p];
        owning[i] = (shown || place.depth) && !(wrapping.has(profile.shape.name[node]) && p > 0) ?
            at[i] : owning[p];
        if (here && i >= covered[here - 1]) {
            sums.total[here - 1] += total[i];
            if (delta)
                sums.change[here - 1] += change[i];
            covered[here - 1] = end[i];
        }
        const to = Math.max(0, owning[i] - 1);
        sums.own[to] += own[i];
        if (delta)
            sums.ownChange[to] += ownChange[i];
        if ((to === 0 || !at[i]) && i >= covered[0]) {
            sums.total[0] += own[i];
            if (delta)
                sums.change[0] += ownChange[i];
        }
    }
    return place.names.map((_, k) => ({ name: k, own: sums.own[k], total: sums.total[k],
        ownChange: sums.ownChange[k], change: sums.change[k] }))
        .filter((r) => r.total > 0 || r.change !== 0 || r.ownChange !== 0);
}

/* The names on the page with a frame in a place: a search for the place matches them. */
function namesInPlace({ places, ids }, key) {
    const [kind, text] = splitPlace(key), place = places.get(kind), found = new Set();
    const at = place ? place.names.indexOf(text) : -1;
    if (at >= 0)
        place.of.forEach((p, i) => {
            if (i && p === at + 1)
                found.add(ids[i]);
        });
    return found;
}

/* Key of a place in the state of the page: "module:libc.so.6". */
const placeKey = (kind, text) => `${kind}:${text}`;

function splitPlace(key) {
    const colon = key.indexOf(":");
    return [key.slice(0, colon), key.slice(colon + 1)];
}

/* The place a frame of that name lies in, for the tooltip; "" if it is not known. */
const moduleOfName = (profile, name) => (profile.modules && profile.modules[name]) || "";
