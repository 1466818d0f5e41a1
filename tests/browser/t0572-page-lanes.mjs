#!/usr/bin/env node
// The lanes of threads on the explorer page: what is drawn where, a click and keys pick a wait and
// show its stack, waker and chain, a part of the time is counted, the address, both themes.
import { crumbs, explore, row, tab, text, untroubled } from "./explorer.mjs";
import { is, main, near, ok } from "./page.mjs";
import { lanes, MS, SHARE, SLEEP, SUM } from "./lanetext.mjs";

const EVIL = "<img src=x onerror=alert(1)>";
const HEAD = "# flame: view=off unit=us\napp;main;lock 2000\napp;main;sleep 4000\napp;worker;read 2000\n" +
    "# flame: view=chain unit=us\napp;main;lock;--;release_[w];worker_[w];app_[w] 2000\n" +
    "app;main;sleep;--;[timer]_[w] 4000\napp;worker;read 2000\n" +
    "# flame: view=oncpu unit=us\napp;worker 5000\n";
const STACKS = [["off", "app;main;lock", [0]], ["off", "app;main;sleep", [1]], ["off", "app;worker;read", [2]],
    ["chain", "app;main;lock;--;release_[w];worker_[w];app_[w]", [0]],
    ["chain", "app;main;sleep;--;[timer]_[w]", [1]], ["chain", "app;worker;read", [2]],
    ["oncpu", "app;worker", [3]]];
const ROWS = [[0, 1, 1], [0, 6, -1], [1, 4, 0], [1, 15, -1]];
const WAITS = [[[SLEEP, 0, 1, 3, 0.5], [SLEEP, 1, 4, 8, 0]],
    [[SLEEP, 2, 0, 2, 0], [SHARE, 3, 0, 10, 1, [5, 1, 0]]]];
const FOLDED = HEAD + lanes([[10, 11, "app"], [10, 12, EVIL]], ROWS, STACKS, WAITS);

const ask = (page, what) => page.evaluate((code) => {
    const plot = document.querySelector(".lanes-plot");
    const { chart } = plot;
    return Function("chart", "return " + code)(chart);
}, what);
// Where a time of a thread is on the screen.
const at = (page, tid, ms) => page.evaluate(([thread, t]) => {
    const plot = document.querySelector(".lanes-plot"), box = plot.getBoundingClientRect(), { chart } = plot;
    const lane = chart.data.lanes.findIndex((l) => chart.data.threads[l.thread].tid === thread);
    return [box.left + chart.x(t * 1e6), box.top + chart.y(chart.rowOf.get(lane)) + 9];
}, [tid, ms]);
const settle = (page) => page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
const hash = async (page) => {
    await page.waitForTimeout(400);
    return page.evaluate(() => location.hash);
};
// The colour of a place, "213,94,0".
const color = async (page, tid, ms) => page.evaluate(([x, y]) => {
    const canvas = document.querySelector(".lanes-canvas"), box = canvas.getBoundingClientRect();
    const ratio = canvas.width / box.width;
    const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, -Math.round((x - box.left) * ratio), -Math.round((y - box.top) * ratio));
    return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
}, await at(page, tid, ms));
const wanted = (page, key) => page.evaluate((k) => {
    const v = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--wait-" + k).trim().slice(1), 16);
    return [v >> 16, v >> 8 & 255, v & 255].join();
}, key);

async function drawn() {
    for (const colorScheme of ["light", "dark"]) {
        const page = await explore(FOLDED, { colorScheme });
        is(await color(page, 11, 1.6), await wanted(page, "lock"),
            `${colorScheme}: the lane shows the wait for a lock`);
        is(await color(page, 11, 2.8), await wanted(page, "ready"),
            `${colorScheme}: the lane shows the thread ready after the lock`);
        is(await color(page, 11, 3.5), await wanted(page, "running"),
            `${colorScheme}: the lane shows the thread running after that`);
        is(await color(page, 11, 6.3), await wanted(page, "timer"),
            `${colorScheme}: the lane shows the wait for a timer`);
        is(await color(page, 12, 0.6), await wanted(page, "local"),
            `${colorScheme}: the lane of another thread shows its read`);
        await untroubled(page, colorScheme);
    }
    const page = await explore(FOLDED);
    is((await text(page, ".lanes-legend")).replace(/\s+/g, " "), "Lock Pipe, local Timer Ready Running",
        "lanes: the legend has the kinds of wait that there are");
    is(await text(page, ".lanes-text"), "2 threads, 3 waits",
        "lanes: the number of threads and waits is shown");
    is(await page.locator("#lanes img").count(), 0, "lanes: the name of a thread adds no element");
    is(await ask(page, "chart.arrowsDrawn"), 2,
        "lanes: arrows begin at the threads that ended waits");
    const none = await explore("a;b 3\n");
    ok(await none.locator("#lanes").isHidden(), "lanes: a page without waits has none");
    await untroubled(none, "none");
    await untroubled(page, "drawn");
}

