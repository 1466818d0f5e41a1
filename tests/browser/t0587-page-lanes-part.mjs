#!/usr/bin/env node
// A part of the time chosen on the lanes: how long its sleeps took, in the table, the tooltip and the view
// latency; lanes in a frame of another page; and a comparison, which says why it has none.
import { explore, hover, row, shownTab, tab, text, untroubled } from "./explorer.mjs";
import { lanes, MS, PART, SHARE, SLEEP, SUM } from "./lanetext.mjs";
import { is, main, ok } from "./page.mjs";

const OFF = "# flame: view=off unit=us\n", LATENCY = "# flame: view=latency unit=sleeps\n";

// f sleeps for 1 ms at 0, 10, 20 and 30 ms, and for 5 ms at 40; g for 2 ms in two parts of 1 ms at 12, and a
// thread that is cut by the end from 44 to 45 ms; h has ten sleeps between 20 and 30 ms of which the sum is
// known, 1.2 ms, and short ones that were looked at by nobody.
const SLEEPS = OFF + "m;f 9000\nm;g 3000\nm;h 1200\nm;[short sleeps] 300\n" +
    LATENCY + "m;f;[983.04us to 1.048575ms] 4\nm;f;[longest 5ms] 1\nm;g;[longest 2ms] 1\nm;g;[no duration known] 1\n" +
    "m;h;[106.496us to 114.687us] 9\nm;h;[longest 200us] 1\nm;[short sleeps] 8\n" +
    lanes([[1, 1, "m"], [1, 2, "n"]], [[0, 6, -1], [0, 6, -1], [0, 6, -1], [1, 6, -1], [0, 21, -1]],
        [["off", "m;f", [0]], ["off", "m;g", [1, 3]], ["off", "m;h", [2]], ["off", "m;[short sleeps]", [4]]],
        [[[SLEEP, 0, 0, 1, 0.25], [SLEEP, 0, 10, 11, 0], [PART, 1, 12, 13, 0], [SLEEP, 1, 13, 14, 0],
            [SHARE, 4, 16, 32, 0, [0.3, 8, 0.01]], [SLEEP, 0, 20, 21, 0], [SUM, 2, 20, 30, 0, [1.2, 10, 0.2]],
            [SLEEP, 0, 30, 31, 0], [SLEEP, 0, 40, 45, 0]], [[SLEEP, 3, 44, 45, 0]]]);

const select = (page, from, to) => page.evaluate((range) =>
    document.querySelector(".lanes-plot").chart.listener.range(range), from === null ? null : [from * MS, to * MS]);
// "node's path:count", of all boxes of the view latency.
const boxes = (page) => page.evaluate(() => {
    const { profile } = document.querySelector(".chart-canvas").chart, { shape, names } = profile;
    const { own } = profile.columns.find((c) => c.name === "latency"), found = [];
    const path = (i) => i > 1 ? path(shape.parent[i]) + ";" + names[shape.name[i]] : "";
    own.forEach((v, i) => v > 0 && found.push(`${path(i)}:${v}`));
    return found.join(" ").replaceAll(/(;[fgh]|;\[short sleeps\]);?/g, "$1 ").trim();
});
const cells = (page, name) => page.locator("tr[data-at]").filter({ has: page.getByText(name, { exact: true }) })
    .locator(".col-class").allTextContents().then((all) => all.join());

async function part() {
    const page = await explore(SLEEPS, { hash: "#view=both", width: 2200 });
    const all = await boxes(page);
    await select(page, 0, 45);
    is(await boxes(page), all.replace(/;h \[.*?\]:9 ;h \[longest 200us\]:1/, ";h :10"),
        "latency: all of the time has the sleeps of the whole run, and counts of sums");
    await select(page, 9, 21);
    is(await boxes(page),
        ";[short sleeps] :3 ;f [983.04us to 1.048575ms]:2 ;g [longest 2ms]:1 ;h :1",
        "latency: a part has the sleeps that ended in it, and its share of sums and unseen time");
    is(await cells(page, "f"), "1 ms,1 ms,1 ms,1 ms",
        "latency: the table has the percentiles of the part");
    is(await cells(page, "g"), "2 ms,2 ms,2 ms,2 ms",
        "latency: percentiles of a sleep in parts are of all of it");
    await hover(page, "m");
    const tip = await text(page, "#tooltip");
    ok(/Sleeps\s*4, and 3 of which no duration is known/.test(tip),
        "latency: the tooltip has sleeps without a duration", tip);
    ok(/Short ones\s*only their sum is known/.test(tip),
        "latency: the tooltip explains how sums count", tip);
    await select(page, 39, 45);
    is(await boxes(page), ";f [longest 5ms]:1 ;g [no duration known]:1",
        "latency: a sleep cut by the end has no duration");
    await hover(page, "f");
    ok(/Sleeps\s*1\s*p50/.test(await text(page, "#tooltip")) && !(await text(page, "#tooltip")).includes("Short ones"),
        "latency: the tooltip has no words on sums where there are none",
        await text(page, "#tooltip"));
    await tab(page, "latency").click();
    is(await row(page, 2), "f:1 g:1", "latency: the view is of the part");
    ok((await text(page, "#bar")).includes("0.039 s to 0.045 s"),
        "latency: the page shows the part", await text(page, "#bar"));
    await select(page, 39, 44);
    is(await shownTab(page), "latency",
        "latency: the view stays for another part");
    is(await boxes(page), "", "latency: a part in which nothing ended is empty");
    await select(page, null);
    is(await boxes(page), all, "latency: the whole run is as before");
    is(await cells(page, "f"), "1.02 ms,5 ms,5 ms,5 ms",
        "latency: the table of the whole run is as before");
    await untroubled(page, "part");
}

