#!/usr/bin/env node
// A file that a page saves of a moment says so, and is read back as of that moment; the legend names
// packages that only call others, behind those that took something themselves.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { is, main } from "./page.mjs";
import { explore, untroubled } from "./explorer.mjs";
import { pack, steps, fold } from "./packed.mjs";

const flame = process.env.FLAME || "build/flame";

// The first line of what is saved, and what fold makes of all of it.
async function saved(page) {
    const [download] = await Promise.all([page.waitForEvent("download"), (async () => {
        await page.locator("#share").click();
        await page.locator("#menu button").filter({ hasText: "Folded" }).click();
    })()]);
    const path = await download.path(), head = readFileSync(path, "utf8").split("\n")[0];
    const title = execFileSync(flame, ["render", "-f", "svg", path], { encoding: "utf8" });
    page.trouble = page.trouble.filter((s) => !s.startsWith("request: blob:")); /* no requests to anybody */
    return [head, / at 2 s/.test(title)];
}

const AXIS = [0, 1000000, 2000000, 3500000], LEVELS = [100, 400, 900, 700];
const word = (list) => steps(list);
const TIMELINE = "# flame: view=alloc unit=bytes\nm;a 900\n# flame: view=live unit=bytes\nm;a 700\n" +
    `# moments: axis n=4 us=${word(AXIS)} live=${word(LEVELS)} mapped=${word([0, 0, 0, 0])} rss=${word(LEVELS)}\n` +
    `# moments: live m;a changes=${pack(LEVELS.flatMap((v, i) => [i ? 1 : 0, fold(v - (i ? LEVELS[i - 1] : 0))]))}\n`;
const SERIES = [0.5, 2, 7].map((t, i) => `# flame: view=live unit=bytes time=${t}\nm;a ${100 * (i + 1)}\n`).join("");

await main(async () => {
    for (const [what, text, hash, head] of [
        ["the end", TIMELINE, "#column=live", "# flame: view=live unit=bytes"],
        ["a moment", TIMELINE, "#column=live&time=2", "# flame: view=live unit=bytes time=2"],
        ["growth", TIMELINE, "#column=live&time=1~3.5", "# flame: view=live unit=bytes from=1 to=3.5"],
        ["another view", TIMELINE, "#column=alloc", "# flame: view=alloc unit=bytes"],
        ["all of a series", SERIES, "", "# flame: view=live unit=bytes"],
        ["one of a series", SERIES, "#moments=1~1", "# flame: view=live unit=bytes time=2"],
        ["some of a series", SERIES, "#moments=0~1", "# flame: view=live unit=bytes from=0.5 to=2"],
    ]) {
        const page = await explore(text, { hash }), [line, at] = await saved(page);
        is(line, head, `${what}: the saved file has its moment`);
        is(at, head.endsWith("time=2"), `${what}: the picture of the saved file has its moment`);
        await untroubled(page, what);
    }

    const page = await explore("alpha::run;beta::go;gamma::do 5\nalpha::run;beta::go;delta::do 9\n");
    const keys = (await page.locator("#legend .legend-key").allTextContents()).slice(2);
    is(keys.join(), "delta,gamma,alpha,beta", "the legend names packages without own counts last");
    await untroubled(page, "legend");
});