async function picked() {
    const page = await explore(FOLDED);
    await page.mouse.click(...await at(page, 11, 2));
    const detail = await text(page, ".lanes-detail");
    ok(detail.includes("app 11 waited for a lock: 1.50 ms, then ready for 500.0 \u00b5s"),
        "lanes: a click shows what the thread waited for", detail);
    ok(detail.includes("0.001 s to 0.003 s"), "lanes: a click shows the time of the wait", detail);
    ok(detail.includes("lock") && detail.includes("main \u2190 app"),
        "lanes: a click shows the stack of the wait", detail);
    ok(detail.includes(`${EVIL} 12`),
        "lanes: a click shows the thread that ended the wait", detail);
    ok(/Chain\s*app: release \u2190 worker/.test(detail),
        "lanes: a click shows the chain of the wait", detail);
    const link = await hash(page);
    ok(link.includes("wait=11%7E1000000"), "lanes: the address has the selected wait", link);
    await page.locator(".lanes-detail button", { hasText: "Show in graph" }).click();
    is(await crumbs(page), "all app main lock",
        "lanes: the button leads to the stack in the graph");
    const again = await explore(FOLDED, { hash: await hash(page) });
    ok((await text(again, ".lanes-detail")).includes("waited for a lock"),
        "lanes: an address has the selected wait");
    is(await crumbs(again), "all app main lock", "lanes: an address has the stack in the graph");
    await untroubled(again, "again");
    await page.locator(".lanes-detail button", { hasText: "12" }).click();
    ok((await text(page, ".lanes-detail")).includes("waited for a pipe"),
        "lanes: a click on the waker shows the waker's wait");
    await untroubled(page, "picked");
}

async function keys() {
    const page = await explore(FOLDED);
    await page.locator(".lanes-plot").focus();
    await page.keyboard.press("ArrowDown");
    ok((await text(page, ".lanes-detail")).includes("waited for a lock"),
        "lanes: Down selects the first wait of the first thread");
    await page.keyboard.press("ArrowRight");
    ok((await text(page, ".lanes-detail")).includes("waited for time: 4.00 ms"),
        "lanes: Right selects the next wait");
    await page.keyboard.press("Enter");
    is(await crumbs(page), "all app main sleep",
        "lanes: Enter shows the stack of the wait in the graph");
    await page.locator(".lanes-plot").focus();
    for (let i = 0; i < 3; i++)
        await page.keyboard.press("+");
    near((await ask(page, "chart.window[1] - chart.window[0]")) / MS, 10 / 8, 1e-6,
        "lanes: plus three times leaves an eighth in sight");
    const [from] = await ask(page, "chart.window");
    await page.keyboard.press("Shift+ArrowLeft");
    near((from - (await ask(page, "chart.window[0]"))) / MS, 10 / 80, 1e-6,
        "lanes: Shift and Left go back by a tenth of that");
    for (let i = 0; i < 40; i++)
        await page.keyboard.press("+");
    is(await ask(page, "chart.window[1] - chart.window[0]"), 1000,
        "lanes: plus zooms down to a microsecond");
    await page.keyboard.press("0");
    is(await ask(page, "(chart.window[1] - chart.window[0]) / 1e6"), 10,
        "lanes: 0 shows all of the time");
    await page.keyboard.press("+");
    await page.keyboard.press("Shift+Enter");
    const range = await ask(page, "chart.shown.range"), window = await ask(page, "chart.window");
    is(range.join(), window.map(Math.round).join(),
        "lanes: Shift and Enter count the time in sight");
    await page.keyboard.press("Escape");
    is(await ask(page, "chart.shown.range"), null, "lanes: Escape ends the counted range");
    await untroubled(page, "keys");
}

