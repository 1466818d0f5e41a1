#!/usr/bin/env node
// The page says what it shows (legend, reading), and is compared with a second file.
import { explore, frames, hover, row, text, untroubled } from "./explorer.mjs";
import { done, file, is, main, near, ok, open, render, renderTo } from "./page.mjs";

const TWO = "a;up 10 30\na;down 30 10\na;same 20 20\na;gone;f 20 0\na;new;f 0 20\n";
const CHAIN = "# flame: view=chain unit=us\nT1;run;futex;--;post_[w];loop_[w];T2_[w] 5000\nT1;run;poll 5000\n";
const BEFORE = "# flame: view=live unit=bytes\nmain;parse;alloc 4096\nmain;<b>;x 1024\nmain;gone 512\n";
const AFTER = "# flame: view=live unit=bytes\nmain;parse;alloc 8192\nmain;<b>;x 1024\nmain;new 256\n";
const legend = (page) => page.locator("#legend").evaluate((e) => [...e.children]
    .map((key) => [...key.childNodes].map((n) => n.nodeType === 3 ? n.data : `[${n.children.length}]`).filter(Boolean).join(" ")).join("|"));

async function legends() {
    for (const [folded, hash, want] of [
        [BEFORE, "", "Total 5.50 KiB, 5,632 bytes|Hues by package, shades by name|[1] alloc|[1] x|[1] gone|[1] main"],
        [BEFORE, "#color=name", "Total 5.50 KiB, 5,632 bytes|Colours tell names apart and mean nothing else"],
        [BEFORE, "#color=own", "Total 5.50 KiB, 5,632 bytes|Self: 0 B [9] 4.00 KiB"],
        [BEFORE, "#color=total", "Total 5.50 KiB, 5,632 bytes|Total of a frame: 0 B [9] 5.50 KiB"],
        ["a;b_[k] 1\n", "#color=kind", "Total 1 sample|[1] the program|[1] kernel"],
        [CHAIN, "", "Total 10.00 ms, 10,000 \u00b5s|Sleepers by package|[1] who woke it|[1] name of a thread"],
        [TWO, "", "Total 80 samples|Change of a frame itself: \u221220 [9] +20"],
        [TWO, "#carry=1", "Total 80 samples|Change of a frame and all it calls: \u221220 [9] +20"],
        [TWO, "#color=relative", "Total 80 samples|Change of a frame, against itself: gone [9] new"],
        [TWO, "#color=ratio", "Total 80 samples|Second count for each of the first: \u2264 0.25 [9] \u2265 4; of all 1"],
        [TWO, "#layout=elided", "Total 100 samples|Change of a frame itself: \u221220 [9] +20|[1] only before|[1] only after"],
    ]) {
        const page = await explore(folded, { hash });
        is(await legend(page), want, `the legend is right for ${hash || folded.slice(0, 24)}`);
        await untroubled(page, "legend");
    }
}

// A picture and the page colour one set of frames as changed, with and without --carry.
async function oneRule() {
    for (const options of [[], ["--carry"], ["--change", "relative"], ["--change", "ratio"], ["--widths", "either"]]) {
        const picture = await open(render(TWO, ...options));
        const signs = await picture.evaluate(() => Object.fromEntries([...document.querySelectorAll("#frames > g")]
            .map((g) => [g.textContent.split(" (")[0] + g.dataset.d, g.dataset.c || "="])));
        await done(picture);
        const page = await explore(TWO, {}, ...options);
        const shown = await page.evaluate(() => {
            const { chart: { view, graph, profile } } = document.querySelector(".chart-canvas");
            return Object.fromEntries(Array.from({ length: graph.n }, (_, i) => i)
                .filter((i) => i && graph.total[i] > 0)
                .map((i) => [profile.names[graph.name[i]] + graph.depth[i], "-=+"[1 + Math.sign(view.share(i))]]));
        });
        ok(Object.keys(shown).length >= 5, "comparison: the page shows at least five frames");
        is(JSON.stringify(shown), JSON.stringify(Object.fromEntries(Object.keys(shown).map((k) => [k, signs[k]]))),
            `picture and page agree on changed frames ${options.join(" ")}`);
        await done(page);
    }
}

