#!/usr/bin/env node
// The explorer page: what is gone, relative and ratio colours, chains of threads, lines of
// functions, and columns counted at several moments.
import { click, color, explore, frame, hover, point,
    quiet, row, tab, table, text, untroubled } from "./explorer.mjs";
import { file, is, main, near, ok, open, renderFiles } from "./page.mjs";

const tip = async (page, name, how) => {
    await hover(page, name, how);
    return (await text(page, "#tooltip")).replace(/\s+/g, " ");
};
const rgb = async (page, name, how) => (await color(page, name, how)).split(",").map(Number);
const param = (page, key) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get(key);

const TWO = "a;b;c 10 30\na;b;d 40 20\na;e 10 10\na;b;gone;x 20 0\na;gone;x 5 0\na;new;f 0 15\n";

async function elided() {
    const page = await explore(TWO);
    await page.locator("#layouts button", { hasText: "Gone" }).click();
    is(await row(page, 1), "a:75 [only before]:25",
        "elided: the part that is gone is beside the part that is left");
    is(await row(page, 3), "c:30 d:20 f:15 b:20 gone:5",
        "elided: frames that are gone have their callers");
    is(await row(page, 5), "x:20", "elided: a subtree that is gone is shown as a whole");
    const dark = await rgb(page, "gone"), light = await rgb(page, "new");
    ok(Math.max(...dark) < 80, "elided: a frame that is gone is black", dark);
    ok(Math.min(...light) > 200, "elided: a new frame is white", light);
    ok((await tip(page, "gone")).includes("−20, −23.53% of all before, −100.00% of itself"),
        "elided: the tooltip of a frame that is gone has the change");
    ok((await tip(page, "b")).includes("Change −20, −23.53% of all before, −28.57% of itself"),
        "elided: the tooltip of a caller includes what is gone from it");
    await page.locator("#display summary").click();
    await page.locator("#display input[value=size]").check();
    is(await row(page, 1), "a:75 [only before]:25",
        "elided: the part that is gone is at the right in any order");
    await page.keyboard.press("Escape");
    await click(page, "[only before]");
    near((await frame(page, "[only before]")).w, (await frame(page, "all")).w, 2,
        "elided: the part that is gone can be zoomed");
    ok(!(await table(page)).some((r) => r.startsWith("[only")),
        "elided: the part that is gone is no symbol of the table");
    const hash = new URL(page.url()).hash;
    await page.reload();
    ok(hash.includes("layout=elided") && await frame(page, "[only before]"),
        "elided: the address has the layout");
    await untroubled(page, "gone");

    const first = await explore(TWO, {}, "--widths", "elided");
    is(await row(first, 1), "a:75 [only before]:25",
        "--widths elided: the page begins with the elided layout");
    await untroubled(first, "--widths elided");
    const went = await explore("a;b 5 0\na;c 7 0\n");
    is(await row(went, 2), "b:5 c:7",
        "elided: a comparison with nothing left begins with what there was");
    await untroubled(went, "nothing left");
    const either = await explore(TWO, {}, "--widths", "either", "--change", "relative");
    is(await row(either, 1), "a:120", "--widths either: widths have room for both sides");
    is(await either.locator("#color").inputValue(), "relative",
        "--change relative: the page begins with relative colours");
    await untroubled(either, "--widths either");
    const none = await explore("a;b 3 5\n");
    await none.locator("#layouts button", { hasText: "Gone" }).click();
    is(await row(none, 1), "a:5", "elided: nothing is beside the graph if nothing is gone");
    await untroubled(none, "nothing gone");
}

