#!/usr/bin/env node
// How quick an explorer page is in Chromium: opening, zooming, hovering, searching.
//
//     node bench/page_speed.mjs PAGE.html [ROUNDS]
//
// Each figure is the median of ROUNDS (7) with the largest behind it. "work" is the
// time the page's own code takes; "drawn" ends when the browser has had the next frame
// to itself, so it includes waiting for it.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, rounds = 7] = process.argv.slice(2);
if (!file) {
    console.error("usage: page_speed.mjs PAGE.html [ROUNDS]");
    process.exit(2);
}
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ||
        ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"].find(existsSync),
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"],
});

function tell(what, values) {
    const sorted = [...values].sort((a, b) => a - b);
    const shown = (v) => v.toFixed(1).padStart(7) + " ms";
    console.log(`${what.padEnd(24)} ${shown(sorted[sorted.length >> 1])}  (most ${
        shown(sorted[sorted.length - 1])})`);
}

async function openPage() {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.waitForFunction(() => performance.getEntriesByName("flame-drawn").length);
    return page;
}

const opened = [];
for (let i = 0; i < rounds; i++) {
    const page = await openPage();
    opened.push(await page.evaluate(() =>
        performance.getEntriesByName("flame-drawn")[0].startTime));
    await page.close();
}
tell("open, until drawn", opened);

const page = await openPage();
const figures = await page.evaluate(async (n) => {
    const canvas = document.querySelector(".chart-canvas"), { chart } = canvas;
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const out = { hoverWork: [], zoomDraw: [], zoomWork: [], searchWork: [], searchDrawn: [] };
    const box = canvas.getBoundingClientRect();
    const at = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type,
        { clientX: box.left + x, clientY: box.top + y, bubbles: true, button: 0 }));
    const time = (list, act) => {
        const begin = performance.now();
        act();
        list.push(performance.now() - begin);
    };
    for (let i = 0; i < 40 * n; i++) {
        time(out.hoverWork, () => at("pointermove", 3 + (i * 37) % (box.width - 6),
            10 + (i * 13) % 600));
        if (i % 20 === 0)
            await frame();
    }
    for (let i = 0; i < n; i++) {
        time(out.zoomWork, () => at("click", 20 + (i * 97) % (box.width - 40), 70));
        const until = performance.now() + 260;
        while (performance.now() < until) {
            await frame();
            const begin = performance.now();
            chart.layout();
            chart.draw();
            out.zoomDraw.push(performance.now() - begin);
        }
        at("click", 20, 10);
        await new Promise((done) => setTimeout(done, 260));
    }
    const query = document.getElementById("query");
    for (let i = 0; i < n; i++) {
        const begin = performance.now();
        query.value = ["push", "visit_", "std::.*find", "Arena|Node", "e", "x$", "resolve"][i % 7];
        query.dispatchEvent(new Event("input"));
        out.searchWork.push(performance.now() - begin);
        await frame();
        out.searchDrawn.push(performance.now() - begin);
    }
    return out;
}, Number(rounds));
tell("hover, work", figures.hoverWork);
tell("zoom, work of the click", figures.zoomWork);
tell("zoom, layout and draw", figures.zoomDraw);
tell("search, work", figures.searchWork);
tell("search, until drawn", figures.searchDrawn);
await browser.close();