async function readings() {
    const seen = new Set();
    const views = ["live", "leak", "growth", "peak", "alloc", "off", "wakeup", "chain", "oncpu"];
    for (const [folded, hash] of [...views.map((view) => [`# flame: view=${view} unit=${/off|wake|chain|cpu/.test(view) ? "us" : "bytes"}\na;b 5\n`, ""]),
        ["a;b 5\n", ""], [TWO, ""], [TWO, "#carry=1"], ["a;b 5\n", "#layout=callers"]]) {
        const page = await explore(folded, { hash });
        await page.locator("#read").click();
        const lines = await page.locator("#reading .lines p").allInnerTexts(), all = lines.join(" ");
        ok(lines.length >= 4 && lines.length <= 6 && lines.every((s) => /[.]$/.test(s)),
            `reading: there are four to six sentences: ${folded.slice(8, 20)} ${hash}`, all);
        ok(!seen.has(all), "reading: another profile has other sentences");
        seen.add(all);
        await page.keyboard.press("Escape");
        ok(!await page.locator("#reading").isVisible(), "reading: Escape closes it");
        await untroubled(page, "reading");
    }
}

// Before and after, and of samples what chance has to do with it, held to exact figures.
async function noise() {
    const page = await explore("a;some 100 120\na;much 100 200\na;same 7 7\na;few 0 5\n");
    const many = await explore("a;lots 500000 501000\n");
    const tip = async (name, on = page) => {
        await hover(on, name);
        return (await text(on, "#tooltip")).replace(/\s+/g, " ");
    };
    /* 2 * P(X >= 120), X binomial with 220 trials and 1/2, is 0.20; of 200 in 300 under 0.001. */
    ok(/Before 100 After 120 By chance may be: as large in 20% of runs/.test(await tip("some")),
        "chance: a small change may be by chance", await tip("some"));
    ok(/Before 100 After 200 By chance hardly: as large in under 0\.1% of runs/.test(await tip("much")),
        "chance: a large change is not by chance");
    ok(/Before 0 After 5 By chance may be: as large in 6\.3% of runs/.test(await tip("few")),
        "chance: a change from 0 to 5 has a chance of 2 / 2^5 = 6.25%", await tip("few"));
    ok(!/By chance/.test(await tip("same")), "chance: an unchanged frame has no words on it");
    /* z = (1000 - 1) / sqrt(1001000) = 0.9985, twice its tail 0.318. */
    ok(/By chance may be: as large in 32% of runs/.test(await tip("lots", many)),
        "chance: large counts have that of the normal distribution", await tip("lots", many));
    await untroubled(many, "many");
    await untroubled(page, "noise");
    const bytes = await explore("# flame: view=live unit=bytes\na;b 100 120\na;c 9 9\n");
    await hover(bytes, "b");
    ok(!/By chance/.test(await text(bytes, "#tooltip")),
        "chance: exact counts have no words on it");
    await untroubled(bytes, "bytes");
}

// A chain's frames but the last have nothing of their own, which needs no row.
async function chains() {
    const page = await explore(CHAIN);
    await hover(page, "run");
    ok(!/Self|\b0 /.test(await text(page, "#tooltip")),
        "tooltip: there are no rows of zeros", await text(page, "#tooltip"));
    await hover(page, "poll");
    ok(/Self/.test(await text(page, "#tooltip")), "tooltip: there is a row of what is not zero");
    await untroubled(page, "chains");
}