async function shares() {
    const page = await explore("m;big 1000 1100\nm;small 10 20\nm;same 50 50\n");
    const heat = async (name) => {
        const [r, , b] = await rgb(page, name);
        return r - b;
    };
    ok(await heat("big") > await heat("small") + 20, "absolute: the large change is the redder");
    await page.locator("#color").selectOption("relative");
    ok(await heat("small") > await heat("big") + 20,
        "relative: the small frame that doubled is the redder");
    await page.locator("#color").selectOption("ratio");
    const [r, g, b] = await rgb(page, "same");
    ok(b > r, "ratio: a frame that grew less than the whole is blue", [r, g, b]);
    ok((await tip(page, "small")).includes("Ratio 2, of all 1.104"),
        "ratio: the tooltip has the ratio");
    is(param(page, "color"), "ratio", "ratio: the address has the colours");
    await untroubled(page, "shares");

    /* Bytes for each call: 100 of all; 1,000 and 10 of its parts. */
    const trace = await explore("# flame: view=alloc unit=bytes\nm;large 10000\nm;little 1000\n" +
        "# flame: view=count unit=calls\nm;large 10\nm;little 100\nm;freed 0.5\n");
    await trace.locator("#color").selectOption({ label: "for each of count" });
    const [large, little] = [await rgb(trace, "large"), await rgb(trace, "little")];
    ok(large[0] > large[2] + 60, "ratio of columns: a frame above the ratio of all is red", large);
    ok(little[2] > little[0] + 60,
        "ratio of columns: a frame below the ratio of all is blue", little);
    ok((await tip(trace, "large")).includes("Each of count 1,000 B, of all 99.55 B"),
        "ratio of columns: the tooltip has the ratio", await tip(trace, "large"));
    const hash = new URL(trace.url()).hash;
    await trace.reload();
    is(await trace.locator("#color").inputValue(), "per-1",
        "ratio of columns: a link keeps the colours");
    ok(hash.includes("color=per-1"), "ratio of columns: the address has the colours");
    await tab(trace, "count").click();
    ok((await rgb(trace, "large")).every((v) => v > 60),
        "ratio of columns: a column has no ratio to itself");
    await trace.keyboard.press("r");
    await untroubled(trace, "for each");
}

async function sides() {
    for (const [width, across] of [[1400, true], [820, false], [400, false]]) {
        const page = await explore(TWO, { width }, "--widths", "either");
        await page.locator("#layouts button", { hasText: "Side by side" }).click();
        is((await page.locator(".pane h2").allTextContents()).join(), "Before,After,Change",
            `sides: a page of ${width} pixels has three graphs`);
        is(await row(page, 1, 0), "a:85", "sides: before has its own count");
        is(await row(page, 1, 1), "a:75", "sides: after has its own count");
        is(await row(page, 1, 2), "a:120", "sides: the widths have room for both");
        const tops = await page.locator(".pane").evaluateAll((all) =>
            all.map((e) => e.getBoundingClientRect().top));
        ok(across === (tops[0] === tops[2]),
            `sides: the graphs are ${across ? "side by side" : "one below the other"}`);
        await page.locator("#color").selectOption("package");
        await page.locator("#layouts").click({ position: { x: 1, y: 1 } });
        const left = await rgb(page, "c", { chart: 0 });
        ok(left.every(Number.isFinite), "sides: frames have colours by package");
        await hover(page, "c", { chart: 0 });
        is(await page.locator(".mark-hover:visible").count(), 3,
            "sides: the pointer marks a frame in all three graphs");
        await untroubled(page, `sides at ${width}`);
    }
}

async function threads() {
    const page = await explore("# flame: view=chain unit=nanoseconds\n" +
        "T1;run;futex;--;post_[w];loop_[w];T2_[w] 1000000\n" +
        "T1;run;futex;--;post_[w];loop_[w];T2_[w];--;irq_[w];main_[w];T1_[w] 3000000\nT3;nap;--;[timer]_[w] 1\n");
    const [first, second] = [await color(page, "T1"), await color(page, "T1", { nth: 1 })];
    is(first, second, "thread bands: a thread has one colour wherever it comes up");
    ok(first.split(",").reduce((a, b) => a + Number(b), 0) < 360,
        "thread bands: a band is dark", first);
    ok((await color(page, "run")).split(",").reduce((a, b) => a + Number(b), 0) > 400,
        "thread bands: a function is not dark");
    const links = await tip(page, "main");
    ok(links.includes("Link 1 T2: 4.00 ms, 100.00% Link 2 T1: 3.00 ms, 75.00%"),
        "thread bands: each link has thread, time and share", links);
    ok((await tip(page, "T1", { nth: 1 })).includes("Link 2 T1: 3.00 ms"),
        "thread bands: the last link is in the tooltip, too");
    await page.keyboard.press("r");
    ok((await color(page, "T2")).split(",").reduce((a, b) => a + Number(b), 0) > 400,
        "thread bands: the graph of callers has none");
    await page.keyboard.press("r");
    await hover(page, "run");
    await page.keyboard.press("f");
    ok((await color(page, "futex")).split(",").reduce((a, b) => a + Number(b), 0) > 400,
        "thread bands: what only a function calls is no thread");
    const tids = await explore("app;app-7;run;futex;--;post_[w];loop-1_[w];run_[w];app-8_[w];app_[w] 5\n");
    for (const [name, band] of [["app", true], ["app-7", true], ["app-8", true], ["loop-1", false]])
        is((await color(tids, name)).split(",").reduce((a, b) => a + Number(b), 0) < 360, band,
            `thread bands: ${name} is ${band ? "a" : "no"} thread`);
    await untroubled(tids, "threads by number");
    await untroubled(page, "threads");
}

