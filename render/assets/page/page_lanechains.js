/*
 * ---- page_lanechains.js: chains of a part of the time ----
 *
 * A wait is split over what the thread that ended it did meanwhile, as fold/analysis/chainsplit.c
 * does for the whole recording. The file has the links of all chains: a link is on another link, and
 * is of a row, a thread or nothing. The view chain counts links in place of rows. Numbers from
 * `n` on are rows: their waits that are known as sums, which are not split.
 */

const LINK_ROOT = 0, LINK_WAKER = 1, LINK_SLEEP = 2, LINK_CREATOR = 3, LINK_RUNQ = 4, LINK_EARLIER = 5, LINK_UNKNOWN = 6,
    LINK_MORE = 7;
const FOLLOWED_MAX = 64;
const LATE_NS = 1e6; /* a waker that is asleep again sooner after the wake was awake when it woke the sleeper */
const CHAIN_BLOCK = 128; /* waits of a thread that are split once for all waits of others that they lie in */

/*
 * {n, below, kind, subject, of: link by key, begin, end, parent: by thread, whole}, and by row: woke, the first row with the
 * same waker's stack; same, the first whose sleeps look the same; first, the one that has its links. null: the file has no
 * links.
 */
function readLaneLinks(links, rows) {
    if (!links)
        return null;
    const { n } = links, read = unpacker(links.data), lives = packedNumbers(links.lives);
    const byRow = (text) => Int32Array.from(packedNumbers(text), (v) => v - 1);
    const all = { n, rows, whole: links.whole, below: new Int32Array(n), kind: new Uint8Array(n), subject: new Int32Array(n),
        of: new Map(), woke: byRow(links.woke), same: byRow(links.same), first: byRow(links.first) };
    for (let i = 0; read.more(); i++) {
        const v = read.next(), kind = v % 8, below = (v - kind) / 8, subject = read.next() - 1;
        all.below[i] = below ? i - below : -1;
        all.kind[i] = kind;
        all.subject[i] = subject;
        all.of.set(linkKey(all.below[i], kind, subject), i);
    }
    all.begin = lives.filter((_, i) => i % 3 === 0);
    all.end = lives.filter((_, i) => i % 3 === 1).map((length, i) => length ? all.begin[i] + length : 0);
    all.parent = lives.filter((_, i) => i % 3 === 2).map((v) => v - 1);
    return all;
}

/* Rows and threads are below 2^27, links below 2^23: all fits the whole numbers of a double. */
function linkKey(below, kind, subject) {
    return ((below + 1) * 8 + kind) * 2 ** 27 + subject + 1;
}

/* A thread's waits that are known one by one, and its shares of time, in order of their begins. */
function chainLine(lane, thread, links, uses) {
    const waits = [], shares = lane.shares.map(({ begin, end, ns, runq, row }) => ({ begin, end, ns: ns + runq, runq, row, sum: false }));
    for (let i = 0; i < lane.n; i++)
        if (lane.is[i] === WAIT_SUM)
            shares.push({ begin: lane.begin[i], end: lane.end[i], ns: lane.ns[i] + lane.runq[i], runq: lane.runq[i], row: lane.row[i], sum: true });
        else
            waits.push(i);
    shares.sort((a, b) => a.begin - b.begin || a.end - b.end || a.row - b.row);
    let last = 0;
    for (const s of shares)
        s.last = last = Math.max(last, s.end);
    const lived = links.end[thread] > 0;
    return { lane, waits, shares, lived, shared: uses > 1, parent: links.parent[thread],
        starts: Float64Array.from(waits, (i) => lane.begin[i]), shareStarts: Float64Array.from(shares, (s) => s.begin),
        begin: lived ? links.begin[thread] : lane.first, end: lived ? links.end[thread] : lane.last };
}

/* Whether there is no further link: wakers that look the same are one, and what had no room has none. */
const endsChain = (kind, subject, below, on) => kind[below] === LINK_MORE ||
    (on.kind === LINK_WAKER && kind[below] === LINK_WAKER && subject[below] === on.subject);

