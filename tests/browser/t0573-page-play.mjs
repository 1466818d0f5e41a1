#!/usr/bin/env node
// The moments of a chart of memory are played, one after the other, by a button and by a key; stopped
// by either and by the choice of a moment; without animations where the reader wants less motion.
import { explore, text, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";
import { pack, steps } from "./packed.mjs";

const N = 6, grow = (v) => steps(Array.from({ length: N }, (_, i) => i * v));
const HEAD = "# flame: view=live unit=bytes\nm;a 5000\n";
const FOLDED = HEAD + `# moments: axis n=${N} us=${grow(1e6)} live=${grow(1000)} mapped=${grow(0)} rss=${grow(0)}\n` +
    `# moments: live m;a changes=${pack([1, 2000, 1, 2000, 1, 2000, 1, 2000, 1, 2000])}\n`;

// Every moment that the address or the title is told, in order.
const watch = (page) => page.evaluate(() => {
    window.seen = [];
    new MutationObserver(() => window.seen.push(document.querySelector("#title").textContent))
        .observe(document.querySelector("#title"), { childList: true, characterData: true, subtree: true });
});
const seen = (page) => page.evaluate(() => [...new Set(window.seen)]);
const playing = (page) => page.locator(".play").getAttribute("aria-pressed");
const ended = (page) => page.waitForFunction(() =>
    document.querySelector(".play").getAttribute("aria-pressed") === "false");

async function played(reducedMotion) {
    const page = await explore(FOLDED, { reducedMotion });
    is(await playing(page), "false", `${reducedMotion}: nothing plays by itself`);
    await watch(page);
    await page.locator(".play").click();
    is(await playing(page), "true", "play: the button starts");
    await ended(page);
    is((await seen(page)).map((s) => s.replace(/^.* at /, "")).join(), "0 s,1 s,2 s,3 s,4 s,5 s",
        "play: all moments are shown in order");
    ok((await text(page, "#title")).endsWith("at 5 s"), "play: the last moment stays");
    await page.waitForTimeout(400);
    ok((await page.evaluate(() => location.hash)).includes("time=5"),
        "play: the address has the last moment");
    await untroubled(page, `played ${reducedMotion}`);
}

async function stopped() {
    const page = await explore(FOLDED, { reducedMotion: "reduce" });
    await page.locator(".growth-plot").focus();
    await page.keyboard.press("Space");
    is(await playing(page), "true", "play: Space starts");
    await page.keyboard.press("Space");
    is(await playing(page), "false", "play: Space stops");
    const at = await text(page, "#title");
    await page.waitForTimeout(700);
    is(await text(page, "#title"), at, "play: nothing changes after it has stopped");
    await page.keyboard.press("Space");
    await page.keyboard.press("End");
    await ended(page);
    ok((await text(page, "#title")).endsWith("at 5 s"), "play: the choice of a moment stops it");
    await untroubled(page, "stopped");
    const one = await explore(HEAD + "# moments: axis n=1 us=AA== live=AA== mapped=AA== rss=AA==\n");
    ok(await one.locator(".play").isHidden(), "play: a page of one moment has no button");
    await untroubled(one, "one");
}

await main(async () => {
    await played("reduce");
    await played("no-preference");
    await stopped();
});
