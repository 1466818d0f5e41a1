#!/usr/bin/env node
// t0566: a search finds the same names in the page and in the SVG, whatever they are called
// and however it is written, and soon; and what it finds can be kept, left out, shown from
// there on or merged into its callers.
import { done, is, main, ok, open, render } from "./page.mjs";
import { click, choose, crumbs, explore, row, table, text, untroubled } from "./explorer.mjs";

const NAMES = ["operator new(unsigned long)", "[libcrypto.so.3+0x22fb0e]", "a+b", "std::map<int, x>",
    "/usr/lib/x/", "C:\\dir", "$t", "foo|bar", "foo", "bar", "Foo", "\u00e9t\u00e9", "x".repeat(3000)];
const STACKS = NAMES.map((name, i) => `main;${name} ${1 << i}\n`).join("");

const found = async (page, selector) => (await text(page, selector))
    .replace("Matched: ", "").replace(" \u00b7 ", ", ");

// Answers of the page and the SVG to a query that a link has.
async function both(query, how = {}) {
    const q = encodeURIComponent(query);
    const page = await explore(STACKS, { hash: `#q=${q}${how.page || ""}` });
    const says = await found(page, "#matched");
    await untroubled(page, query.slice(0, 40));
    const svg = await open(render(STACKS), { hash: `#s=${q}${how.svg || ""}` });
    is(await found({ locator: (s) => ({ innerText: () => svg.locator(s).textContent() }) },
        "#matched"), says, `${query.slice(0, 40)}: the SVG finds the same as the page: ${says}`);
    is(svg.trouble.join("\n"), "", "search: the SVG causes no script error and no request");
    await done(svg);
    return says;
}

async function sameCounts() {
    const all = (1 << NAMES.length) - 1;
    const share = (...which) =>
        (100 * which.reduce((sum, i) => sum + (1 << i), 0) / all).toFixed(2) + "%";
    for (let i = 0; i < 7; i++)
        is(await both(NAMES[i]), `${share(i)}, 1 name`, `${NAMES[i]} finds only itself`);
    is(await both("FOO"), `${share(7, 8, 10)}, 3 names`, "search ignores case");
    is(await both("/^foo$/"), `${share(8, 10)}, 2 names`,
        "search: text between slashes is an expression");
    is(await both("foo|bar"), `${share(7)}, 1 name`,
        "search: text without slashes is no expression");
    is(await both("^(foo|bar)$", { page: "&regex=1", svg: "&r=1" }), `${share(8, 9, 10)}, 3 names`,
        "search: the button makes text an expression");
    is(await both("^Foo$", { page: "&regex=1&matchCase=1", svg: "&r=1&c=1" }),
        `${share(10)}, 1 name`, "search: an expression can match case");
    is(await both("operator new(unsigned long)", { page: "&regex=1", svg: "&r=1" }),
        `as text: ${share(0)}, 1 name`,
            "search: an expression that finds nothing is searched as text");
    is(await both("a+b", { page: "&regex=1", svg: "&r=1" }), `as text: ${share(2)}, 1 name`,
        "search: a name that does not match as an expression is searched as text");
    is(await both("std::map<(", { page: "&regex=1", svg: "&r=1" }),
        "a ( without its ); as text: 0.00%, 0 names",
            "search: a wrong expression is searched as text");
    is(await both("/usr/lib/x/"), `${share(4)}, 1 name`, "search: a path between slashes is found");
    is(await both("/(?=foo)/"), "looking ahead or behind is not known here; as text: 0.00%, 0 names",
        "search: an unsupported expression is refused with its reason");
    is(await both("/\u00c9T\u00c9/"), `${share(11)}, 1 name`,
        "search ignores the case of letters of any language");
}

