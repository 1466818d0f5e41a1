#!/usr/bin/env node
// Regions that a program marks in the lanes of threads: a line above the lane with the region's name, in
// words in titles, a click on it and R take its time as the range, a switch in the legend and by key, its
// state in the address; what cannot be is left aside, and names are text whatever they are.
import { explore, text, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";
import { bytesOf, fold, pack, steps } from "./packed.mjs";

const MS = 1e6, ODD = "<img src=x onerror=alert(1)>&\"'";
const wait = (row, begin, end) => pack([row * 4, begin * MS, (end - begin) * MS, fold(0), 0]);
const LANES = `# flame: view=off unit=us
app;main;lock 2000
worker;read 2000
# lanes: begin rows=2 threads=2 short=0 window=0 lost=0
# lanes: thread pid=10 tid=11 uses=1 wall=10000000 cpu=0 runq=0 name=${bytesOf("app")} title=
# lanes: thread pid=10 tid=12 uses=1 wall=10000000 cpu=0 runq=0 name=${bytesOf("worker")} title=
# lanes: rows thread=${pack([0, 1])} kind=${pack([1, 4])} waker=${pack([2, 0])}
# lanes: in off app;main;lock rows=${steps([0])}
# lanes: in off worker;read rows=${steps([1])}
# lanes: waits thread=0 n=1 data=${wait(0, 1, 3)}
# lanes: waits thread=1 n=1 data=${wait(1, 4, 6)}
`;
// "request" in thread 11 from 1 to 3.5 ms, the odd one within it from 1.5 to 2.5; in thread 12 from 5 to 6.
const region = (name, n, list) => `# lanes: region n=${n} name=${bytesOf(name)} data=${pack(list.flatMap(
    ([thread, begin, end], i) => [thread, (begin - (i ? list[i - 1][1] : 0)) * MS, (end - begin) * MS]))}\n`;
const REGIONS = region("request", 2, [[0, 1, 3.5], [1, 5, 6]]) + region(ODD, 1, [[0, 1.5, 2.5]]);

const ask = (page, what) => page.evaluate((code) =>
    Function("chart", "return " + code)(document.querySelector(".lanes-plot").chart), what);
const settle = (page) => page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
const hash = async (page) => {
    await page.waitForTimeout(400);
    return page.evaluate(() => location.hash);
};
// Clicks on the line above the lane of a thread, at a time.
async function click(page, lane, ms) {
    const [x, y] = await ask(page, `(() => { const box = chart.plot.getBoundingClientRect();
        return [box.left + chart.x(${ms * MS}), box.top + chart.y(chart.rowOf.get(${lane})) + 1]; })()`);
    await page.mouse.click(x, y);
    await settle(page);
}
const range = (page) => ask(page, "(chart.shown.range || []).map((t) => t / 1e6).join()");

async function drawn() {
    for (const colorScheme of ["light", "dark"]) {
        const page = await explore(LANES + REGIONS, { colorScheme });
        is(await ask(page, "[...new Set(chart.regions.drawn.map((d) => d.region.name))].join('|')"),
            "request|" + ODD, `${colorScheme}: regions are drawn`);
        // The color of the line itself, in the middle of the request.
        is(await page.evaluate(() => {
            const { chart } = document.querySelector(".lanes-plot"), ratio = devicePixelRatio;
            const got = chart.ctx.getImageData(Math.round(chart.x(3.21e6) * ratio),
                Math.round((chart.y(chart.rowOf.get(0)) + 1) * ratio), 1, 1).data;
            const probe = document.createElement("canvas").getContext("2d");
            probe.fillStyle = chart.shown.theme.accent;
            probe.fillRect(0, 0, 1, 1);
            return [...got].join() === [...probe.getImageData(0, 0, 1, 1).data].join();
        }), true, `${colorScheme}: regions have the accent colour`);
        await untroubled(page, colorScheme);
    }
}

async function chosen() {
    const page = await explore(LANES + REGIONS);
    await click(page, 0, 1.2);
    is(await range(page), "1,3.5", "regions: a click selects the time of one");
    await click(page, 0, 2.2);
    is(await range(page), "1.5,2.5", "regions: a click selects the innermost one");
    const link = await hash(page);
    ok(/laneRange=1500000(~|%7E)2500000/.test(link),
        "regions: the address has the selected time", link);
    await ask(page, "chart.choose({ lane: 1, wait: 0 })");
    await page.locator(".lanes-plot").focus();
    await page.keyboard.press("r");
    await settle(page);
    is(await range(page), "1.5,2.5",
        "regions: R changes nothing for a wait that began in no region");
    await ask(page, "chart.choose({ lane: 0, wait: 0 })");
    await page.locator(".lanes-plot").focus();
    await page.keyboard.press("r");
    await settle(page);
    is(await range(page), "1,3.5", "regions: R selects the region that a wait began in");
    const title = await ask(page, "chart.between(0, 2e6) + '|' + chart.sentence({ lane: 0, wait: 0 })");
    ok(title.includes(`; in region ${ODD}, which took 1.00 ms`),
        "regions: the title of a wait has the name of its region", title);
    is(await page.locator("img[src=x]").count(), 0, "regions: hostile names are text");
    await untroubled(page, "chosen");
}

async function switched() {
    const page = await explore(LANES + REGIONS);
    ok((await text(page, ".lanes-legend")).includes("Regions"), "regions: the legend has them");
    await page.locator(".lanes-regions input").uncheck();
    await settle(page);
    is(await ask(page, "chart.regions.drawn.length"), 0, "regions: the switch hides them");
    const link = await hash(page);
    ok(/[#&]regions=0/.test(link), "regions: the address has hidden regions", link);
    const again = await explore(LANES + REGIONS, { hash: link });
    is(await ask(again, "chart.regions.drawn.length"), 0,
        "regions: an address with hidden regions shows none");
    await again.locator(".lanes-plot").focus();
    await again.keyboard.press("g");
    await settle(again);
    ok(await ask(again, "chart.regions.drawn.length > 0"), "regions: G shows them");
    ok(!/[#&]regions=0/.test(await hash(again)), "regions: G updates the address");
    await untroubled(again, "again");
    await untroubled(page, "switched");
}

async function none() {
    for (const [what, line] of [["no region", ""], ["a thread that is not there", region("x", 1, [[2, 1, 2]])],
        ["fewer than said", region("x", 2, [[0, 1, 2]])], ["no name", "# lanes: region n=0 data=\n"]]) {
        const page = await explore(LANES + line);
        is(await page.locator(".lanes-regions").count(), 0,
            `regions, ${what}: the legend has no switch`);
        ok((await text(page, ".lanes-text")).includes("2 threads"),
            `regions, ${what}: the lanes are shown`);
        await untroubled(page, what);
    }
}

await main([drawn, chosen, switched, none]);
