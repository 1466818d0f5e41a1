#!/usr/bin/env node
// The explorer page: columns, fractions, comparisons, many and hostile names, widths, themes.
import { readFileSync } from "node:fs";
import { click, color, crumbs, explore, frame, frames, hover, point, quiet, row, tab, table,
    tabs, text, untroubled } from "./explorer.mjs";
import { is, main, near, ok, open, renderTo } from "./page.mjs";


async function columns() {
    const page = await explore("# flame: view=alloc unit=bytes\nm;f 3000\nm;g 1000\n" +
        "# flame: view=count unit=calls\nm;f 3\nm;h 5\n# flame: view=live unit=bytes\n");
    is((await text(page, "#columns")).replace(/\s+/g, " "),
        "What was allocated How many allocations What was not freed",
        "columns: each has a button with its words");
    is(await tabs(page), "alloc count live", "columns: each button has the name of its view");
    is(await tab(page, "alloc").getAttribute("title"), "Memory allocated: 3.91 KiB (view alloc)",
        "columns: the title of a button has the view and its total");
    ok(await tab(page, "live").isDisabled(),
        "columns: the button of an empty one is disabled");
    is(await row(page, 2), "f:3000 g:1000", "columns: the page begins with the first");
    await hover(page, "f");
    ok((await text(page, "#tooltip")).replace(/\s+/g, " ").includes(
        "Allocation calls 3 calls, 37.50%"),
        "columns: the tooltip has the counts of the others, too");
    await click(page, "f");
    await tab(page, "count").click();
    is(await text(page, "#title"), "Allocation calls", "columns: a button shows the second");
    is(await crumbs(page), "all m f", "columns: another column keeps the zoom");
    await page.keyboard.press("Escape");
    is(await row(page, 2), "f:3 h:5", "columns: each has its own frames");
    is((await table(page)).join(", "), "h 5 5, f 3 3, m 0 8", "columns: each has its own rows");
    ok(page.url().includes("column=count"), "columns: the address has the name of the shown one");
    await untroubled(page, "columns");
    const folded = "# flame: view=alloc unit=bytes\nm;f 30\n# flame: view=count unit=calls\nm;h 5\n" +
        "# flame: view=live unit=bytes\n";
    for (const [view, title] of [["count", "Allocation calls"], ["alloc", "Memory allocated"],
        ["live", "Memory allocated"], ["peak", "Memory allocated"]]) {
        const first = await explore(folded, {}, "--view", view);
        is(await text(first, "#title"), title,
            `a page with --view ${view} begins with that view, if it has counts`);
        await untroubled(first, `--view ${view}`);
    }
}

async function fractions() {
    const page = await explore("a;b 1.5\na;c 2.25\na;d 0.000001\nbig 9007199254740992\n");
    is(await text(page, "#details"), "", "fractions: the details line is empty at first");
    const shown = await page.evaluate(() =>
        [...document.querySelector(".chart-canvas").chart.graph.own].join());
    is(shown, "0,0,1.5,2.25,0.000001,9007199254740992",
        "fractions: fractions and large counts are exact");
    await untroubled(page, "fractions");
}

async function reversed() {
    const page = await explore("a;b;c 3\na;c 1\n", {}, "--reverse");
    is(await row(page, 1), "c:4", "--reverse: the page begins with callers");
    await page.keyboard.press("r");
    is(await row(page, 1), "a:4", "--reverse: R leads to callees");
    await untroubled(page, "reversed");
}