async function compared() {
    const inputs = { "folded text": file("after.folded", AFTER), "a page": renderTo("html", AFTER),
        "a picture": render(AFTER) };
    for (const [what, path] of Object.entries(inputs)) {
        const page = await explore(BEFORE);
        await page.locator("#compare-file").setInputFiles(path);
        await page.waitForFunction(() => document.querySelectorAll(".pane h2").length === 3);
        ok(new URL(page.url()).hash.includes("layout=compare"),
            `${what}: the comparison is side by side`);
        is(await row(page, 2, 0), "<b>:1024 gone:512 parse:4096",
            "compare with a file: before is the page");
        is(await row(page, 2, 1), "<b>:1024 new:256 parse:8192",
            "compare with a file: after is the file");
        ok((await text(page, "#subtitle")).includes("before: this page, after: "),
            "compare with a file: the subtitle names both sides");
        await hover(page, "parse", { chart: 0 });
        is(await page.evaluate(() => [...document.querySelectorAll(".chart-canvas")].map(({ chart }) =>
            chart.profile.names[chart.graph.name[chart.hovered]]).join()), "parse,parse,parse",
                "compare with a file: the pointer marks a frame in all graphs");
        const widths = await page.evaluate(() => document.querySelector("tr[data-at] .col-change, td.col-change") !== null);
        ok(widths, "compare with a file: the table has changes");
        is(page.trouble.join("\n"), "",
            "compare with a file: the page has no script error and makes no request");
        await page.reload();
        is(await row(page, 1), "main:5632",
            "compare with a file: a reload shows the page as it was");
        await done(page);
    }
    const page = await explore(BEFORE);
    await page.evaluate((content) => {
        const data = new DataTransfer();
        data.items.add(new File([content], "dropped.folded"));
        for (const type of ["dragenter", "dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, AFTER);
    await page.waitForFunction(() => document.querySelectorAll(".pane h2").length === 3);
    ok((await text(page, "#subtitle")).includes("before: this page, after: dropped.folded"),
        "compare with a file: a dropped file is compared");
    near((await frames(page, 1)).find((f) => f.name === "new").total, 256, 0,
        "compare with a file: a dropped file has its counts");
    await untroubled(page, "dropped");
}

async function nonsense() {
    const html = (data) => `<!DOCTYPE html><script id="profile" type="application/json">${data}</${"script"}>`;
    const data = { title: "", subtitle: "", names: ["all", "a"], nodes: 2, frames: "AAE=", columns: [{ name: "", unit: "bytes", own: "AQU=" }] };
    for (const [name, content, want] of [
        ["empty", "", "it has no stacks"], ["words", "hello\n", "line 1 is no stack and its count: \u201chello\u201d"],
        ["later", "a;b 1\n\nx y\n", "line 3 is no stack"], ["pair", "a;b 1 2\n", "line 1 has two counts"],
        ["unit", "# flame: view=off unit=us\na 1\n", "it counts us, and this page shows bytes"],
        ["html", "<!doctype html><p>x", "it is a page, but none of flame's"],
        ["svg", "<svg xmlns='http://www.w3.org/2000/svg'><g/></svg>", "it is a picture, but none of flame's"],
        ["broken", "<svg><g", "it is a picture, but none of flame's"],
        ["json", html("{"), "its data are damaged"], ["nodes", html(JSON.stringify({ ...data, nodes: 1e9 })), "its data are damaged"],
        ["endless", html(JSON.stringify({ ...data, frames: "gIA=" })), "its data are damaged"],
        ["nowhere", html(JSON.stringify({ ...data, frames: "CQE=" })), "its data are damaged"],
        ["nameless", html(JSON.stringify({ ...data, frames: "AAk=" })), "its data are damaged"],
        ["binary", Buffer.from([0, 1, 255, 254, 10, 0]), "line 1 is no stack"],
    ]) {
        const page = await explore(BEFORE);
        await page.locator("#compare-file").setInputFiles(file(name, content));
        await page.locator("#refused").waitFor();
        const said = await text(page, "#refused p");
        ok(said.startsWith(`${name} cannot be compared: ${want}`),
            `the page refuses ${name}: ${want}`, said);
        await page.keyboard.press("Escape");
        is(await row(page, 1), "main:5632",
            "compare with a file: a refused file leaves the page as it was");
        await untroubled(page, name);
    }
    const hostile = await explore("a;b 1\n");
    await hostile.locator("#compare-file").setInputFiles(file("<img src=x onerror=alert(1)>",
        "a;</script><script>document.title='owned'</script> 5\n"));
    await hostile.waitForFunction(() => document.querySelectorAll(".pane h2").length === 3);
    ok(await hostile.title() !== "owned", "compare with a file: hostile names are text");
    await untroubled(hostile, "hostile");
}

await main([legends, oneRule, readings, noise, chains, compared, nonsense]);