async function lines() {
    const folded = "app;main m.c:10;parse <T>(int) p.cc:12;malloc 300\n" +
        "app;main m.c:10;parse <T>(int) p.cc:40;malloc 200\napp;main m.c:22;parse <T>(int) p.cc:40;malloc 100\n" +
        "app;main m.c:22;emit e.rs:7_[i] 50\napp;connect 10.0.0.1:80 5\napp;look example.com:80 5\n";
    const page = await explore(folded);
    is(await row(page, 1), "app:660", "lines: the root counts all stacks");
    is(await row(page, 2), "connect 10.0.0.1:80:5 look example.com:80:5 main:650",
        "lines: frames of one function are merged, and an address is no line");
    is(await row(page, 3), "emit:50 parse <T>(int):600",
        "lines: callees of merged frames are merged as well");
    ok((await tip(page, "parse <T>(int)")).includes("Lines p.cc:12, 50.00% p.cc:40, 50.00%"),
        "lines: the tooltip has the lines and their shares");
    ok((await tip(page, "emit")).includes("Line e.rs:7"), "lines: the tooltip has the only line");
    ok((await tip(page, "emit")).includes("Kind inlined"),
        "lines: a mark behind a line is understood");
    is((await table(page)).filter((r) => r.startsWith("main")).join(), "main 0 650",
        "lines: the table has one row for each function");
    await page.keyboard.press("r");
    ok(!(await tip(page, "malloc")).includes("Line"), "lines: the tooltip of a caller has none");
    await page.keyboard.press("r");
    await page.locator("#display summary").click();
    await page.locator("#lines").check();
    await page.waitForFunction(() => performance.getEntriesByName("flame-drawn").length &&
        location.hash.includes("lines=apart"));
    is(await row(page, 2), "connect 10.0.0.1:80:5 look example.com:80:5 main m.c:10:500 main m.c:22:150",
        "lines: a switch makes them frames of their own");
    await click(page, "main m.c:22");
    await page.reload();
    ok((await row(page, 3)).includes("emit e.rs:7:50"), "lines: the address keeps them apart");
    await page.locator("#display summary").click();
    await page.locator("#lines").uncheck();
    await page.waitForFunction(() => !location.hash.includes("apart"));
    is(await row(page, 3), "emit:50 parse <T>(int):600",
        "lines: they are merged again by the switch");
    await untroubled(page, "lines");
    const plain = await explore("a;b 1\n");
    await plain.locator("#display summary").click();
    ok(!await plain.locator("#lines").isVisible(), "lines: a page without any has no switch");
    await untroubled(plain, "no lines");
    const two = await explore("a;f x.c:1 10 20\na;f x.c:2 5 0\n");
    is(await row(two, 2), "f:20", "lines: a comparison adds up those of one function");
    ok((await tip(two, "f")).includes("Change +5"),
        "lines: the tooltip of a comparison has the change of all lines");
    await untroubled(two, "lines compared");
}

