#!/usr/bin/env node
// The critical path in the lanes of threads: a band below the thread that it was in, in words in
// titles, a switch in the legend and by key, its state in the address; none where there is no path.
import { explore, text, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";
import { bytesOf, fold, pack, steps } from "./packed.mjs";

const MS = 1e6;
const HEAD = "# flame: view=off unit=us\napp;main;lock 2000\nworker;read 2000\n";

// Thread 11 waits for a lock from 1 to 3 ms, thread 12 reads from 4 to 6 ms.
const wait = (row, begin, end) => pack([row * 4, begin * MS, (end - begin) * MS, fold(0), 0]);
const LANES = `# lanes: begin rows=2 threads=2 short=0 window=0 lost=0
# lanes: thread pid=10 tid=11 uses=1 wall=10000000 cpu=0 runq=0 name=${bytesOf("app")} title=
# lanes: thread pid=10 tid=12 uses=1 wall=10000000 cpu=0 runq=0 name=${bytesOf("<b>w</b>")} title=
# lanes: rows thread=${pack([0, 1])} kind=${pack([1, 4])} waker=${pack([2, 0])}
# lanes: in off app;main;lock rows=${steps([0])}
# lanes: in off worker;read rows=${steps([1])}
# lanes: waits thread=0 n=1 data=${wait(0, 1, 3)}
# lanes: waits thread=1 n=1 data=${wait(1, 4, 6)}
`;
// In thread 12 from 1 to 2 ms and from 5 to 6, in thread 11 from 2 to 5.
const path = (pieces) => {
    let before = 0;
    return pack(pieces.flatMap(([thread, begin, end]) => {
        const gap = begin - before;
        before = end;
        return [thread, gap * MS, (end - begin) * MS];
    }));
};
const PIECES = [[1, 1, 2], [0, 2, 5], [1, 5, 6]];
const PATH = `# lanes: path n=3 short=0 data=${path(PIECES)}\n`;

const ask = (page, what) => page.evaluate((code) =>
    Function("chart", "return " + code)(document.querySelector(".lanes-plot").chart), what);
// Whether the band is there at a time of a thread.
const band = (page, tid, ms) => page.evaluate(([thread, t]) => {
    const canvas = document.querySelector(".lanes-canvas"), { chart } = document.querySelector(".lanes-plot");
    const lane = chart.data.lanes.findIndex((l) => chart.data.threads[l.thread].tid === thread);
    const ratio = canvas.width / canvas.getBoundingClientRect().width;
    const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, -Math.round(chart.x(t * 1e6) * ratio), -Math.round((chart.y(chart.rowOf.get(lane)) + 16) * ratio));
    const rgb = (c) => [...c].slice(0, 3).join();
    const got = rgb(copy.getImageData(0, 0, 1, 1).data);
    copy.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
    copy.fillRect(0, 0, 1, 1);
    return got === rgb(copy.getImageData(0, 0, 1, 1).data);
}, [tid, ms]);
const bands = async (page) => {
    let all = "";
    for (const [tid, ms] of [[12, 1.5], [11, 1.5], [11, 2.5], [12, 2.5], [11, 4.5], [12, 5.5], [11, 5.5]])
        all += await band(page, tid, ms) ? "1" : "0";
    return all;
};
const hash = async (page) => {
    await page.waitForTimeout(400);
    return page.evaluate(() => location.hash);
};
const settle = (page) => page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));

async function drawn() {
    for (const colorScheme of ["light", "dark"]) {
        const page = await explore(HEAD + LANES + PATH, { colorScheme });
        is(await bands(page), "1010110", `${colorScheme}: a band is only where the path is`);
        await untroubled(page, colorScheme);
    }
}

async function said() {
    const page = await explore(HEAD + LANES + PATH);
    const titles = await ask(page, "[chart.sentence({ lane: 0, wait: 0 }), chart.sentence({ lane: 1, wait: 0 }), " +
        "chart.between(0, 2.5e6), chart.between(0, 5.5e6)].join('|')");
    const [half, other, on, off] = titles.split("|");
    ok(half.endsWith("; on the critical path for 1.00 ms of it"),
        "critical path: a wait has its part on the path", half);
    ok(other.endsWith("; on the critical path for 1.00 ms of it"),
        "critical path: another wait has its part on the path", other);
    ok(on.endsWith("; on the critical path"), "critical path: a moment on the path is marked", on);
    ok(!off.includes("critical"), "critical path: a moment off the path is not marked", off);
    await untroubled(page, "said");
}

async function switched() {
    const page = await explore(HEAD + LANES + PATH);
    ok((await text(page, ".lanes-legend")).includes("Critical path"),
        "critical path: the legend has it");
    await page.locator(".lanes-path input").uncheck();
    await settle(page);
    is(await bands(page), "0000000", "critical path: its switch hides the bands");
    const link = await hash(page);
    ok(/[#&]path=0/.test(link), "critical path: the address has hidden bands", link);
    const again = await explore(HEAD + LANES + PATH, { hash: link });
    is(await bands(again), "0000000", "critical path: an address with hidden bands shows none");
    await again.locator(".lanes-plot").focus();
    await again.keyboard.press("c");
    await settle(again);
    is(await bands(again), "1010110", "critical path: C shows the bands");
    ok(await again.locator(".lanes-path input").isChecked(), "critical path: C sets the switch");
    ok(!/[#&]path=0/.test(await hash(again)), "critical path: C updates the address");
    await untroubled(again, "again");
    await untroubled(page, "switched");
}

async function none() {
    for (const [what, line] of [["no path", ""], ["a thread that is not there", PATH.replace(/data=.*/, `data=${path([[2, 1, 2], [0, 2, 5], [1, 5, 6]])}`)],
        ["fewer pieces than said", PATH.replace("n=3", "n=4")]]) {
        const page = await explore(HEAD + LANES + line);
        is(await page.locator(".lanes-path").count(), 0,
            `critical path, ${what}: the legend has no switch`);
        ok((await text(page, ".lanes-text")).includes("2 threads"),
            `critical path, ${what}: the lanes are shown`);
        await untroubled(page, what);
    }
}

await main([drawn, said, switched, none]);
