#!/usr/bin/env node
// The explorer page of a recording with histograms: bars of sizes and lifetimes in the tooltip,
// medians in the table, sorting by them, frames that are only called like a class.
import { explore, hover, table, text, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";

const FOLDED = "# flame: view=alloc unit=bytes\nm;f 1000\nm;g 3000\nm;[65 to 128 bytes] 7\n" +
    "# flame: view=sizes unit=bytes\nm;f;[9 to 16 bytes] 100\nm;f;[65 to 128 bytes] 900\n" +
    "m;g;[1025 to 2048 bytes] 1000\nm;g;[536870913 bytes and more] 2000\n" +
    "# flame: view=lifetimes unit=bytes\nm;f;[under 1us] 800\nm;f;[100us to 200us] 200\n" +
    "m;g;[1ms to 2ms] 500\nm;g;[10ms to 20ms] 1000\nm;g;[live: 2s to 5s] 1000\n" +
    "m;g;[live: 100000s and more] 500\nm;g;[no birth known] 9\n" +
    "# flame: view=short unit=bytes limit=1ms\nm;f 1000\n";

const bars = (page) => page.locator(".hist").evaluateAll((all) => all.map((hist) =>
    [...hist.querySelectorAll(".hist-bar")].map((bar) => (bar.classList.contains("median") ? "*" : "") +
        Math.round(parseFloat(bar.style.height)) + (bar.firstChild ? "!" : "")).join(" ")));
const values = (page) => page.locator(".hist .tip-value").allTextContents().then((all) => all.join("; "));

async function tooltips() {
    const page = await explore(FOLDED);
    await hover(page, "f");
    is((await bars(page)).join(" / "), "11 0 0 *100 / *100 0 0 0 0 0 0 25",
        "histogram: each class has a bar, and empty classes between have empty bars");
    is(await values(page), "half up to 128 B; half up to 1 \u00b5s",
        "histogram: medians are shown");
    is((await page.locator(".hist-axis").allTextContents()).join(" / "),
        "up to 16 B90.00% in the highest128 B / up to 1 \u00b5s80.00% in the highest200 \u00b5s",
            "histogram: the ends of the classes are shown");
    ok(!(await text(page, "#tooltip")).includes("allocated by size"),
        "histogram: the tooltip does not repeat the columns");
    await hover(page, "g");
    is(await values(page), "half over 512 MiB; half up to 20 ms",
        "histogram: another frame has other medians");
    const lived = (await bars(page))[1].split(" ");
    is(`${lived[0]} ${lived[1]} ${lived[3]}`, "50 0 *100", "histogram: lifetimes have bars");
    is(lived.filter((b) => b.endsWith("!")).join(" "), "100! 50!",
        "histogram: bars of blocks that live at the end are marked");
    await hover(page, "m");
    is((await values(page)).split(";")[0], "half up to 2 KiB",
        "histogram: a caller has the blocks of all it called");
    await page.keyboard.press("r");
    await hover(page, "g");
    is(await values(page), "half over 512 MiB; half up to 20 ms",
        "histogram: a frame of the graph of callers has its blocks");
    await untroubled(page, "tooltips");
}

async function columns() {
    const page = await explore(FOLDED, { hash: "#view=table" });
    const heads = () => page.locator(".top th").allTextContents();
    is((await heads()).join(), "Symbol,Self,Total,Size,Lived,Young",
        "histogram columns: the table has medians and the share that died young");
    const cells = (name) => page.locator("tr[data-at]", { hasText: name }).locator(".col-class")
        .allTextContents().then((all) => all.join());
    is(await cells("f"), "128 B,1 \u00b5s,100%", "histogram columns: a symbol has its values");
    is(await cells("g"), "over 512 MiB,20 ms,0%",
        "histogram columns: another symbol has its values");
    is(await cells("[65 to 128 bytes]"), ",,",
        "histogram columns: a frame that is only named like a class has none");
    await page.locator(".top th", { hasText: "Young" }).click();
    ok((await table(page))[0].startsWith("f "),
        "histogram columns: rows sort by them", (await table(page)).join());
    await page.locator(".top th", { hasText: "Lived" }).click();
    is((await table(page)).map((r) => r.split(" ")[0]).join(), "m,g,f,[65",
        "histogram columns: rows sort by meaning, the larger total first");
    await page.waitForFunction(() => location.hash.includes("sort=lived"));
    await untroubled(page, "columns");
    const narrow = await explore(FOLDED, { width: 1200 });
    ok(await narrow.locator("th.col-size").isHidden() && await narrow.locator("th.col-young").isVisible(),
        "histogram columns: a narrow table leaves one out");
    await untroubled(narrow, "narrow");
    const plain = await explore("m;[65 to 128 bytes] 3\n", { hash: "#sort=young" });
    is((await plain.locator(".top th").allTextContents()).join(), "Symbol,Self,Total",
        "histogram columns: a profile without histograms has none");
    await hover(plain, "[65 to 128 bytes]");
    is(await plain.locator(".hist").count(), 0,
        "histogram: a profile without histograms has no bars");
    await untroubled(plain, "plain");
}

await main(async () => {
    await tooltips();
    await columns();
});
