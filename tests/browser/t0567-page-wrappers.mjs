#!/usr/bin/env node
// t0567: what wrappers of malloc took is counted for their callers in the table: of memory, by
// the built-in list, --wrapper, and what the reader says.
import { is, main, near, ok } from "./page.mjs";
import { choose, color, explore, hover, table, text, untroubled } from "./explorer.mjs";

const STACKS = "main;parse;xmalloc 10\nmain;parse;pool_get;operator new(unsigned long);malloc 5\n" +
    "main;emit;pool_get 3\nmain;emit 2\n";
const BYTES = "# flame: view=alloc unit=bytes\n" + STACKS;

const own = async (page) => (await table(page)).map((r) => /^(.*?) ([\d.]+)(?: B)? /.exec(r))
    .filter((m) => m[2] !== "0").map((m) => `${m[1]}:${m[2]}`).join(" ");

await main(async () => {
    const page = await explore(BYTES);
    is(await own(page), "parse:10 pool_get:8 emit:2",
        "wrappers: the bytes of malloc's wrappers are counted for their callers");
    await choose(page, "pool_get", "as its callers'");
    is(await own(page), "parse:15 emit:5",
        "wrappers: a function of the reader's choice is counted for its callers");
    const link = await page.evaluate(() => location.hash);
    const other = await explore(BYTES, { hash: link });
    is(await own(other), "parse:15 emit:5", "wrappers: a link keeps the reader's choice");
    await choose(other, "pool_get", "as its own");
    await choose(other, "xmalloc", "as its own");
    is(await own(other), "xmalloc:10 pool_get:8 emit:2",
        "wrappers: the reader can make one an ordinary function");
    await other.locator("#display summary").click();
    await other.locator("[name=wrappers]").click();
    is(await own(other), "xmalloc:10 malloc:5 pool_get:3 emit:2",
        "wrappers: without any, bytes are counted where stacks end");
    await untroubled(other, "link");
    await untroubled(page, "wrappers");

    const named = await explore(BYTES, {}, "--wrapper", "pool_*");
    is(await own(named), "parse:15 emit:5", "--wrapper adds wrappers by name");
    await untroubled(named, "named");
    const none = await explore(BYTES, {}, "--no-wrappers");
    is(await own(none), "xmalloc:10 malloc:5 pool_get:3 emit:2",
        "--no-wrappers makes no function a wrapper");
    await untroubled(none, "none");

    const samples = await explore(STACKS);
    is(await own(samples), "xmalloc:10 malloc:5 pool_get:3 emit:2",
        "wrappers: time in malloc is counted for malloc");
    await untroubled(samples, "samples");
    const some = await explore(STACKS, {}, "--wrapper", "pool_get");
    is(await own(some), "xmalloc:10 emit:5 malloc:5",
        "wrappers: a function named by --wrapper is one in samples, too");
    await untroubled(some, "some");
    const lines = await explore("# flame: view=alloc unit=bytes\n" +
        "main;parse p.c:3;xmalloc x.c:12 4\nmain;parse p.c:4;xmalloc x.c:13_[i] 5\n");
    is(await own(lines), "parse:9", "wrappers: names with lines and marks are wrappers");
    await untroubled(lines, "lines");
    const moments = await explore("# flame: view=live unit=bytes time=1\nmain;a;xmalloc 4\n" +
        "# flame: view=live unit=bytes time=2\nmain;a;xmalloc 6\n");
    is((await own(moments)).split(":")[0], "a",
        "wrappers: profiles of several moments have wrappers");
    await untroubled(moments, "moments");

    const stripped = await explore("[cc1+0x1a2b] 1\n[cc1+0x3c4d] 40\n[libz.so.1+0x1a2b] 40\n",
        { hash: "#color=package" });
    const hue = async (name) => {
        const [r, g, b] = (await color(stripped, name)).split(",").map(Number);
        return Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b);
    };
    near(await hue("[cc1+0x1a2b]"), await hue("[cc1+0x3c4d]"), 0.05,
        "colour: functions without a name have the colour of their module");
    ok(Math.abs(await hue("[cc1+0x1a2b]") - await hue("[libz.so.1+0x1a2b]")) > 0.1,
        "colour: functions without a name of two modules have two colours");
    await hover(stripped, "[cc1+0x1a2b]");
    ok(/\b1 sample\b/.test(await stripped.evaluate(() => document.body.innerHTML +
        [...document.querySelectorAll("td")].map((e) => e.title).join())),
        "a count of one is shown as 1 sample");
    ok(await stripped.locator("#tooltip").isVisible(), "a pointer on a frame shows the tooltip");
    await stripped.keyboard.press("Escape");
    ok(!await stripped.locator("#tooltip").isVisible(), "Escape hides the tooltip");
    ok(/cc1/.test(await text(stripped, "#table")), "Escape leaves the table as it was");
    await untroubled(stripped, "stripped");
});