// Lines of one function are merged; each has its own boxes in the file.
async function lines() {
    const page = await explore(OFF + "m;f a.c:1 1000\nm;f a.c:2 1000\n" + LATENCY +
        "m;f a.c:1;[longest 1ms] 1\nm;f a.c:2;[longest 1ms] 1\n" +
        lanes([[1, 1, "m"]], [[0, 6, -1], [0, 6, -1]], [["off", "m;f a.c:1", [0]], ["off", "m;f a.c:2", [1]]],
            [[[SLEEP, 0, 0, 1, 0], [SLEEP, 1, 2, 3, 0]]]), { hash: "#view=both", width: 2200 });
    is(await boxes(page), ";f [longest 1ms]:2", "latency: lines of one function are merged");
    await select(page, 1.5, 3);
    is(await boxes(page), ";f [longest 1ms]:1",
        "latency: lines of one function are merged in a part");
    is(await cells(page, "f"), "1 ms,1 ms,1 ms,1 ms", "latency: lines of a part have percentiles");
    await untroubled(page, "lines");
}

async function embedded() {
    const page = await explore(SLEEPS, { hash: `#embed&laneRange=${9 * MS}~${21 * MS}`, width: 640, height: 400 });
    ok(await page.locator(".lanes-plot").isVisible(), "embedded: a page has lanes");
    is(await boxes(page),
        ";[short sleeps] :3 ;f [983.04us to 1.048575ms]:2 ;g [longest 2ms]:1 ;h :1",
        "embedded: the lanes have the part of the address");
    const [head, plot, graph] = await Promise.all([".lanes-head", ".lanes-plot", ".chart-canvas"].map((s) => page.locator(s).boundingBox()));
    ok(head.height <= 34, "embedded: the head of the lanes is one line", head.height);
    ok(plot.height <= 130 && graph.height >= 80, "embedded: the graph has room",
        `${plot.height}, ${graph.height}`);
    ok((await page.locator("#open-full").getAttribute("href")).includes("laneRange="),
        "embedded: the full page has the part of the address");
    await page.locator(".lanes-head .icon").first().focus();
    await page.keyboard.press("Enter");
    ok(await page.locator(".lanes-plot").isHidden(), "embedded: lanes can be folded");
    is(await page.locator(".lanes-head .icon").first().getAttribute("aria-expanded"), "false",
        "embedded: the button of folded lanes is not expanded");
    await page.waitForFunction(() => location.hash.includes("lanes=0"));
    await page.reload();
    ok(await page.locator(".lanes-plot").isHidden(), "embedded: a link has folded lanes");
    await page.locator(".lanes-head .icon").first().click();
    ok(await page.locator(".lanes-plot").isVisible(), "embedded: folded lanes can be unfolded");
    await untroubled(page, "embedded");
}

async function compared() {
    const page = await explore(OFF + "m;f 10 20\nm;g 5 1\n", { height: 700 });
    ok((await text(page, "#lanes")).includes("No lanes"),
        "comparison: a page of waits shows why it has no lanes", await text(page, "#lanes"));
    await untroubled(page, "compared");
    const memory = await explore("# flame: view=live unit=bytes\nm;f 10 20\nm;g 5 1\n");
    ok(await memory.locator("#lanes").isHidden(), "comparison: a page of memory shows no lanes");
    await untroubled(memory, "memory");
}

await main(async () => {
    await part();
    await lines();
    await embedded();
    await compared();
});
