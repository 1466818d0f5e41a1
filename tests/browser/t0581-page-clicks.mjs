#!/usr/bin/env node
// A click does what it has to and no more: what did not change is not made again, each frame of an
// animation is painted once, and the browser lays the page out a bounded number of times.
import { is, main, ok, open, renderTo } from "./page.mjs";
import { crumbs, quiet, table, text, untroubled } from "./explorer.mjs";

const FOLDED = Array.from({ length: 3000 }, (_, i) =>
    `main;a${i % 5};b${i % 60};c${i % 900};d${i} ${1 + i % 7}\n`).join("");
const path = renderTo("html", FOLDED);

// Clicks on the widest frame of a row, and what that made: changed nodes by place, layouts, paints.
async function clicked(page, row, cdp) {
    const layouts = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "LayoutCount").value;
    const before = await layouts();
    const made = await page.evaluate(async (depth) => {
        const canvas = document.querySelector(".chart-canvas"), { chart } = canvas, box = canvas.getBoundingClientRect();
        const seen = { "#table": 0, "#crumbs": 0, "#toolbar": 0, "#legend": 0, "#filters": 0 };
        const count = (records) => {
            for (const { target } of records) {
                const e = target.nodeType === 1 ? target : target.parentElement;
                for (const place in seen)
                    seen[place] += e && e.closest(place) ? 1 : 0;
            }
        };
        const observer = new MutationObserver(count);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        let paints = 0, frames = 0, going = true;
        const { draw } = chart, narrow = { moving: 0, still: 0 }; /* single frames of under 3 pixels */
        chart.draw = function () {
            paints++;
            draw.call(this);
            for (let b = 0; b < chart.boxes.n; b++)
                narrow[chart.moving ? "moving" : "still"] += !chart.boxes.run[b] && chart.boxes.w[b] < 3 ? 1 : 0;
        };
        const tick = () => {
            frames++;
            if (going)
                requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
        const { boxes } = chart, i = boxes.rows[depth].reduce((a, b) => boxes.w[b] > boxes.w[a] ? b : a);
        canvas.dispatchEvent(new PointerEvent("click", { bubbles: true, button: 0,
            clientX: box.left + Math.max(0, boxes.x[i]) + 4, clientY: box.top + 20 * depth + 8 }));
        do
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        while (chart.moving || chart.drawing);
        going = false;
        delete chart.draw;
        count(observer.takeRecords());
        observer.disconnect();
        return { seen, paints, frames, narrow };
    }, row);
    return { ...made, layouts: await layouts() - before };
}

await main(async () => {
    const page = await open(path, quiet);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable");
    const rows = (await table(page)).join("\n"), facts = await text(page, "#facts");
    const first = await clicked(page, 2, cdp);
    ok(/^all main a\d/.test(await crumbs(page)), "a click zooms to a frame");
    ok(first.seen["#crumbs"] > 0, "a click updates the path");
    is(first.seen["#table"], 0, "a click does not change the table");
    is((await table(page)).join("\n"), rows, "the table is right after a click");
    is([first.seen["#legend"], first.seen["#filters"]].join(), "0,0",
        "a click does not change the legend and the filters");
    is(first.paints, 1, "a click without an animation paints the page once");
    ok(first.layouts <= 4,
        "a click lays the page out for the path, and not for each of its parts", first.layouts);
    const again = await clicked(page, 2, cdp);
    is(again.seen["#crumbs"] + again.seen["#table"], 0,
        "a second click on a frame changes nothing");
    is(await text(page, "#facts"), facts, "a click does not change the facts of the whole");
    await untroubled(page, "still");

    const moving = await open(path, { ...quiet, reducedMotion: "no-preference" });
    const session = await moving.context().newCDPSession(moving);
    await session.send("Performance.enable");
    const { paints, frames, narrow } = await clicked(moving, 2, session);
    ok(paints > 0 && paints <= frames, "a moving graph is painted once a frame", `${paints} paints in ${frames} frames`);
    is(narrow.moving, 0, "a moving graph merges frames under three pixels with their neighbours");
    ok(narrow.still > 0, "a still graph merges only the frames of one pixel", narrow.still);
    is(await moving.evaluate(() => {
        const { chart } = document.querySelector(".chart-canvas");
        document.querySelector("tr[data-at] .symbol").click();
        return chart.moving;
    }), false, "a graph whose frames keep their places is not moved");
    await untroubled(moving, "moving");

    // The look of the table's rows follows.
    const look = await open(path, quiet);
    const chips = () => look.locator("tr[data-at] .chip").evaluateAll((list) => list.map((e) => e.style.background).join());
    const before = await chips();
    await look.locator("#theme").click();
    ok(await chips() !== before, "a dark page has dark chips");
    await look.locator("tr[data-at] .symbol").first().click();
    is(await look.locator("tr[aria-selected=true]").count(), 1, "a selected row is marked");
    await look.locator("#picks").click();
    is(await look.locator("tr[aria-selected=true]").count(), 0,
        "a row that is no longer selected is not marked");
    const own = (await table(look)).join("\n");
    await look.locator("th.col-total button").click();
    ok((await table(look)).join("\n") !== own, "another order gives another table");
    await look.locator("#query").fill("^d1[0-9]$");
    await look.locator("#regex").click();
    is((await table(look)).length, 10, "a search leaves the rows that match");
    await untroubled(look, "table");
});
