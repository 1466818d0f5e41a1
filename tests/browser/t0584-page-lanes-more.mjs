#!/usr/bin/env node
// The lanes of several recordings on one page: those of the first, and the page says so.
import { explore, text, untroubled } from "./explorer.mjs";
import { main, ok } from "./page.mjs";
import { bytesOf, pack } from "./packed.mjs";

const recording = (name) => `# flame: view=off unit=us\n${name};sleep 2000\n` +
    "# lanes: begin rows=1 threads=1 short=0 window=0 lost=0\n" +
    `# lanes: thread pid=1 tid=1 uses=1 wall=9000000 cpu=0 runq=0 name=${bytesOf(name)} title=\n` +
    `# lanes: rows thread=${pack([0])} kind=${pack([6])} waker=${pack([0])}\n` +
    `# lanes: in off ${name};sleep rows=${pack([0])}\n` +
    `# lanes: waits thread=0 n=1 data=${pack([0, 1e6, 2e6, 0, 0])}\n`;

await main(async () => {
    const one = await explore(recording("a"));
    ok(!(await text(one, ".lanes-text")).includes("recordings"),
        "lanes: one recording has no words on others", await text(one, ".lanes-text"));
    await untroubled(one, "one");
    const two = await explore(recording("a") + recording("b"));
    ok((await text(two, ".lanes-text")).includes("1 thread, 1 wait \u00b7 of the first of 2 recordings"),
        "lanes: the first of two recordings is shown", await text(two, ".lanes-text"));
    await untroubled(two, "two");
});
