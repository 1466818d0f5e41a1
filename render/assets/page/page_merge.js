/*
 * ---- page_merge.js: shapes made from the profile ----
 *
 * Subtrees hidden or focused, recursion and chains collapsed, callers, and both sides of a
 * sandwich: each function walks the profile's nodes once and merges frames of equal name under one
 * parent.
 */

/* A tree that grows; finds the child of a node by name through a hash table. */
class Merger {
    constructor(rootName, nodes) {
        this.n = 1;
        this.name = new Int32Array(1024);
        this.parent = new Int32Array(1024);
        this.name[0] = rootName;
        this.parent[0] = -1;
        this.slots = new Int32Array(4096);
        this.owner = new Int32Array(nodes).fill(-1);
    }

    slot(parent, name) {
        let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(name + 1, 0x85ebca6b);
        h = Math.imul(h ^ h >>> 15, 0x2c1b3c6d);
        return (h ^ h >>> 13) & this.slots.length - 1;
    }

    grow() {
        const more = (a) => {
            const b = new Int32Array(2 * a.length);
            b.set(a);
            return b;
        };
        this.name = more(this.name);
        this.parent = more(this.parent);
        this.slots = new Int32Array(4 * this.name.length);
        for (let i = 1; i < this.n; i++)
            this.put(i);
    }

    put(node) {
        const mask = this.slots.length - 1;
        let at = this.slot(this.parent[node], this.name[node]);
        while (this.slots[at])
            at = at + 1 & mask;
        this.slots[at] = node;
    }

    child(parent, name) {
        const mask = this.slots.length - 1;
        for (let at = this.slot(parent, name); this.slots[at]; at = at + 1 & mask) {
            const node = this.slots[at];
            if (this.parent[node] === parent && this.name[node] === name)
                return node;
        }
        return this.add(parent, name);
    }

    /* Adds a new child, also when another has its name. */
    add(parent, name) {
        if (this.n === this.name.length)
            this.grow();
        this.name[this.n] = name;
        this.parent[this.n] = parent;
        this.put(this.n);
        return this.n++;
    }
}

/* 1 for nodes that are filtered out: below a hidden one, or outside the focused one. */
function leftOut(profile, view) {
    const { n, end, name } = profile.shape, out = new Uint8Array(n);
    if (view.focus.size) {
        out.fill(1);
        for (const i of view.focus)
            out.fill(0, i, end[i]);
    }
    for (const i of view.hide)
        out.fill(1, i, end[i]);
    if (view.hideNames.size)
        for (let i = 1; i < n; i++)
            if (view.hideNames.has(name[i]))
                out.fill(1, i, end[i]);
    return out;
}

/* Callees below callers, as recorded, without hidden nodes and nodes for which `skip` is 1. */
function mergeForward(profile, view, skip) {
    const { n, name, parent } = profile.shape, out = leftOut(profile, view);
    const [root] = view.focus.size ? view.focus : [0];
    const merger = new Merger(name[root], n), { filtered } = view;
    const place = filtered ? new Int32Array(n).fill(-1) : merger.owner;
    for (let i = 0; i < n; i++) {
        if (out[i] || (skip && skip[i]))
            continue;
        if (view.focus.size ? view.focus.has(i) : i === 0) {
            place[i] = 0;
            continue;
        }
        const p = place[parent[i]];
        if (p >= 0)
            place[i] = (filtered && !filtered.shown[i]) || isRepeated(view, merger, p, name[i]) ?
                p : profile.ordered ? merger.add(p, name[i]) : merger.child(p, name[i]);
    }
    if (filtered)
        ownWhatIsLeft(filtered, merger, place);
    return merger;
}

/* Whether a frame called `name` is merged into its caller `at`. */
const isRepeated = (view, merger, at, name) =>
    view.recursion && at > 0 && merger.name[at] === name;

/* Assigns counts that passed the filters to the places of their frames. */
function ownWhatIsLeft({ left }, { owner }, place) {
    for (let i = 0; i < place.length; i++)
        owner[i] = left[i] ? place[i] : -1;
}

/* Adds the callers of `node`, nearest first, under `at`; returns the last one's place. */
function climb(profile, view, merger, node, at) {
    const { name, parent } = profile.shape, { filtered } = view;
    for (let i = node; i > 0; i = parent[i]) {
        if (!(filtered && !filtered.shown[i]) && !isRepeated(view, merger, at, name[i]))
            at = merger.child(at, name[i]);
        if (view.focus.has(i))
            break;
    }
    return at;
}