async function comparison() {
    const page = await explore("a;b;c 10 30\na;b;d 40 20\na;e 10 10\na;gone 25 0\na;b;new 0 15\n");
    is(await row(page, 2), "b:65 e:10", "comparison: frames are drawn by their new counts");
    is((await table(page)).sort().join(", "), "a 0 75 0 \u221210, b 0 65 0 +15, " +
        "c 30 30 +20 +20, d 20 20 \u221220 \u221220, e 10 10 0 0, gone 0 0 \u221225 \u221225, new 15 15 +15 +15",
        "comparison: the table has the changes");
    const [red, , blue] = (await color(page, "c")).split(",").map(Number);
    ok(red > blue + 60, "comparison: a frame that grew is reddish");
    const less = (await color(page, "d")).split(",").map(Number);
    ok(less[2] > less[0] + 60, "comparison: a frame that shrank is bluish");
    await tab(page, "either").click();
    is(await row(page, 2), "b:85 e:10 gone:25",
        "comparison: the column \"either\" has the frames that are gone");
    await page.locator("#layouts button", { hasText: "Side by side" }).click();
    is(await row(page, 2, 0), "b:50 e:10 gone:25", "side by side: the left half is before");
    is(await row(page, 2, 1), "b:65 e:10", "side by side: the right half is after");
    await hover(page, "d", { chart: 0 });
    const [left, right] = [await frame(page, "d"), await frame(page, "d", { chart: 1 })];
    const marks = await page.locator(".mark-hover").evaluateAll((all) =>
        all.map((e) => Math.round(e.getBoundingClientRect().left)));
    near(marks[0], left.x, 2, "side by side: the frame under the pointer is marked");
    near(marks[1], right.x, 2, "side by side: the same frame of the other half is marked");
    ok((await text(page, "#tooltip")).includes("\u221220"),
        "side by side: the tooltip has the change");
    await click(page, "b");
    near((await frame(page, "b", { chart: 1 })).w, (await frame(page, "all", { chart: 1 })).w, 1,
        "side by side: a zoom is in both halves");
    await untroubled(page, "comparison");
}

async function chain() {
    const page = await explore("# flame: view=chain unit=nanoseconds\n" +
        "app;read;--;signal_[w];pool_[w];--;irq_[w] 3000000\napp;read 1000000\n");
    await hover(page, "signal");
    ok((await text(page, "#tooltip")).replace(/\s+/g, " ").endsWith(
        "Waker woke the sleeper Link 1 pool: 3.00 ms, 75.00% Kind waker"),
        "chain: the tooltip of a waker has its link");
    await hover(page, "irq");
    ok((await text(page, "#tooltip")).includes("1 before the one that woke"),
        "chain: the tooltip of the second waker has its place");
    ok((await text(page, "#tooltip")).includes("3.00 ms"),
        "chain: the tooltip of the second waker has its time");
    const colors = [];
    for (const name of ["read", "signal", "irq"])
        colors.push(await color(page, name));
    is(new Set(colors).size, 3, "chain: each kind of link has its colour");
    await untroubled(page, "chain");
}

async function crowd() {
    const lines = Array.from({ length: 20000 }, (_, i) => `m;f${i};g${i % 50} 1\n`).join("");
    const page = await explore(lines + "m;wide 20000\n");
    const runs = (await frames(page)).filter((f) => f.run);
    const inRuns = runs.filter((f) => f.depth === 2).reduce((sum, f) => sum + f.run, 0);
    is(inRuns, 40000, "crowd: frames too thin to draw are drawn together, and none is lost");
    const [run] = runs.filter((f) => f.depth === 2);
    await page.mouse.move(run.x + 20, run.y + 5);
    ok((await text(page, "#tooltip")).includes("40,000 frames too thin to draw"),
        "crowd: the tooltip counts the frames drawn together");
    await page.mouse.click(run.x + 20, run.y + 5);
    near((await frames(page)).filter((f) => f.run && f.depth === 2)[0].w,
        (await frame(page, "m")).w, 2, "crowd: a click spreads out the frames drawn together");
    await page.keyboard.press("/");
    await page.keyboard.type("/^f19999$/");
    await page.keyboard.press("Enter");
    ok((await frame(page, "f19999")).w > 100,
        "crowd: Enter brings the match of a search into sight");
    ok(await page.locator("tr[data-at]").count() < 60,
        "crowd: the document has few rows of the table");
    await page.locator("#clear").click();
    await page.locator("tr[data-at]").first().focus();
    await page.keyboard.press("End");
    ok(await page.locator('tr[aria-rowindex="20053"]').isVisible(),
        "crowd: the last row can be reached");
    await untroubled(page, "crowd");
}

async function deep() {
    const page = await explore("f;".repeat(30000) + "leaf 3\n");
    is(await text(page, "#facts"), "1 stack \u00b7 30,001 frames \u00b7 30001 deep",
        "deep: the page shows the depth of a deep stack");
    await page.evaluate(() => {
        document.querySelector(".chart-scroll").scrollTop = 1e9;
    });
    const leaf = await frame(page, "leaf");
    ok(leaf.y > 100 && leaf.y < 800, "deep: the leaf can be scrolled to", leaf.y);
    await page.mouse.click(leaf.x + 10, leaf.y + 5);
    ok((await crumbs(page)).endsWith("f leaf"), "deep: the leaf can be zoomed to");
    await untroubled(page, "deep");
}

