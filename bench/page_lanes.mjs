#!/usr/bin/env node
// Cost of drawing the lanes of a page: bench/page_lanes.mjs [WAITS] [THREADS]
//
// A page of a few waits is opened, given so many (10,000,000 of 32 threads in a day unless said
// otherwise), and drawn from the whole day to a microsecond; then moved along in real frames. The
// time that paint() takes, and how far apart frames are, in milliseconds.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, open, renderTo } from "../tests/browser/page.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const waits = Number(process.argv[2] || 1e7), threads = Number(process.argv[3] || 32);
const source = ["page_format.js", "page_profile.js", "page_timeline.js", "page_lanedata.js"]
    .map((f) => readFileSync(join(root, "render/assets/page", f), "utf8")).join("\n");
// One thread with two kinds of waits (fold/lanetext.c): a second asleep, a second for a lock.
const FOLDED = "# flame: view=off unit=us\na;b 2000000\n" +
    "# lanes: begin rows=4 threads=1 short=0 window=0 lost=0\n" +
    "# lanes: thread pid=1 tid=1 uses=1 wall=0 cpu=0 runq=0 name=YQ== title=\n" +
    "# lanes: rows thread=AAAAAA== kind=AQYCBQ== waker=AAAAAA==\n" +
    "# lanes: in off a;b rows=AAICAg==\n# lanes: waits thread=0 n=1 data=AACAlOvcAwAA\n";

await main(async () => {
    const page = await open(renderTo("html", FOLDED), { width: 1600, height: 1000 });
    const made = await page.evaluate(([code, n, lanes]) => {
        const { newLane, buildLevels } = Function(code + "\nreturn { newLane, buildLevels };")();
        const { chart } = document.querySelector(".lanes-plot"), { data } = chart, DAY = 86400e9;
        const began = performance.now();
        let state = 1;
        const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
        data.threads = Array.from({ length: lanes }, (_, i) => ({ pid: 1, tid: i + 1, uses: 1, name: "t", title: "" }));
        data.waker = Int32Array.from([1, -1, 2, 3]);
        data.lanes = data.threads.map((_, thread) => {
            const count = Math.floor(n / lanes), lane = newLane(thread, count), mean = DAY / count;
            for (let i = 0, t = 0; i < count; i++) {
                t += mean * random() * (i % 1000 ? 0.9 : 50);
                lane.begin[i] = t;
                lane.ns[i] = mean * random() * random();
                lane.runq[i] = 2000 * random();
                t = lane.end[i] = t + lane.ns[i] + lane.runq[i];
                lane.row[i] = Math.floor(random() * 4);
                lane.times[i] = 1;
            }
            return lane;
        });
        const filled = performance.now();
        for (const lane of data.lanes)
            buildLevels(lane, data.kind);
        const built = performance.now();
        data.first = 0;
        data.last = data.lanes.reduce((a, l) => Math.max(a, l.last), 0);
        data.n = data.lanes.reduce((a, l) => a + l.n, 0);
        chart.order();
        document.querySelector(".lanes-plot").style.maxHeight = "none";
        return { n: data.n, fill: filled - began, build: built - filled, last: data.last };
    }, [source, waits, threads]);
    console.log(`# ${made.n} waits of ${threads} threads; sums built in ${(made.build).toFixed(0)} ms`);
    const zooms = await page.evaluate((all) => {
        const { chart } = document.querySelector(".lanes-plot"), out = [];
        for (let span = all; ; span = Math.max(1000, span / 10)) {
            const times = [];
            for (let i = 0; i < 15; i++) {
                const from = all * 0.37 + span * i / 15;
                chart.shown = { ...chart.shown, view: span < all ? [from, from + span] : null };
                const t = performance.now();
                chart.paint();
                times.push(performance.now() - t);
            }
            times.sort((a, b) => a - b);
            out.push([span, times[7], times[14], chart.painted.last - chart.painted.first + 1]);
            if (span === 1000)
                return out;
        }
    }, made.last);
    for (const [span, median, most, rows] of zooms)
        console.log(`# ${(span / 1e9).toExponential(1)} s in sight, ${rows} lanes: paint ${median.toFixed(1)} ms, ` +
            `at most ${most.toFixed(1)} ms`);
    const frames = await page.evaluate((all) => new Promise((done) => {
        const { chart } = document.querySelector(".lanes-plot"), times = [];
        let i = 0, before = 0;
        const step = (now) => {
            if (before)
                times.push(now - before);
            before = now;
            if (++i > 240) {
                times.sort((a, b) => a - b);
                done([times[times.length >> 1], times[Math.floor(times.length * 0.95)]]);
                return;
            }
            /* In, to a microsecond, and out again, moving along. */
            const share = i < 120 ? i / 120 : (240 - i) / 120, span = all * (1000 / all) ** share;
            chart.shown = { ...chart.shown, view: [all * 0.4 + i * span / 100, all * 0.4 + i * span / 100 + span] };
            chart.paint();
            requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    }), made.last);
    console.log(`# zoom to a microsecond and back in 240 frames: ${frames[0].toFixed(1)} ms apart, ` +
        `95 of 100 no more than ${frames[1].toFixed(1)} ms`);
});