async function moments() {
    const at = (i) => file(`m${i}.folded`, "# flame: view=live unit=bytes\n" +
        `app;cache ${i * 1000}\napp;buf ${5000 - i * 1000}\n` +
        `# flame: view=count unit=calls\napp;cache ${i}\n`);
    const path = renderFiles("html", [1, 2, 3, 4].map(at), "--series");
    const page = await open(path, quiet);
    is(await row(page, 2), "buf:2500 cache:2500", "moments: a level is shown first by its mean");
    is(await text(page, ".series-label"), "0 s to 3 s: 4.88 KiB on average",
        "moments: the label shows the range and the mean");
    const box = await page.locator("#series").boundingBox();
    const middle = (i) => [box.x + box.width * (i + 0.5) / 4, box.y + 30];
    await page.mouse.click(...middle(2));
    is(await row(page, 2), "buf:2000 cache:3000", "moments: a click chooses one");
    is(await text(page, ".series-label"), "at 2 s: 4.88 KiB",
        "moments: the label shows the time of the chosen one");
    is(param(page, "moments") || "2~2", "2~2", "moments: the address has the chosen one");
    await page.mouse.move(...middle(1));
    await page.mouse.down();
    await page.mouse.move(...middle(2), { steps: 4 });
    await page.mouse.up();
    is(await row(page, 2), "buf:2500 cache:2500", "moments: a drag chooses a range");
    await tab(page, "count").click();
    is(await row(page, 2), "cache:5", "moments: what flows is added up");
    await page.waitForFunction(() => decodeURIComponent(location.hash).includes("moments=1~2"));
    await page.reload();
    is(await row(page, 2), "cache:5", "moments: a reload keeps the range");
    await page.locator("#series").focus();
    await page.keyboard.press("ArrowRight");
    is(await row(page, 2), "cache:4", "moments: arrow keys move the choice");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Shift+ArrowRight");
    is(await row(page, 2), "cache:7", "moments: Shift and an arrow key choose a range");
    is(await page.locator("#series").getAttribute("aria-valuetext"), "2 s to 3 s: 7",
        "moments: a screen reader gets the range and its count");
    await page.keyboard.press("Escape");
    is(await row(page, 2), "cache:10", "moments: Escape chooses all");
    await page.keyboard.press("r");
    is(await row(page, 1), "cache:10", "moments: the graph of callers is of all after Escape");
    await page.mouse.dblclick(...middle(3));
    is(await row(page, 1), "cache:10",
        "moments: a double click chooses all");
    await page.setViewportSize({ width: 420, height: 800 });
    ok((await page.locator("#series").boundingBox()).width <= 420,
        "moments: the strip follows the width of the window");
    await untroubled(page, "moments");

    const leaks = await explore("# flame: view=inner unit=bytes time=1\na;f 4\n" +
        "# flame: view=inner unit=bytes time=2\na;f 2\n");
    is(await row(leaks, 2), "f:3", "moments: a class of live blocks is a level, too");
    await untroubled(leaks, "levels");

    const timed = await explore("# flame: view=cpu time=10.5\na;f x.c:3 5\na;f x.c:9 1\n" +
        "# flame: view=cpu time=0.5\na;f x.c:3 1\na;g 2\n");
    is(await text(timed, ".series-label"), "0.5 s to 10.5 s: 9",
        "moments: times may be in the text");
    is(await row(timed, 2), "f:7 g:2", "moments: those in any order are added up");
    ok((await tip(timed, "f")).includes("Lines x.c:3, 85.71% x.c:9, 14.29%"),
        "moments: the tooltip of a range has its lines");
    await timed.locator("#series").focus();
    await timed.keyboard.press("ArrowRight");
    is(await row(timed, 2), "f:1 g:2", "moments: the earliest time is the first");
    ok((await tip(timed, "f")).includes("Line x.c:3"), "moments: the tooltip of one has its lines");
    await untroubled(timed, "times");
    const still = await explore("a;b 1\n");
    ok(!await still.locator("#series").isVisible(), "moments: a page without times has no strip");
    await untroubled(still, "no times");
}

// A flame chart's siblings stand in time.
async function ordered() {
    const page = await explore("a;z 1\na;b;x 2\na;z 3\na;b;y 4\nother 5\n", {}, "--flamechart");
    is(await row(page, 2), "z:1 b:2 z:3 b:4", "flamechart: frames are in the order of the lines");
    await page.mouse.click(...await point(page, "a"), { button: "right" });
    await page.locator("#menu button", { hasText: "Focus" }).click();
    is(await row(page, 1), "z:1 b:2 z:3 b:4",
        "flamechart: frames of a focused subtree are in the order of the lines");
    is(await page.locator("#order-name").textContent(), "in time",
        "flamechart: the page shows that the order is that of time");
    await page.keyboard.press("r");
    is(await row(page, 1), "x:2 y:4 z:4", "flamechart: callers are merged and ordered by name");
    await untroubled(page, "ordered");
}

// A profile of nothing is a page all the same.
async function nothing() {
    for (const folded of ["", "# flame: view=live unit=bytes\n"]) {
        const page = await explore(folded);
        ok(/ is empty/.test(await text(page, "header")),
            "empty profile: the title shows that it is empty");
        is(await text(page, "p.empty"), "Nothing was counted.",
            "empty profile: the table shows that nothing was counted");
        await page.keyboard.press("r");
        await page.locator("#search input").fill("x");
        await untroubled(page, "nothing");
    }
}

await main(async () => {
    for (const test of [elided, shares, sides, threads, lines, moments, ordered, nothing])
        await test();
});