async function hostile() {
    const names = ["</script><script>document.title='owned'</script>", "<!--<script>",
        "</title><img src=x onerror=alert(1)>", "\" onmouseover=\"document.title='owned'",
        "'&amp & &#x41 &lt", "__proto__", "constructor", "\\u003c\\", "${alert(1)}",
        "\u202egnp.exe", "x".repeat(1 << 20), "\u2028line", "_[k]", "\u{1f525}\u{1f525}"];
    const folded = Buffer.concat([
        Buffer.from(names.map((n, i) => `main;${n} ${10 + i}\n`).join("")),
        Buffer.from([0x6d, 0x3b, 0xff, 0xc0, 0xaf, 0x00, 0x20, 0x39, 0x0a])]);
    const path = renderTo("html", folded, "--title", names[0], "--subtitle", names[2],
        "--countname", names[3]);
    const page = await open(path, quiet);
    is(await page.title(), names[0], "hostile: the title is text");
    is(await page.evaluate(() => document.querySelectorAll("script, img, iframe, link").length), 2,
        "hostile: no name adds an element");
    const shown = await page.locator(".symbol").allTextContents();
    for (const n of [names[0], names[1], names[4], "__proto__", "constructor", "\\u003c\\",
        "\ufffdgnp.exe", "m", "\ufffd".repeat(4)])
        ok(shown.includes(n), `${JSON.stringify(n.slice(0, 30))} is shown as text`);
    for (const f of (await frames(page)).filter((one) => one.w > 8))
        await page.mouse.move(f.x + 4, f.y + 9);
    await page.mouse.click(...await point(page, names[0]), { button: "right" });
    ok((await text(page, "#menu")).includes("document.title"),
        "hostile: the menu has the name as text");
    await page.keyboard.press("Escape");
    await click(page, names[2]);
    ok((await crumbs(page)).includes("onerror"), "hostile: the path has the name as text");
    is(await page.title(), names[0], "hostile: no name runs as a script");
    ok(readFileSync(path).length < 600000, "hostile: a name of a megabyte is cut");
    ok(!/https?:|url\(|@import|\ssrc=/.test(readFileSync(path, "utf8")
        .replace(/<script id="profile"[^]*?<\/script>/, "")),
        "hostile: the file refers to no other file");
    await untroubled(page, "hostile");
}

async function looks() {
    const folded = "app;main;parse;std::vector<int, std::allocator<int> >::push_back(int const&) 70\n" +
        "app;main;render_[k] 20\napp;idle 10\n";
    const path = renderTo("html", folded);
    for (const width of [1600, 820, 390])
        for (const colorScheme of ["light", "dark"]) {
            const page = await open(path, { ...quiet, width, colorScheme });
            const what = `${width} pixels, ${colorScheme}`;
            is(await page.locator("html").getAttribute("data-theme"), colorScheme,
                `${what}: the theme is that of the system`);
            ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth &&
                document.documentElement.scrollHeight <= innerHeight),
                `${what}: the page fits the window`);
            const outside = await page.evaluate(() => [...document.querySelectorAll(
                "#bar button, #bar input, #path button, #path select, #path summary")]
                .filter((e) => e.offsetParent && (e.getBoundingClientRect().right > innerWidth + 1 ||
                    e.getBoundingClientRect().left < 0)).map((e) => e.outerHTML));
            is(outside.join("\n"), "", `${what}: every control is inside the window`);
            ok((await frame(page, "app")).w > width * 0.5, `${what}: the graph has room`);
            await untroubled(page, what);
        }
    const page = await open(path, { ...quiet, colorScheme: "light" });
    const package1 = await color(page, "parse");
    for (const mode of ["name", "kind", "own", "total"]) {
        await page.locator("#color").selectOption(mode);
        ok(/^\d+,\d+,\d+$/.test(await color(page, "parse")), `frames have colours by ${mode}`);
    }
    await page.locator("#color").selectOption("kind");
    ok(await color(page, "render") !== await color(page, "idle"),
        "colours by kind: a kernel frame has its own colour");
    await page.locator("#color").selectOption("package");
    is(await color(page, "parse"), package1,
        "colours by package: they are the same when they are chosen again");
    await page.locator("#theme").click();
    is(await page.locator("html").getAttribute("data-theme"), "dark",
        "the theme button switches to the dark theme");
    await page.emulateMedia({ media: "print" });
    ok(!await page.locator("#search").isVisible(), "paper has no controls");
    await untroubled(page, "looks");
}

await main(async () => {
    for (const test of [columns, fractions, reversed, comparison, chain, crowd, deep, hostile, looks])
        await test();
});
