#!/usr/bin/env node
// Cost of a page with very many stacks for its reader in Chromium: time until it is drawn, memory,
// and how long the page does not react after each click.
//
//     node bench/page_large.mjs PAGE.html [ROUNDS]
//
// "drawn" is the page's own mark, set when the first frame has been painted. "stands still" is the
// longest time in which the page could not have answered (the largest gap between two turns of its
// event loop) until the requested view is shown; "shown" is that whole time, and "work" the
// processor time of the page's own thread, which says the same on a machine that does other things.
// Memory is the JavaScript heap with typed arrays, after a collection. `make bench-page` makes
// pages of 27,053 and (MILLION=1) a million stacks and calls this.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, rounds = 3] = process.argv.slice(2);
if (!file) {
    console.error("usage: page_large.mjs PAGE.html [ROUNDS]");
    process.exit(2);
}
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ||
        ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"].find(existsSync),
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--enable-precise-memory-info", "--js-flags=--expose-gc"],
});
let cdp;
const worked = async () => 1000 * (await cdp.send("Performance.getMetrics")).metrics
    .find((m) => m.name === "TaskDuration").value;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const percentile = (list, p) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(p * list.length) - 1)];
const ms = (v) => v.toFixed(1).padStart(8) + " ms";
const tell = (what, text) => console.log(what.padEnd(26) + text);

async function openPage() {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(300000);
    cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(pathToFileURL(resolve(file)).href, { timeout: 300000 });
    await page.waitForFunction(() => performance.getEntriesByName("flame-drawn").length);
    return page;
}

const drawn = [], drawnWork = [];
let page;
for (let i = 0; i < rounds; i++) {
    if (page)
        await page.close();
    page = await openPage();
    drawn.push(await page.evaluate(() => performance.getEntriesByName("flame-drawn")[0].startTime));
    drawnWork.push(await worked());
}
tell("drawn", `${ms(median(drawn))}  (most ${ms(Math.max(...drawn)).trim()}), work ${ms(median(drawnWork))}`);

/* Unused arrays are freed in parallel to the page, so memory is measured again a little later. */
const heap = () => page.evaluate(async () => {
    for (let i = 0; i < 3; i++) {
        gc(); // eslint-disable-line no-undef
        await new Promise((done) => setTimeout(done, 200));
    }
    return performance.memory.usedJSHeapSize / 1048576;
});
tell("memory", `${(await heap()).toFixed(0).padStart(8)} MiB`);

// Acts, and waits until the graph shows the requested view.
const acts = {
    "Callers": `layouts [data-value=callers]`, "Callees": `layouts [data-value=forward]`,
};
const act = async (how) => {
    const before = await worked(), result = await look(how);
    return { ...result, work: await worked() - before };
};
const look = (how) => page.evaluate(async (what) => {
    const app = document.querySelector(".chart-canvas").chart, query = document.getElementById("query");
    const begin = performance.now();
    let last = begin, still = 0, going = true;
    const turn = () => {
        const now = performance.now();
        still = Math.max(still, now - last);
        last = now;
        if (going)
            setTimeout(turn, 2);
    };
    setTimeout(turn);
    if (what.click)
        document.querySelector(what.click).click();
    if (what.search !== undefined) {
        query.value = what.search;
        query.dispatchEvent(new Event("input"));
    }
    if (what.at) {
        const canvas = app.canvas, box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent("click", { clientX: box.left + what.at[0] * box.width,
            clientY: box.top + what.at[1], bubbles: true, button: 0 }));
    }
    await new Promise((done) => setTimeout(done, 20));
    while (document.documentElement.classList.contains("working") ||
        document.getElementById("search").classList.contains("waiting"))
        await new Promise((done) => setTimeout(done, 5));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    turn();
    going = false;
    return { still, shown: performance.now() - begin };
}, how);
const told = (what, list) => tell(what, `stands still ${ms(median(list.map((r) => r.still)))}, shown ${
    ms(median(list.map((r) => r.shown)))}, work ${ms(median(list.map((r) => r.work)))}`);
const several = async (what, how) => {
    const list = [];
    for (let i = 0; i < rounds; i++)
        list.push(await act(how(i)));
    told(what, list);
};
const callers = [], callees = [];
let callersHeap = 0;
for (let i = 0; i < rounds; i++) {
    callers.push(await act({ click: "#" + acts.Callers }));
    callersHeap = Math.max(callersHeap, i ? 0 : await heap());
    callees.push(await act({ click: "#" + acts.Callees }));
}
told("Callers", callers);
tell("memory of Callers", `${callersHeap.toFixed(0).padStart(8)} MiB`);
told("and back", callees);
await several("search", (i) => ({ search: ["resolve", "std::.*find", "push"][i % 3] }));
await act({ search: "" });
await several("by size, by name", (i) => ({ click: `[name=order][value=${i % 2 ? "name" : "size"}]` }));
await act({ click: "[name=order][value=name]" });

// Clicks on frames of all rows, and back: the 95th percentile is what a reader feels.
const clicks = [];
for (let i = 0; i < 20 * rounds; i++) {
    clicks.push(await act({ at: [(i * 0.137 + 0.03) % 1, 30 + 20 * (i % 12)] }));
    await page.waitForTimeout(220);
    if (i % 5 === 4)
        await act({ click: "#crumbs button" });
}
tell("clicks on frames, 95 %", `stands still ${ms(percentile(clicks.map((r) => r.still), 0.95))}, work ${
    ms(percentile(clicks.map((r) => r.work), 0.95))}`);
tell("memory at the end", `${(await heap()).toFixed(0).padStart(8)} MiB`);
await browser.close();
