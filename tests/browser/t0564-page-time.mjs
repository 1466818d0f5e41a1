#!/usr/bin/env node
// The explorer page over time: the chart of live, mapped and resident memory, what a click and a
// drag on it show, keys, the address, marks, both themes, paper.
import { crumbs, explore, hover, row, tab, table, text, untroubled } from "./explorer.mjs";
import { is, main, near, ok } from "./page.mjs";
import { bytesOf, fold, pack, steps } from "./packed.mjs";

const MiB = 1 << 20;

// moments: [us, live, mapped, rss]; stacks: {name: [[moment, level], ...]}.
function timed(moments, stacks, flags = [], mapped = {}) {
    const of = (view, all) => Object.entries(all).map(([stack, levels]) => {
        const changes = levels.flatMap(([at, level], i) => [at - (i ? levels[i - 1][0] : 0),
            fold(level - (i ? levels[i - 1][1] : 0))]);
        return `# moments: ${view} ${stack} changes=${pack(changes)}\n`;
    }).join("");
    const word = (i) => steps(moments.map((m) => m[i]));
    return `# moments: axis n=${moments.length} us=${word(0)} live=${word(1)} mapped=${word(2)} rss=${word(3)}\n` +
        flags.map(([us, name]) => `# moments: mark us=${pack([us])} name=${bytesOf(name)}\n`).join("") +
        of("live", stacks) + of("mmap", mapped);
}

const FIVE = [0, 1, 2, 3, 4].map((s) => [s * 1e6, [2, 3, 6, 9, 7][s] * MiB, s > 1 ? 2 * MiB : 0,
    [4, 5, 8, 12, 12][s] * MiB]);
const FOLDED = "# flame: view=alloc unit=bytes\nm;a 20971520\nm;b 5242880\n" +
    "# flame: view=live unit=bytes\nm;a 6291456\nm;b 1048576\n" +
    "# flame: view=mmap unit=bytes\nm;c 2097152\n" + timed(FIVE, {
    "m;a": [[0, MiB], [2, 4 * MiB], [3, 7 * MiB], [4, 6 * MiB]],
    "m;b": [[0, MiB], [1, 2 * MiB], [4, MiB]],
}, [[500000, "begin"], [2000000, "<img src=x onerror=alert(1)>"]], { "m;c": [[2, 2 * MiB]] });

// Where a time is on the screen.
const at = (page, time, y = 60) => page.evaluate(([t, down]) => {
    const plot = document.querySelector(".growth-plot"), box = plot.getBoundingClientRect();
    const labels = [...plot.querySelectorAll("svg .growth-label")];
    const x = (s) => Number(labels.find((e) => e.textContent === s).getAttribute("x"));
    return [box.left + x("0 s") + (x("2 s") - x("0 s")) / 2 * t, box.top + down];
}, [time, y]);

async function drag(page, from, to) {
    await page.mouse.move(...await at(page, from));
    await page.mouse.down();
    await page.mouse.move(...await at(page, (from + to) / 2));
    await page.mouse.move(...await at(page, to));
    await page.mouse.up();
}
const frame = (page) => page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));

async function chart() {
    const page = await explore(FOLDED);
    is((await text(page, ".growth-legend")).replace(/\s+/g, " "), "Live 7.00 MiB Resident 12.00 MiB Mapped 2.00 MiB",
        "growth chart: the legend has the values at the end");
    const labels = await page.locator(".growth-label").allTextContents();
    ok(["0 s", "2 s", "4 s", "0", "8 MiB"].every((s) => labels.includes(s)),
        "growth chart: the axes have units", labels.join());
    is(await page.locator("polyline").count(), 3, "growth chart: there are three lines");
    is(await text(page, "#title"), "Memory allocated",
        "growth chart: the page is of the whole run at first");
    await page.mouse.move(...await at(page, 1.1));
    await frame(page);
    is((await text(page, ".growth-tip")).replace(/\s+/g, " "), "1 s Live 3.00 MiB Resident 5.00 MiB Mapped 0 B",
        "growth chart: the tooltip shows the moment next to the pointer");
    await page.locator(".growth-key", { hasText: "Mapped" }).click();
    is(await page.locator("polyline").count(), 2, "growth chart: a line can be hidden");
    is(await page.locator(".growth-key", { hasText: "Mapped" }).getAttribute("aria-pressed"), "false",
        "growth chart: the button of a hidden line is not pressed");
    await untroubled(page, "chart");
    const none = await explore("m;a 1\n");
    ok(await none.locator("#growth").isHidden(), "growth chart: a page without moments has none");
    await untroubled(none, "no moments");
}

