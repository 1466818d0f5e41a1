#!/usr/bin/env node
// The explorer page of a recording with how long sleeps took: percentiles in the table and in the
// tooltip, of all sleeps of a symbol, its histogram, sorting, and frames that are only called like it.
import { explore, hover, table, text, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";

// f sleeps 98 times for 1 ms and once each for 10.1 and 20.5 ms; g once for 2 s.
const FOLDED = "# flame: view=off unit=us\nm;f;poll 128600\nm;g;poll 2000000\nm;[short sleeps] 40\nm;[longest 9s] 5\n" +
    "# flame: view=latency unit=sleeps\nm;f;poll;[983.04us to 1.048575ms] 98\n" +
    "m;f;poll;[9.437184ms to 10.48575ms] 7\n" + // no bounds of a class: a frame like any other
    "m;f;poll;[9.437184ms to 10.485759ms] 1\nm;f;poll;[longest 20.5ms] 1\nm;g;poll;[longest 2s] 1\n" +
    "m;[short sleeps] 12\n";

const exactly = (name) => new RegExp("^" + name.replace(/[[\]]/g, "\\$&") + "$");
const cells = (page, name) => page.locator("tr[data-at]", { has: page.locator(".symbol", { hasText: exactly(name) }) })
    .locator(".col-class").allTextContents().then((all) => all.join());
const heads = (page) => page.locator(".top th").allTextContents().then((all) => all.join());

async function columns() {
    const page = await explore(FOLDED, { hash: "#view=table" });
    is(await heads(page), "Symbol,Self,Total,p50,p95,p99,Max",
        "percentiles: the table has their columns");
    // 1,015,807 ns is the middle of the class of 1 ms; the 99th of 100 is the sleep of some 10 ms.
    is(await cells(page, "f"), "1.02 ms,1.02 ms,9.96 ms,20.5 ms",
        "percentiles: a symbol has its own");
    is(await cells(page, "g"), "2 s,2 s,2 s,2 s",
        "percentiles: a symbol that slept once has the exact duration");
    is(await cells(page, "poll"), "1.02 ms,1.02 ms,19.9 ms,2 s",
        "percentiles: two histograms are added up, " +
        "so the 100th of 101 is of the class of f's longest");
    is(await cells(page, "[longest 9s]"), ",,,",
        "percentiles: a frame that is only named like a class has none");
    await page.locator(".top th", { hasText: "p50" }).click();
    is((await table(page)).map((r) => r.split(" ")[0])[0], "g", "percentiles: rows sort by them");
    await page.locator(".top th", { hasText: "Max" }).click();
    is((await table(page)).map((r) => r.split(" ")[0]).slice(0, 4).join(), "m,poll,g,f",
        "percentiles: rows sort by value, the larger total first");
    await page.waitForFunction(() => location.hash.includes("sort=max"));
    await untroubled(page, "columns");
    const deep = await explore("# flame: view=off unit=us\nm;h;h 3\nm;k 9\n# flame: view=latency unit=sleeps\n" +
        "m;h;h;[983.04us to 1.048575ms] 1\nm;h;[9.437184ms to 10.485759ms] 1\nm;h;[longest 2s] 1\n" +
        "m;k;[983.04us to 1.048575ms] 3\nm;k;[longest 1ms] 1\n", { hash: "#view=table" });
    is(await cells(deep, "h"), "9.96 ms,2 s,2 s,2 s",
        "percentiles: a stack that holds a symbol twice counts once");
    is(await cells(deep, "k"), "1 ms,1 ms,1 ms,1 ms",
        "percentiles: none is longer than the longest sleep");
    await untroubled(deep, "deep");
    const narrow = await explore(FOLDED, { width: 1200 });
    ok(await narrow.locator("th.col-p95").isHidden() && await narrow.locator("th.col-p99").isVisible(),
        "percentiles: a narrow table leaves one column out");
    await untroubled(narrow, "narrow");
}

async function tooltips() {
    const page = await explore(FOLDED);
    await hover(page, "f");
    const tip = await text(page, "#tooltip");
    ok(tip.includes("1.02 ms / 1.02 ms / 9.96 ms") && tip.includes("20.50 ms"),
        "percentiles: the tooltip has those of the frame", tip);
    ok(/Sleeps\s*100, and 7 of which no duration is known/.test(tip),
        "percentiles: the tooltip has the counts of known and unknown sleeps", tip);
    const bars = await page.locator(".hist .hist-bar").evaluateAll((all) => all.map((b) =>
        (b.classList.contains("median") ? "*" : "") + Math.round(parseFloat(b.style.height))));
    // From 983 us up to 20.5 ms are 35 classes, of which three have sleeps.
    is(bars.length, 35, "histogram of sleeps: each class between has a bar");
    is(bars.filter((b) => b !== "0").join(" "), "*100 *4 4",
        "histogram of sleeps: bars of percentiles are marked", bars.join());
    ok(!tip.includes("Sleeps by how long"),
        "histogram of sleeps: the tooltip does not repeat the column");
    await hover(page, "m");
    ok((await text(page, "#tooltip")).includes("and 19 of which"),
        "histogram of sleeps: a caller has the sleeps of all it called");
    await page.keyboard.press("r");
    await hover(page, "g");
    ok(/Longest\s*2\.00 s/.test(await text(page, "#tooltip")),
        "histogram of sleeps: a frame of the graph of callers has its sleeps");
    await untroubled(page, "tooltips");
}

async function filtered() {
    const page = await explore(FOLDED, { hash: "#layout=callers&filter=" +
        encodeURIComponent(JSON.stringify(["drop", "", "", ";g"])) });
    await hover(page, "poll");
    const tip = await text(page, "#tooltip");
    ok(/Sleeps\s*100,/.test(tip) && tip.includes("20.50 ms"),
        "percentiles: sleeps left out by a filter are not counted", tip);
    await untroubled(page, "filtered");
}

async function none() {
    const plain = await explore("m;[longest 2s] 3\n", { hash: "#sort=p99" });
    is(await heads(plain), "Symbol,Self,Total",
        "percentiles: a profile without sleeps has no columns");
    await hover(plain, "[longest 2s]");
    is(await plain.locator(".hist").count(), 0,
        "percentiles: a profile without sleeps has no bars");
    await untroubled(plain, "plain");
    const hostile = await explore("# flame: view=off unit=us\n<b>m;[x] 3\n# flame: view=latency unit=sleeps\n" +
        `<b>m;[longest ${"9".repeat(400)}s] 1\n<b>m;[longest 99s] 1\n<b>m;[longest 0ns] 1\n`);
    await hover(hostile, "<b>m");
    ok((await text(hostile, "#tooltip")).includes("<b>m"),
        "percentiles: hostile names are text, whatever their durations");
    await untroubled(hostile, "hostile");
}

await main(async () => {
    await columns();
    await tooltips();
    await filtered();
    await none();
});