/*
 * All stacks that hold the function `wanted`, cut at its outermost call: the callers above it, and
 * the callees below. Both have the same sum.
 */
function mergeSandwich(profile, view, wanted) {
    const { n, name, parent, end } = profile.shape, out = leftOut(profile, view);
    const callers = new Merger(wanted, n), callees = new Merger(wanted, n);
    const { filtered } = view, place = filtered ? new Int32Array(n).fill(-1) : callees.owner;
    for (let i = 1; i < n;) {
        if (out[i] || name[i] !== wanted || (filtered && !filtered.shown[i])) {
            i++;
            continue;
        }
        const above = view.focus.has(i) ? 0 : climb(profile, view, callers, parent[i], 0);
        for (let j = i; j < end[i]; j++) {
            if (out[j])
                continue;
            callers.owner[j] = !filtered || filtered.left[j] ? above : -1;
            const p = place[parent[j]];
            place[j] = j === i ? 0 : (filtered && !filtered.shown[j]) ||
                (view.recursion && callees.name[p] === name[j]) ? p : callees.child(p, name[j]);
        }
        i = end[i];
    }
    if (filtered)
        ownWhatIsLeft(filtered, callees, place);
    return [callers, callees];
}

/* Merges each frame without an own count and with one callee into that callee. */
function mergeChains(tree, stacks) {
    const { n, name, owner } = tree, parent = parentsOf(tree);
    const children = new Int32Array(n), own = new Uint8Array(n), to = new Int32Array(n);
    for (let i = 1; i < n; i++)
        children[parent[i]]++;
    for (let i = 0; i < owner.length; i++)
        if (stacks[i] && owner[i] >= 0)
            own[owner[i]] = 1;
    const kept = { n: 0, name: [], parent: [], owner: null, chain: [] };
    for (let i = 0; i < n; i++) {
        const p = parent[i];
        if (i > 0 && p > 0 && children[p] === 1 && !own[p]) {
            to[i] = to[p];
            kept.name[to[i]] = name[i];
            kept.chain[to[i]].push(name[i]);
            continue;
        }
        to[i] = kept.n++;
        kept.name.push(name[i]);
        kept.parent.push(i > 0 ? to[p] : -1);
        kept.chain.push([name[i]]);
    }
    kept.owner = owner.map((o) => o < 0 ? -1 : to[o]);
    return kept;
}

/* Ranks of names by their text, the order in which the profile itself is sorted. */
function rankNames(names) {
    const order = names.map((_, i) => i), ranks = new Int32Array(names.length);
    order.sort((a, b) => names[a] < names[b] ? -1 : 1);
    order.forEach((name, rank) => {
        ranks[name] = rank;
    });
    return ranks;
}

/* Computed at first use. The frame of gone paths comes last. */
function nameRanks(profile) {
    if (!profile.ranks) {
        profile.ranks = rankNames(profile.names);
        if (profile.elided)
            profile.ranks[profile.elided.name] = profile.names.length;
    }
    return profile.ranks;
}

/* The shapes of a view: one, or the callers and the callees of a sandwich. */
function makeShapes(profile, view) {
    const plain = !view.filtered && !view.focus.size && !view.hide.size && !view.hideNames.size &&
        !view.recursion;
    let trees;
    if (view.layout === "sandwich" && view.sandwich >= 0)
        trees = mergeSandwich(profile, view, view.sandwich);
    else if (view.layout === "callers")
        trees = [makeCallers(profile, view)];
    else if (view.layout === "elided")
        trees = [mergeElided(profile, view)];
    else if (plain && !view.chains && view.order === "name")
        return [profile.shape];
    else if (plain)
        trees = [{ ...profile.shape, owner: view.chains ? new Int32Array(profile.shape.n).map((_, i) => i) : null }];
    else
        trees = [mergeForward(profile, view)];
    return trees.map((tree) => {
        if (view.chains)
            tree = mergeChains(tree, profile.stacks);
        const ranks = nameRanks(profile), { name } = tree;
        if (view.order === "name" && profile.ordered && view.layout === "forward")
            return preorder(tree, null);
        if (view.order === "name" && view.layout === "callers" && !view.chains)
            return tree;
        if (view.order === "name")
            return preorder(tree, (a, b) => ranks[name[a]] - ranks[name[b]]);
        const total = pour(tree, view.columnOwn)[1], last = profile.elided && profile.elided.name;
        return preorder(tree, (a, b) => (name[a] === last) - (name[b] === last) ||
            total[b] - total[a] || ranks[name[a]] - ranks[name[b]]);
    });
}
