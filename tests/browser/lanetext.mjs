// lanetext.mjs: folded text's comments with the waits of threads (fold/lanetext.c), for tests of lanes.
import { bytesOf, fold, pack, steps } from "./packed.mjs";

export const MS = 1e6;
export const SLEEP = 0, PART = 1, SHARE = 2, SUM = 3;

const linkLine = ({ links, woke, lives }) => `# lanes: links n=${links.length} whole=0 woke=${pack(woke.map((v) => v + 1))} ` +
    `same=${pack(woke.map((_, i) => i + 1))} first=${pack(woke.map((_, i) => i + 1))} ` +
    `lives=${pack(lives.flatMap(([begin, end, parent]) => [begin * MS, (end - begin) * MS, parent + 1]))} ` +
    `data=${pack(links.flatMap(([below, kind, of], i) => [(below < 0 ? 0 : i - below) * 8 + kind, of + 1]))}\n`;

// threads: [pid, tid, name]; rows: [thread, kind, waker thread or -1]; stacks: [view, stack, rows];
// waits: by thread [is, row, begin, end, runq, [ns, times, longest]] in ms.
// chains: {links: [[below or -1, kind, row or thread or -1]], woke: by row a row or -1, lives: by thread [begin, end, creator or -1]
// in ms}.
export function lanes(threads, rows, stacks, waits, { short = 0, lost = 0, chains = null } = {}) {
    const by = (i) => pack(rows.map((r) => i === 2 ? r[2] + 1 : r[i]));
    const line = (list) => {
        let before = 0;
        return pack(list.flatMap(([kind, at, begin, end, runq, sums]) => {
            const later = begin * MS - before, length = (end - begin) * MS;
            before = begin * MS;
            const ns = sums ? sums[0] * MS : length - runq * MS;
            return [at * 4 + kind, later, length, fold(length - ns - runq * MS), runq * MS,
                ...sums ? [sums[1], sums[2] * MS] : []];
        }));
    };
    return `# lanes: begin rows=${rows.length} threads=${threads.length} short=${short} ` +
        `window=${short * 64} lost=${lost}\n` +
        threads.map(([pid, tid, name]) => `# lanes: thread pid=${pid} tid=${tid} uses=1 wall=10000000 cpu=0 ` +
            `runq=0 name=${bytesOf(name)} title=\n`).join("") +
        `# lanes: rows thread=${by(0)} kind=${by(1)} waker=${by(2)}\n` +
        (chains ? linkLine(chains) : "") +
        stacks.map(([view, stack, of]) => `# lanes: in ${view} ${stack} rows=${steps(of)}\n`).join("") +
        waits.map((list, i) => `# lanes: waits thread=${i} n=${list.length} data=${line(list)}\n`).join("");
}
