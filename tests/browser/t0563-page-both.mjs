#!/usr/bin/env node
// The page of flame run: views of memory and of waiting, which have different units, of one run.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { explore, frame, quiet, row, tab, table, tabs, text, untroubled } from "./explorer.mjs";
import { file, is, main, ok, open } from "./page.mjs";

const FOLDED = `# flame: view=alloc unit=bytes
app;main;parse;alloc 3145728
app;main;emit 1048576
# flame: view=count unit=calls
app;main;parse;alloc 30
app;main;emit 2
# flame: view=off unit=us
app;main;parse;lock;futex g_lock 1500000
app;worker;read pipe:[*] 500000
# flame: view=chain unit=us
app;main;parse;lock;futex g_lock;--;futex g_lock;worker;app 1500000
app;worker;read pipe:[*] 500000
`;

async function views() {
    const page = await explore(FOLDED, {}, "--view", "alloc");
    is(await tabs(page), "alloc count off chain",
        "flame run: a button for each view");
    is((await page.locator("#columns button").evaluateAll((all) => all.map((b) => b.title)))
        .join(", "), "Memory allocated: 4.00 MiB (view alloc), " +
        "Allocation calls: 32 calls (view count), Off-CPU time: 2.00 s (view off), " +
        "Off-CPU wake chains: 2.00 s (view chain)", "flame run: each view has its unit");
    is(await row(page, 3), "emit:1048576 parse:3145728", "flame run: memory is shown first");
    await tab(page, "off").click();
    is(await text(page, "#title"), "Off-CPU time", "flame run: off-CPU time has its own title");
    is(await row(page, 2), "main:1500000 worker:500000",
        "flame run: off-CPU time has its own stacks");
    is((await table(page))[0], "futex g_lock 1.50 s 1.50 s",
        "flame run: off-CPU time has its own unit");
    ok(!await frame(page, "emit"), "flame run: off-CPU time has no stack that only allocates");
    await tab(page, "alloc").click();
    ok(!await frame(page, "worker"), "flame run: memory has no stack that only waits");
    await untroubled(page, "views");
}

async function recorded() {
    const out = file("both.html", "");

    execFileSync(resolve(process.env.FLAME || "build/flame"),
        ["run", "-q", "-o", out, "--", "sh", "-c", "/bin/sleep 0.3; exit 0"]);
    const page = await open(out, quiet);
    ok(/^alloc count live peak temp .*\boff wakeup offwake chain\b/
        .test(await tabs(page)),
        "flame run: the page has all views");
    is(await text(page, "#title"), "Memory allocated", "flame run: the first view is shown");
    await tab(page, "off").click();
    ok((await table(page)).some((line) => /^nanosleep ([1-9]\d\d\.\d ms|\d+\.\d+ s)/.test(line)),
        "flame run: off-CPU time has the sleep of a child process");
    await untroubled(page, "recorded");
}

await main(async () => {
    for (const test of [views, recorded])
        await test();
});