// Expressions that go back and forth for years in the browser's own engine.
async function soon() {
    const long = `main;${"x".repeat(50000)} 3\nmain;short 5\n`;
    for (const query of ["/(x+x+)+y/", "/(x*)*$y/", "/(x|x)*y/", "/(.*){50}y/"]) {
        const page = await explore(long, { hash: "#q=" + encodeURIComponent(query) });
        is(await text(page, "#matched"), "0.00% \u00b7 0 names", `the search for ${query} ends`);
        await untroubled(page, query);
        const svg = await open(render(long), { hash: "#s=" + encodeURIComponent(query) });
        is(await svg.locator("#matched").textContent(), "Matched: 0.00%, 0 names",
            "search: the SVG finds nothing");
        await done(svg);
    }
    const page = await explore(long, { hash: "#q=" + encodeURIComponent("/((x{90}){90}){90}/") });
    is(await text(page, "#matched"), "too long an expression; as text: 0.00% \u00b7 0 names",
        "search: an expression that is too large is refused with its reason");
    await page.locator("#query").fill("/((((x?){30}){30}x){1,2}){1,2}y/");
    ok(/^(too long an expression; as text: |takes too long; as text: |)0.00%/.test(
        await text(page, "#matched")),
            "search: an expression that takes too long ends", await text(page, "#matched"));
    await page.locator("#query").fill("/^x{1500}/");
    is(await text(page, "#matched"), "37.50% \u00b7 1 name",
        "search: a large expression that is right is found");
    await untroubled(page, "too long");
}

/*
 * 32 all: main 32 = parse 20 (alloc 12 (malloc 12), emit 8 (malloc 3, 5 own)), io 12 (alloc 4
 * (malloc 4), 8 own).
 */
const CALLS = "main;parse;alloc;malloc 12\nmain;parse;emit;malloc 3\nmain;parse;emit 5\n" +
    "main;io;alloc;malloc 4\nmain;io 8\n";

async function filter(page, item) {
    await page.locator("#filter").click();
    await page.locator("#menu button").filter({ hasText: item }).click();
}

async function filters() {
    const page = await explore(CALLS);
    ok(!await page.locator("#filter").isVisible(), "filter: its button is hidden without a search");
    await page.locator("#query").fill("alloc");
    await page.locator("#matchcase").click();
    is(await text(page, "#matched"), "59.38% \u00b7 2 names",
        "search: alloc finds alloc and malloc");
    await page.locator("#query").fill("/^alloc$/");
    await filter(page, "only stacks");
    is(await row(page, 0), "all:16", "filter: only stacks with a match are left");
    is(await row(page, 2), "io:4 parse:12", "filter: callers of a match are left");
    is((await table(page)).join(", "), "malloc 16 16, alloc 0 16, main 0 16, parse 0 12, io 0 4",
        "filter: the table has only symbols of the stacks that are left");
    is(await text(page, "#filters"), "Only with: /^alloc$/ \u2715", "filter: its tag is shown");
    ok(/16/.test(await text(page, "#subtitle")),
        "filter: the total is of the stacks that are left");
    is(await page.locator("#query").inputValue(), "", "filter: the search box is empty afterwards");
    const link = await page.evaluate(() => location.hash);
    const other = await explore(CALLS, { hash: link });
    is(await row(other, 2), "io:4 parse:12", "filter: a link keeps it");
    await untroubled(other, "link");

    await page.locator("#query").fill("parse");
    await filter(page, "Leave out");
    is(await row(page, 2), "io:4", "filter: a second one applies to what the first has left");
    await page.locator("#layouts button").filter({ hasText: "Callers" }).click();
    is(await row(page, 1), "malloc:4", "filter: callers are filtered, too");
    is(await row(page, 3), "io:4", "filter: a second one follows the first");
    await page.locator("#layouts button").filter({ hasText: "Callees" }).click();
    await page.locator("#filters button").first().click();
    is(await row(page, 2), "io:12", "filter: each can be undone");
    await page.goBack();
    is(await row(page, 2), "io:4", "filter: Back undoes one");
    await page.goto(page.url().split("#")[0] + "#");

    await page.locator("#query").fill("/^(alloc|emit)$/");
    await filter(page, "from their match");
    is(await row(page, 1), "alloc:16 emit:8", "filter: stacks begin at their match");
    is(await text(page, "#filters"), "From: /^(alloc|emit)$/ \u2715",
        "filter: the tag of stacks from their match is shown");
    await page.locator("#query").fill("/^alloc/");
    await filter(page, "Merge");
    is(await row(page, 1), "emit:8 malloc:16", "filter: matches are merged into their callers");
    await page.locator("#filters button").first().click();
    is(await row(page, 3), "malloc:4 emit:8 malloc:12", "filter: their order is kept");
    is(await row(page, 2), "io:12 parse:20", "filter: counts of merged matches go to the callers");
    is((await table(page)).find((r) => r.startsWith("alloc")), undefined,
        "filter: the table has no row of a merged function");
    await untroubled(page, "filters");
}