/* The links of the file, with sums; above(): the link, or where the file has none what is nearest. */
class FileLinks {
    constructor(links) {
        this.links = links;
        this.sums = new Float64Array(links.n + links.rows);
    }

    above(below, kind, subject) {
        const { links } = this, find = (k, s) => links.of.get(linkKey(below, k, s));
        if (below >= 0 && endsChain(links.kind, links.subject, below, { kind, subject }))
            return below;
        return find(kind, subject) ?? find(LINK_MORE, -1) ?? below;
    }
}

/* Links of a block: 0 is the thread's own, and each further one is behind the one below it. */
class BlockLinks {
    constructor() {
        this.below = [-1];
        this.kind = [LINK_ROOT];
        this.subject = [-1];
        this.sums = [0];
        this.of = new Map();
    }

    above(below, kind, subject) {
        const key = linkKey(below, kind, subject), at = this.of.get(key);
        if (endsChain(this.kind, this.subject, below, { kind, subject }))
            return below;
        if (at !== undefined)
            return at;
        this.of.set(key, this.sums.length);
        this.below.push(below);
        this.kind.push(kind);
        this.subject.push(subject);
        return this.sums.push(0) - 1;
    }
}

class LaneChains {
    /* placed(number): whether the view has a stack for that number */
    constructor(data, placed) {
        this.data = data;
        this.links = data.links;
        this.placed = placed;
        const lanes = new Map(data.lanes.map((lane) => [lane.thread, lane]));
        this.lines = new Map(data.threads.map(({ uses }, thread) =>
            [thread, chainLine(lanes.get(thread) || newLane(thread, 0), thread, data.links, uses)]));
    }

    /* By link, and from links.n on by row: nanoseconds from `from` to `to`. */
    range(from, to) {
        this.tree = new FileLinks(this.links);
        for (const [thread, line] of this.lines) {
            const { lane } = line, { begin, end, ns, runq, row, is } = lane;
            for (let i = 0; i < lane.n && begin[i] <= to; i++)
                if (end[i] < from || (end[i] === from && begin[i] < from))
                    continue;
                else if (is[i] === WAIT_SUM)
                    this.addRow(row[i], clipWait(begin[i], end[i], ns[i], runq[i], true, from, to));
                else
                    this.split(thread, lane, i, Math.max(begin[i], from), Math.min(end[i], to));
            for (const s of lane.shares)
                if (s.end >= from && s.begin <= to)
                    this.addRow(s.row, clipWait(s.begin, s.end, s.ns, s.runq, true, from, to));
        }
        return this.tree.sums;
    }

    /* The links of one wait: [[link, ns], ...], the longest first. */
    wait(thread, i) {
        const { lane } = this.lines.get(thread), found = [];
        this.tree = new FileLinks(this.links);
        this.split(thread, lane, i, lane.begin[i], lane.end[i]);
        this.tree.sums.forEach((ns, link) => {
            if (ns > 0)
                found.push([link, ns]);
        });
        return found.sort((a, b) => b[1] - a[1]);
    }

    addRow(row, [ns, runq]) {
        const { n } = this.links, root = this.rootOf(row);
        const at = this.placed(n + row) || root < 0 ? n + row : this.above(root, LINK_WAKER, this.links.woke[row]);
        this.tree.sums[at] += ns;
        this.tree.sums[root < 0 ? at : this.above(root, LINK_RUNQ, -1)] += runq;
    }

    above(below, kind, subject) {
        return this.tree.above(below, kind, subject);
    }

    add(link, ns) {
        this.tree.sums[link] += ns * this.scale;
    }

    rootOf(row) {
        return this.above(-1, LINK_ROOT, this.links.first[row]);
    }

    linkOfSleep(link, row) {
        const same = this.links.same[row];
        return same < 0 ? link : this.above(link, LINK_SLEEP, same);
    }

    line(thread) {
        const line = this.lines.get(thread);
        return line && !line.shared && line.end > line.begin ? line : null;
    }

    canFollow(thread) {
        return this.followed.length < FOLLOWED_MAX && !this.followed.includes(thread) && this.line(thread) !== null;
    }

