/*
 * ---- page_callers.js: the tree of callers: every stack from its leaf ----
 *
 * Stacks are sorted by their frames from the leaf on, a step at a time as with a radix sort: stacks
 * that are equal so far are a group, which is a frame of the tree, and each group is split by the
 * names of its callers. So frames are created in the order in which a shape has them, and a stack
 * that is alone in its group is copied to its end. It needs three numbers for each stack besides
 * the shape itself. Rejected: a hash table of parents and names, as in Merger, because it took nine
 * times as long. A million stacks are 29 million frames of callers: half a gigabyte of slots, and a
 * second tree in the order in which frames were created.
 */

const FEW = 12; /* stacks that are sorted by insertion */

/* A growing shape that is written from front to back. */
class ShapeWriter {
    constructor(names, rootName) {
        this.n = 0;
        this.shape = { ...newShape(1024, names), parent: null }; /* see parentOf() */
        this.open = []; /* by depth: the frame that has not ended yet */
        this.last = -1;
        this.add(rootName, 0);
    }

    add(name, depth) {
        const { shape, open } = this, node = this.n++;
        if (node === shape.name.length)
            this.resize(Math.ceil(1.5 * node));
        if (depth > shape.height) {
            shape.height = depth;
            shape.depth = widen(shape.depth, depth);
        }
        for (; this.last >= depth; this.last--)
            shape.end[open[this.last]] = node;
        shape.name[node] = name;
        shape.depth[node] = depth;
        open[depth] = node;
        this.last = depth;
        return node;
    }

    resize(n) {
        for (const key of ["name", "depth", "end"]) {
            const old = this.shape[key];
            this.shape[key] = new old.constructor(n);
            this.shape[key].set(old.length > n ? old.subarray(0, n) : old);
        }
    }

    finish(owner) {
        for (; this.last >= 0; this.last--)
            this.shape.end[this.open[this.last]] = this.n;
        this.resize(this.n);
        return Object.assign(this.shape, { n: this.n, owner });
    }
}

/* Sorts stacks[from..to) by the rank of each stack's current frame. */
function sortStacks(stacks, from, to, rankOf) {
    if (to - from > FEW) {
        /* Rank and stack in one number: a typed array sorts numbers without a comparison
         * function. */
        const all = stacks.length, keys = new Float64Array(to - from);
        for (let k = from; k < to; k++)
            keys[k - from] = rankOf(stacks[k]) * all + stacks[k];
        keys.sort();
        for (let k = from; k < to; k++)
            stacks[k] = keys[k - from] % all;
        return;
    }
    for (let k = from + 1; k < to; k++) {
        const stack = stacks[k], rank = rankOf(stack);
        let at = k;
        for (; at > from && rankOf(stacks[at - 1]) > rank; at--)
            stacks[at] = stacks[at - 1];
        stacks[at] = stack;
    }
}

/* The leaves whose callers are wanted. */
function leavesOf(profile, view) {
    const { n } = profile.shape, out = leftOut(profile, view), { filtered } = view;
    const counts = (i) => profile.stacks[i] && !out[i] && (!filtered || filtered.left[i]);
    let all = 0;
    for (let i = 1; i < n; i++)
        all += counts(i) ? 1 : 0;
    const leaves = new Int32Array(all);
    for (let i = 1, at = 0; i < n; i++)
        if (counts(i))
            leaves[at++] = i;
    return leaves;
}

/* Builds the shape of callers, with siblings sorted by name. */
function makeCallers(profile, view) {
    const { n, name, parent } = profile.shape, { filtered, recursion, focus } = view;
    const ranks = nameRanks(profile), leaves = leavesOf(profile, view);
    const owner = new Int32Array(n).fill(-1), tree = new ShapeWriter(profile.names.length, 0);
    const at = leaves.slice(), stacks = leaves.map((_, i) => i); /* each stack's current frame; 0:
                                                                  * it ended */
    const rankOf = (stack) => ranks[name[at[stack]]];
    /* The first visible frame from `i` outwards; `below`: the name it must not have, or -1. */
    const visible = (i, below) => {
        while (i > 0 && ((filtered && !filtered.shown[i]) || name[i] === below))
            i = focus.has(i) ? 0 : parent[i];
        return i;
    };
    const outward = (i, below) => focus.has(i) ? 0 : visible(parent[i], recursion ? below : -1);
    const pending = []; /* pending groups, the next one last: [from, to, its frame's place,
                         * depth] */

    /* Stacks that ended belong to `node`; the others are split into groups. */
    const split = (from, to, node, depth) => {
        for (let k = from; k < to; k++)
            if (at[stacks[k]] === 0) {
                owner[leaves[stacks[k]]] = node;
                [stacks[k], stacks[from]] = [stacks[from], stacks[k]];
                from++;
            }
        sortStacks(stacks, from, to, rankOf);
        for (let end = to; end > from;) {
            const which = name[at[stacks[end - 1]]];
            let begin = end - 1;
            while (begin > from && name[at[stacks[begin - 1]]] === which)
                begin--;
            pending.push(begin, end, node, depth);
            end = begin;
        }
    };
    for (let k = 0; k < at.length; k++)
        at[k] = visible(at[k], -1);
    split(0, stacks.length, 0, 1);
    while (pending.length) {
        let depth = pending.pop(), node = pending.pop();
        const to = pending.pop(), from = pending.pop();
        if (to - from === 1) {
            const stack = stacks[from];
            for (let i = at[stack]; i > 0; i = outward(i, name[i]))
                node = tree.add(name[i], depth++);
            owner[leaves[stack]] = node;
            continue;
        }
        const which = name[at[stacks[from]]];
        node = tree.add(which, depth);
        for (let k = from; k < to; k++)
            at[stacks[k]] = outward(at[stacks[k]], which);
        split(from, to, node, depth + 1);
    }
    return tree.finish(owner);
}