async function brushing() {
    const page = await explore(FOLDED);
    await page.mouse.click(...await at(page, 1.1));
    is(await text(page, "#title"), "Memory live at 1 s",
        "growth chart: a click shows what was live at a moment");
    is(await row(page, 2), `a:${MiB} b:${2 * MiB}`,
        "growth chart: the graph is of the chosen moment");
    is((await table(page)).sort().join(", "), "a 1.00 MiB 1.00 MiB, b 2.00 MiB 2.00 MiB, m 0 B 3.00 MiB",
        "growth chart: the table is of the chosen moment");
    await page.waitForFunction(() => location.hash.includes("time=1"));
    ok(/[#&]time=1(&|$)/.test(page.url()) && page.url().includes("column=live"),
        "growth chart: the address has the chosen moment", page.url());
    await drag(page, 1, 3);
    is(await text(page, "#title"), "Memory live: growth from 1 s to 3 s",
        "growth chart: a drag shows the growth");
    is(await row(page, 2), `a:${6 * MiB}`, "growth chart: the graph has what grew");
    is((await text(page, ".growth-legend")).replace(/\s+/g, " "),
        "Live +6.00 MiB Resident +7.00 MiB Mapped +2.00 MiB",
        "growth chart: the legend has the change");
    await hover(page, "a");
    ok(/Before\s+1\.00 MiB\s+After\s+7\.00 MiB, \+6\.00 MiB/.test(await text(page, "#tooltip")),
        "growth chart: the tooltip has the values of both ends", await text(page, "#tooltip"));
    await page.waitForFunction(() => location.hash.includes("time=1%7E3"));
    await drag(page, 3, 4);
    is(await row(page, 2), `a:${5 * MiB}`, "growth chart: an end of the selection can be dragged");
    await drag(page, 3, 2);
    is(await text(page, "#title"), "Memory live: growth from 0 s to 3 s",
        "growth chart: the middle of the selection can be dragged");
    await tab(page, "mmap").click();
    is(await text(page, "#title"), "Memory mapped: growth from 0 s to 3 s",
        "growth chart: mappings have a history");
    is(await row(page, 2), `c:${2 * MiB}`, "growth chart: mappings have their own frames");
    await tab(page, "alloc").click();
    is(await text(page, "#title"), "Memory allocated",
        "growth chart: a view without a history is of the whole run");
    ok(await page.locator(".growth-brush").isHidden(),
        "growth chart: nothing is selected in a view without a history");
    await drag(page, 2, 0.2);
    is(await text(page, "#title"), "Memory live: growth from 0 s to 2 s",
        "growth chart: a drag from right to left selects the same range");
    await page.locator(".growth-reset").click();
    is(await text(page, "#title"), "Memory live at the end",
        "growth chart: the reset button shows the whole run");
    is(await row(page, 2), `a:${6 * MiB} b:${MiB}`,
        "growth chart: after a reset the graph is of the whole run");
    await page.mouse.click(...await at(page, 0));
    await page.keyboard.press("Escape");
    is(await text(page, "#title"), "Memory live at the end",
        "growth chart: Escape shows the whole run");
    await page.mouse.click(...await at(page, 4));
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Escape");
    ok(await page.locator(".growth-brush").isHidden(),
        "growth chart: Escape works wherever the focus is");
    await untroubled(page, "brushing");
}

async function keys() {
    const page = await explore(FOLDED), title = () => text(page, "#title");
    const slider = page.locator(".growth-plot");
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    is(await title(), "Memory live at 4 s",
        "growth chart: the left arrow key begins at the last moment");
    await page.keyboard.press("Home");
    is(await title(), "Memory live at 0 s", "growth chart: Home selects the first moment");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    is(await title(), "Memory live: growth from 1 s to 3 s",
        "growth chart: Shift and an arrow key select a growth");
    is(await slider.getAttribute("aria-valuetext"), "from 1 s to 3 s. Live +6.00 MiB, Resident +7.00 MiB, Mapped +2.00 MiB",
        "growth chart: a screen reader hears the selected growth");
    await page.keyboard.press("Escape");
    is(await title(), "Memory live at the end", "growth chart: Escape ends a selection by keys");
    await untroubled(page, "keys");
}

async function address() {
    const page = await explore(FOLDED, { hash: "#time=1.2~2.9" });
    is(await text(page, "#title"), "Memory live: growth from 1 s to 3 s",
        "growth chart: a link keeps a growth");
    await page.evaluate(() => {
        location.hash = "#time=2.2&zoom=;m;a";
    });
    await page.waitForFunction(() => document.getElementById("title").textContent.endsWith("at 2 s"));
    is(await crumbs(page), "all m a", "growth chart: an address has a moment and a frame");
    for (const bad of ["x", "1~", "~2", "-1", "1e3", "9".repeat(40), "1~2~3"]) {
        const other = await explore(FOLDED, { hash: "#time=" + bad });
        is(await text(other, "#title"), "Memory allocated",
            `growth chart: the page ignores time=${bad.slice(0, 9)}`);
        await untroubled(other, "a bad time");
    }
    await untroubled(page, "address");
}

async function marks() {
    const page = await explore(FOLDED);
    is((await page.locator(".growth-flag title").allTextContents()).join("; "),
        "begin, marked at 500 ms; <img src=x onerror=alert(1)>, marked at 2 s".replace("500 ms", "0.5 s"),
        "growth chart: marks of any name are on the axis");
    await page.mouse.move(...await at(page, 2));
    await frame(page);
    ok((await text(page, ".growth-tip")).includes("\u2691 <img src=x onerror=alert(1)>"),
        "growth chart: the tooltip shows marks");
    is(await page.locator("#growth img").count(), 0,
        "growth chart: the text of a mark adds no element");
    await untroubled(page, "marks");
}

async function looks() {
    for (const theme of ["light", "dark"]) {
        const page = await explore(FOLDED, { hash: "#time=1~3&theme=" + theme });
        const contrast = await page.evaluate(() => {
            const lum = (c) => c.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255)
                .map((v) => v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                .reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
            const under = lum(getComputedStyle(document.getElementById("graph")).backgroundColor);
            return [...document.querySelectorAll("polyline")].map((e) => {
                const l = lum(getComputedStyle(e).stroke);
                return (Math.max(l, under) + 0.05) / (Math.min(l, under) + 0.05);
            });
        });
        ok(contrast.length === 3 && contrast.every((c) => c > 3),
            `growth chart: lines can be seen in the ${theme} theme`, contrast.join());
        await untroubled(page, theme);
    }
    const page = await explore(FOLDED, { hash: "#time=1~3&theme=dark" });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    is(await page.locator("polyline").count(), 3, "growth chart: it is printed");
    ok(await page.locator(".growth-reset").isHidden(), "growth chart: its buttons are not printed");
    is(await page.evaluate(() => document.documentElement.dataset.theme), "light",
        "growth chart: it is printed in light colours");
    await untroubled(page, "print");
    const small = await explore(FOLDED, { width: 640, height: 400 });
    near(await small.evaluate(() => document.documentElement.scrollWidth), 640, 0,
        "growth chart: a small window has room for it");
    await untroubled(small, "small");
}

async function several() {
    // Three stacks of one function in other lines are one; what shrank is not drawn.
    const moments = [0, 1, 2].map((s) => [s * 1e6, 10, 0, 0]);
    const page = await explore("# flame: view=live unit=bytes\nm;f a.c:1 5\nm;f a.c:2 5\n" +
        timed(moments, { "m;f a.c:1": [[0, 3], [1, 5]], "m;f a.c:2": [[0, 7], [2, 5]] }));
    await page.mouse.click(...await at(page, 0));
    is(await row(page, 2), "f:10", "one view: lines of one function add up");
    is(await text(page, "#title"), "Memory live at 0 s", "one view: the title has the moment");
    await hover(page, "f");
    ok(/a\.c:2, 70\.00%/.test(await text(page, "#tooltip")),
        "one view: the tooltip has the lines", await text(page, "#tooltip"));
    await untroubled(page, "lines");
    const named = await explore("# flame: view=live unit=bytes\nm;f 5\n" + timed(moments, { "m;f": [[0, 3]] }),
        { hash: "#time=1" }, "--title", "Mine");
    is(`${await text(named, "#title")}; ${await text(named, "#subtitle")}`, "Mine; Memory live at 1 s \u00b7 3 B",
        "growth chart: a title of the reader's own stays, and the subtitle has the moment");
    await untroubled(named, "named");
}

await main(async () => {
    await chart();
    await brushing();
    await keys();
    await address();
    await marks();
    await looks();
    await several();
});