    split(thread, lane, i, from, to) {
        const { data, links } = this, row = lane.row[i], begin = lane.begin[i], wake = Math.max(begin, lane.end[i] - lane.runq[i]);
        const root = this.rootOf(row), woken = Math.min(to, Math.max(from, wake));
        if (root < 0) {
            this.addRow(row, clipWait(begin, lane.end[i], lane.ns[i], lane.runq[i], false, from, to));
            return;
        }
        this.scale = 1;
        this.followed = [thread];
        if (to > woken)
            this.add(this.above(root, LINK_RUNQ, -1), to - woken);
        const link = links.woke[row] >= 0 ? this.above(root, LINK_WAKER, links.woke[row]) : root;
        if (wake <= begin || woken <= from) {
            this.add(link, wake <= begin ? lane.ns[i] : 0);
            return;
        }
        this.scale = lane.ns[i] / (wake - begin);
        const waker = data.waker[row], until = this.wakerUntil(waker, thread, wake), last = Math.min(woken, Math.max(until, from));
        if (woken > last)
            this.add(this.above(root, LINK_UNKNOWN, -1), woken - last);
        this.cut = last < until;
        if (last <= from)
            return;
        if (waker >= 0 && this.canFollow(waker))
            this.follow(link, waker, from, last);
        else
            this.add(waker >= 0 && waker !== thread ? this.above(link, LINK_EARLIER, -1) : link, last - from);
    }

    follow(link, thread, from, to) {
        const line = this.line(thread);
        this.followed.push(thread);
        if (to > line.end) {
            const end = Math.max(line.end, from);
            this.add(link, to - end);
            to = end;
        }
        if (to > from)
            this.along(link, thread, from, to);
        this.followed.pop();
    }

    /* The block of a thread's waits, split; null: it is the one that is being split. */
    block(thread, number) {
        const line = this.line(thread), { starts } = line;
        line.blocks = line.blocks || [];
        if (line.blocks[number] !== undefined)
            return line.blocks[number];
        const { tree, scale, cut, followed } = this;
        line.blocks[number] = null;
        Object.assign(this, { tree: new BlockLinks(), scale: 1, cut: false, followed: [thread] });
        this.along(0, thread, starts[number * CHAIN_BLOCK], starts[(number + 1) * CHAIN_BLOCK]);
        line.blocks[number] = this.tree;
        Object.assign(this, { tree, scale, cut, followed });
        return line.blocks[number];
    }

    addBlock(link, block) {
        const to = [link];
        for (let i = 0; i < block.sums.length; i++) {
            if (i)
                to[i] = this.above(to[block.below[i]], block.kind[i], block.subject[i]);
            this.add(to[i], block.sums[i]);
        }
    }

    along(link, thread, from, to) {
        const line = this.line(thread), { lane, waits, starts } = line;
        let at = lowerBound(line.starts, to) - 1;
        const again = waits[at];
        if (at >= 0 && !this.cut && lane.end[again] > to && lane.begin[again] > from) {
            this.add(link, to - lane.begin[again]);
            to = lane.begin[again];
        }
        for (; to > from; at--) {
            const i = at < 0 ? -1 : waits[at], next = at + 1;
            const block = next && next % CHAIN_BLOCK === 0 && starts[next] === to && starts[next - CHAIN_BLOCK] >= from ?
                this.block(thread, next / CHAIN_BLOCK - 1) : null;
            if (block) {
                this.addBlock(link, block);
                at = next - CHAIN_BLOCK;
                to = starts[at];
                continue;
            }
            if (i >= 0 && lane.begin[i] >= to)
                continue;
            const end = Math.max(from, i < 0 ? line.begin : lane.end[i]);
            if (end < to) {
                this.awake(link, line, end, to);
                to = end;
            }
            if (to <= from)
                return;
            if (i < 0) {
                this.beforeLife(link, line, from, to);
                return;
            }
            const begin = Math.max(lane.begin[i], from);
            this.asleep(link, lane, i, begin, to);
            to = begin;
        }
    }

