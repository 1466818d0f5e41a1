#!/usr/bin/env node
// A search in the lanes: the waits whose stacks match have a band, and a button, a key and a frame's menu go from
// one to the next, the longest first.
import { choose, explore, text, untroubled } from "./explorer.mjs";
import { lanes, SLEEP, SUM } from "./lanetext.mjs";
import { is, main, ok } from "./page.mjs";

const FOLDED = "# flame: view=off unit=us\napp;main;lock 6000\napp;main;nap 3000\napp;worker;lock 1500\n" +
    lanes([[10, 11, "app"], [10, 12, "app"]], [[0, 1, -1], [0, 6, -1], [1, 1, -1]],
        [["off", "app;main;lock", [0]], ["off", "app;main;nap", [1]], ["off", "app;worker;lock", [2]]],
        [[[SLEEP, 0, 0, 2, 0], [SLEEP, 1, 2, 5, 0], [SLEEP, 0, 6, 10, 0]], [[SUM, 2, 4, 8, 0, [1.5, 3, 0.6]]]]);

const detail = (page) => text(page, ".lanes-detail");
// Whether the lane of a thread has the band at that time, by the colour of its first row of pixels.
const banded = (page, tid, ms) => page.evaluate(([thread, t]) => {
    const { chart } = document.querySelector(".lanes-plot"), { canvas } = chart;
    const lane = chart.data.lanes.findIndex((l) => chart.data.threads[l.thread].tid === thread);
    const ratio = canvas.width / canvas.getBoundingClientRect().width, copy = document.createElement("canvas")
        .getContext("2d", { willReadFrequently: true });
    copy.fillStyle = chart.shown.theme.accent;
    copy.fillRect(5, 5, 1, 1);
    copy.drawImage(canvas, -Math.round(chart.x(t * 1e6) * ratio), -Math.round(chart.y(chart.rowOf.get(lane)) * ratio), canvas.width, canvas.height);
    const pixel = [...copy.getImageData(0, 0, 1, 1).data].join();
    copy.fillRect(0, 0, 1, 1);
    return pixel === [...copy.getImageData(0, 0, 1, 1).data].join();
}, [tid, ms]);

async function searched() {
    const page = await explore(FOLDED, { hash: "#q=lock" });
    ok((await text(page, ".lanes-text")).includes("3 waits match"), "lanes: a search counts the waits that match",
        await text(page, ".lanes-text"));
    for (const [tid, ms, want] of [[11, 1, true], [11, 3, false], [11, 5.5, false], [11, 8.3, true], [12, 6.3, true], [12, 9, false]])
        is(await banded(page, tid, ms), want, `lanes: thread ${tid} at ${ms} ms ${want ? "matches" : "does not match"}`);
    const next = page.locator(".lanes-head button[title^='The next match']");
    for (const [at, want] of [[1, "4.00 ms"], [2, "2.00 ms"], [3, "3 times, 1.50 ms"], [3, "3 times, 1.50 ms"]]) {
        await next.click();
        ok((await detail(page)).includes(want), `lanes: match ${at} is ${want} long`, await detail(page));
        ok((await text(page, ".lanes-text")).includes(`match ${at} of 3`), `lanes: the page shows that it is match ${at}`);
    }
    await page.locator(".lanes-plot").focus();
    await page.keyboard.press("Shift+N");
    ok((await detail(page)).includes("2.00 ms"), "lanes: Shift and N go back", await detail(page));
    await page.locator("#query").fill("nothing");
    ok((await text(page, ".lanes-text")).includes("0 waits match"), "lanes: a search without a match says so");
    ok(await next.isHidden(), "lanes: without a match there is no button");
    is(await banded(page, 11, 1), false, "lanes: without a match there is no band");
    await untroubled(page, "searched");
}

async function fromFrame() {
    const page = await explore(FOLDED);
    ok(!(await text(page, ".lanes-text")).includes("match"), "lanes: without a search nothing is said of matches");
    await choose(page, "nap", "Its longest waits in the lanes");
    ok((await detail(page)).includes("3.00 ms"), "lanes: a frame's menu leads to its longest wait", await detail(page));
    await untroubled(page, "fromFrame");
}

await main([searched, fromFrame]);