async function zoomed() {
    /* Events have whole pixels. */
    const page = await explore(FOLDED), [x, y] = (await at(page, 11, 2)).map(Math.round);
    const time = (await ask(page, `chart.timeAt(${x} - chart.plot.getBoundingClientRect().left)`)) / MS;
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    for (let i = 0; i < 4; i++)
        await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await settle(page);
    ok((await ask(page, "chart.window[1] - chart.window[0]")) < 5 * MS,
        "lanes: Ctrl and the wheel zoom");
    near((await at(page, 11, time))[0], x, 1.5, "lanes: a zoom keeps the time at the pointer");
    const before = await ask(page, "chart.window");
    await page.mouse.down();
    await page.mouse.move(x + 50, y);
    await page.mouse.move(x + 80, y);
    await page.mouse.up();
    await settle(page);
    const after = await ask(page, "chart.window");
    ok(after[0] < before[0] && Math.abs(after[1] - after[0] - before[1] + before[0]) < 2,
        "lanes: a drag moves the window of time",
        `${before} ${after}`);
    near((await at(page, 11, time))[0], x + 80, 2, "lanes: the lanes move with the pointer");
    const again = await explore(FOLDED, { hash: await hash(page) });
    is((await ask(again, "chart.window")).map(Math.round).join(), after.map(Math.round).join(),
        "lanes: the address has the time in sight");
    await untroubled(again, "again");
    await untroubled(page, "zoomed");
}

async function counted() {
    const page = await explore(FOLDED);
    is(await row(page, 1), "app:8000", "lanes: all waits are counted at first");
    const [x0, y] = await at(page, 12, 2), [x1] = await at(page, 12, 6);
    await page.keyboard.down("Shift");
    await page.mouse.move(x0, y);
    await page.mouse.down();
    await page.mouse.move((x0 + x1) / 2, y);
    await page.mouse.move(x1, y);
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await settle(page);
    // The range has the end of the lock's sleep, its wait for a CPU, and the first half of the sleep.
    near(Number((await row(page, 1)).split(":")[1]), 3000, 60,
        "lanes: Shift and a drag count a part of the time");
    ok((await text(page, "#title")).match(/, 0\.00\d+ s to 0\.00\d+ s$/),
        "lanes: the title has the counted part",
        await text(page, "#title"));
    await page.keyboard.press("Escape");
    is(await row(page, 1), "app:8000", "lanes: Escape counts all waits again");
    const exact = await explore(FOLDED, { hash: "#laneRange=2000000~6000000" });
    is(await row(exact, 1), "app:3000", "lanes: a range is counted to the microsecond");
    is(await row(exact, 3), "lock:1000 sleep:2000", "lanes: a range is counted by stack");
    ok((await text(exact, ".lanes-text")).includes("counted: 0.002 s to 0.006 s, 4.00 ms (what goes beyond its ends in proportion)"),
        "lanes: the page shows that a share of a time was split", await text(exact, ".lanes-text"));
    await tab(exact, "oncpu").click();
    is(await row(exact, 1), "app:2000", "lanes: time on a CPU is counted in proportion");
    await tab(exact, "chain").click();
    is(await row(exact, 3), "lock:1000 sleep:2000", "lanes: chains are counted by range, too");
    await untroubled(exact, "exact");
    const wrong = await explore(FOLDED, { hash: "#laneRange=5~2&laneView=x~1&wait=11~7&wait=z" });
    is(await row(wrong, 1), "app:8000", "lanes: a wrong address counts all waits");
    await untroubled(wrong, "wrong");
    await untroubled(page, "counted");
}

async function summed() {
    const sums = [[[SUM, 0, 1, 5, 0, [2, 40, 0.1]], [SLEEP, 1, 2, 2.5, 0]], WAITS[1]];
    const page = await explore(HEAD + lanes([[10, 11, "app"], [10, 12, "b"]], ROWS, STACKS, sums,
        { short: 100000, lost: 3e6 }));
    await page.mouse.click(...await at(page, 11, 4));
    const detail = await text(page, ".lanes-detail");
    ok(detail.includes("40 times, 2.00 ms together") && detail.includes("of 40 short waits of this stack"),
        "lanes: a sum of short waits is marked as one", detail);
    const said = await text(page, ".lanes-text");
    ok(said.includes("waits below 100.0 \u00b5s may be sums of up to 6.40 ms") && said.includes("3.00 ms not kept"),
        "lanes: the page shows that there are sums and waits that were not kept", said);
    await untroubled(page, "summed");
}

await main(async () => {
    await drawn();
    await picked();
    await keys();
    await zoomed();
    await counted();
    await summed();
});