    /* The time from which on the waker of a wait was asleep until after the wake, if that is long before it; else the wake. */
    wakerUntil(waker, thread, wake) {
        const line = waker >= 0 && waker !== thread ? this.line(waker) : null, at = line ? lowerBound(line.starts, wake) - 1 : -1;
        const i = at < 0 ? -1 : line.waits[at];
        return i >= 0 && line.lane.end[i] > wake && wake - line.lane.begin[i] > LATE_NS ? line.lane.begin[i] : wake;
    }

    asleep(link, lane, i, from, to) {
        const { data, links, cut } = this, row = lane.row[i], wake = Math.max(lane.begin[i], lane.end[i] - lane.runq[i]);
        const woken = Math.max(wake, from), waker = data.waker[row];
        if (to > woken) {
            this.add(this.above(link, LINK_RUNQ, -1), to - woken);
            to = woken;
        }
        const until = this.wakerUntil(waker, lane.thread, wake);
        if (to > until) {
            const known = Math.max(until, from);
            this.add(this.above(link, LINK_UNKNOWN, -1), to - known);
            to = known;
        }
        if (to <= from)
            return;
        if (waker >= 0 && !this.line(waker)) {
            this.add(this.above(this.above(link, LINK_WAKER, links.woke[row]), LINK_EARLIER, -1), to - from);
        } else if (waker >= 0 && (until === to || cut) && this.canFollow(waker)) {
            this.cut = until !== to;
            this.follow(this.above(link, LINK_WAKER, links.woke[row]), waker, from, to);
            this.cut = cut;
        } else {
            this.add(this.linkOfSleep(link, row), to - from);
        }
    }

    beforeLife(link, line, from, to) {
        if (line.lived && line.parent >= 0 && this.canFollow(line.parent) && this.line(line.parent).begin < to)
            this.follow(this.above(link, LINK_CREATOR, line.parent), line.parent, from, to);
        else
            this.add(this.above(link, LINK_EARLIER, -1), to - from);
    }

    /* The time between waits, by the shares that are known of it. */
    awake(link, line, begin, end) {
        const { whole } = this.links;
        if (begin < whole) {
            const until = Math.min(whole, end);
            this.add(this.above(link, LINK_EARLIER, -1), until - begin);
            begin = until;
        }
        if (begin >= end)
            return;
        const shares = [];
        let ofSums = 0, ofShares = 0;
        for (let i = lowerBound(line.shareStarts, end) - 1; i >= 0 && line.shares[i].last > begin; i--) {
            const s = line.shares[i], over = Math.min(s.end, end) - Math.max(s.begin, begin);
            if (!(over > 0))
                continue;
            const ns = s.ns * over / (s.end - s.begin);
            shares.push([s, ns]);
            if (s.sum)
                ofSums += ns;
            else
                ofShares += ns;
        }
        if (!(ofSums + ofShares > 0)) {
            this.add(link, end - begin);
            return;
        }
        const length = end - begin, scaleSums = ofSums > length || !(ofShares > 0) ? length / (ofSums || 1) : 1;
        const scaleShares = ofShares > 0 && ofSums < length ? (length - ofSums) / ofShares : 0;
        for (const [s, ns] of shares)
            this.share(link, s, ns * (s.sum ? scaleSums : scaleShares));
    }

    share(link, s, ns) {
        const onCpu = this.data.kind[s.row] === ON_CPU, runq = onCpu && s.ns > 0 ? ns * s.runq / s.ns : 0;
        if (runq > 0)
            this.add(this.above(link, LINK_RUNQ, -1), runq);
        if (ns > runq)
            this.add(this.linkOfSleep(link, s.row), ns - runq);
    }
}

/* The chains of a profile whose file has their links; null: it has none, or no such view. */
function chainsOf(profile) {
    const { lanes: data, columns } = profile, column = data && data.links && columns.find((c) => c.name === "chain" && c.laneRows);
    if (!column)
        return null;
    if (!data.chains) {
        const placed = new Set(column.laneRows.row);
        data.chains = new LaneChains(data, (number) => placed.has(number));
    }
    return data.chains;
}