async function byFrame() {
    const page = await explore(CALLS);
    await choose(page, "emit", "only stacks with this");
    is(await row(page, 0), "all:8", "menu of a frame: only stacks with its name are left");
    await page.locator("#filters button").click();
    await choose(page, "parse", "Merge this function");
    is(await row(page, 2), "alloc:12 emit:8 io:12",
        "menu of a frame: a function is merged into its callers");
    await choose(page, "emit", "from this function");
    is(await row(page, 1), "emit:8", "menu of a frame: stacks begin at the function");
    await page.locator("#layouts button").filter({ hasText: "Callers" }).click();
    is(await row(page, 1), "emit:5 malloc:3",
        "menu of a frame: filters hold in the graph of callers");
    await page.locator("#layouts button").filter({ hasText: "Callees" }).click();
    await choose(page, "emit", "Sandwich");
    is(await row(page, 0, 1), "emit:8", "menu of a frame: filters hold in the sandwich");
    is(await text(page, "#filters"),
        "Sandwich: emit \u2715\nMerged away: parse \u2715\nFrom: emit \u2715",
        "menu of a frame: tags show all filters");
    await untroubled(page, "by frame");
    const picked = await explore(CALLS);
    await picked.locator("tr[data-at] .symbol").filter({ hasText: /^io$/ }).click();
    await filter(picked, "Leave out");
    is(await row(picked, 2), "parse:20", "filter: selected rows of the table are left out");
    is(await crumbs(picked), "all", "filter: the path is of what is left");
    await picked.reload();
    is(await row(picked, 2), "parse:20", "filter: a reload keeps it");
    await click(picked, "parse");
    await untroubled(picked, "picked");
}

async function compared() {
    const page = await explore("main;a;x 4 6\nmain;b;x 5 0\nmain;c 3 9\n");
    await page.locator("#query").fill("x");
    await filter(page, "only stacks");
    is(await row(page, 2), "a:6", "filter: a comparison is filtered");
    await page.locator("#layouts button").filter({ hasText: "Gone" }).click();
    is(await row(page, 1), "main:6 [only before]:5",
        "filter: a filtered comparison has what is gone");
    await untroubled(page, "compared");
}

async function wrongLinks() {
    for (const wrong of ["[", "{}", "[1,2,3]", '["keep","",""]', '["constructor","","a"]', '["keep"]']) {
        const page = await explore(CALLS, { hash: "#filter=" + encodeURIComponent(wrong) });
        is(await row(page, 0), "all:32", `filter: the page ignores ${wrong}`);
        await untroubled(page, wrong);
    }
    const none = await explore(CALLS, { hash: "#filter=" +
        encodeURIComponent('["keep","","nothing like it"]') });
    is(await text(none, "#filters"), "Only with: nothing like it \u2715",
        "filter: one that leaves no stack has its tag");
    await none.locator("#filters button").click();
    is(await row(none, 0), "all:32", "filter: one that leaves no stack can be undone");
    await untroubled(none, "nothing");
}

await main(async () => {
    await sameCounts();
    await soon();
    await filters();
    await byFrame();
    await compared();
    await wrongLinks();
});
