#!/usr/bin/env node
// A page that is compared with a second file keeps modules and wrappers of both and the reader's filters,
// says what a picture cannot hold, and leads back.
import { explore, row, table, text, untroubled } from "./explorer.mjs";
import { file, is, main, ok, render, renderTo } from "./page.mjs";

const HEAD = "# flame: view=live unit=bytes\n# flame: modules=prefix\n";
const BEFORE = HEAD + "app`main;app`parse;libx.so`xmalloc 4096\napp`main;<b>`<i>;libc.so`malloc 1024\n";
const AFTER = HEAD + "app`main;app`parse;libx.so`xmalloc 8192\napp`main;liby.so`new;libc.so`malloc 256\n";
const compared = (page) => page.waitForFunction(() => document.querySelectorAll(".pane h2").length === 3);
const profileOf = (page, what) => page.evaluate((code) =>
    Function("profile", "return " + code)(document.querySelector(".chart-canvas").chart.profile), what);

async function kept() {
    const page = await explore(BEFORE, {}, "--wrapper", "xmalloc");
    await page.locator("#compare-file").setInputFiles(renderTo("html", AFTER));
    await compared(page);
    is(await profileOf(page, "profile.names.map((s, i) => (profile.modules[i] || '') + ':' + s).sort().join(' ')"),
        ":[only before] :all <b>:<i> app:main app:parse libc.so:malloc libx.so:xmalloc liby.so:new",
            "dropped file: modules of both are known");
    is(await profileOf(page, "[...profile.wrappers].map((i) => profile.names[i]).sort().join()"), "malloc,xmalloc",
        "dropped file: malloc's wrappers are known");
    const rows = await table(page);
    ok(rows.some((r) => /^parse .*8,?192|^parse .*8\.00 KiB/.test(r)),
        "dropped file: bytes of wrappers are counted for their callers", rows.join("|"));
    await untroubled(page, "kept");
}

async function filtered() {
    const hash = "#filter=" + encodeURIComponent(JSON.stringify(["drop", "", "", ";parse"]));
    const page = await explore(BEFORE, { hash });
    is(await row(page, 1), "main:1024", "dropped file: the page is filtered before it is compared");
    await page.locator("#compare-file").setInputFiles(file("after.folded", AFTER));
    await compared(page);
    is(`${await row(page, 1, 0)} ${await row(page, 1, 1)}`, "main:1024 main:256",
        "dropped file: a filter is on both sides");
    ok(new URL(page.url()).hash.includes("filter="), "dropped file: the address has the filter");
    await untroubled(page, "filtered");
}

async function back() {
    const page = await explore(BEFORE, { hash: "#color=own" });
    await page.locator("#compare-file").setInputFiles(render(AFTER));
    await compared(page);
    ok((await text(page, "#subtitle")).includes("(a picture: what was too thin to draw counts for its callers)"),
        "dropped picture: the page shows what the picture lacks", await text(page, "#subtitle"));
    await page.keyboard.press("Control+Home");
    await page.locator("#views button").first().click();
    await page.waitForTimeout(400);
    await page.goBack();
    await compared(page);
    ok(await profileOf(page, "profile.dropped"),
        "dropped file: Back to an earlier state of the comparison stays there");
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll(".pane h2").length === 0 &&
        document.querySelector(".chart-canvas") && document.querySelector(".chart-canvas").chart.graph);
    is(await row(page, 1), "main:5120", "dropped file: Back once more leads to the page as it was");
    ok(new URL(page.url()).hash.includes("color=own"),
        "dropped file: Back once more leads to the address as it was", page.url());
    await untroubled(page, "back");
}

await main(async () => {
    await kept();
    await filtered();
    await back();
});
