// lanetext.mjs: folded text's comments with the waits of threads (fold/lanetext.c), for tests of lanes.
import { bytesOf, fold, pack, steps } from "./packed.mjs";

export const MS = 1e6;
export const SLEEP = 0, PART = 1, SHARE = 2, SUM = 3;

// threads: [pid, tid, name]; rows: [thread, kind, waker thread or -1]; stacks: [view, stack, rows];
// waits: by thread [is, row, begin, end, runq, [ns, times, longest]] in ms.
export function lanes(threads, rows, stacks, waits, { short = 0, lost = 0 } = {}) {
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
        stacks.map(([view, stack, of]) => `# lanes: in ${view} ${stack} rows=${steps(of)}\n`).join("") +
        waits.map((list, i) => `# lanes: waits thread=${i} n=${list.length} data=${line(list)}\n`).join("");
}
