#!/usr/bin/env node
// The view of who keeps memory: a frame's menu answers who keeps what a function allocated.
import { is, main, ok, open, renderTo } from "./page.mjs";
import { quiet, row, text, untroubled } from "./explorer.mjs";

const FOLDED = `# flame: view=kept unit=bytes
app;[globals of app];cache;push 1000
app;[globals of app];table;fill;push 300
app;[stack of app];main;get 50
`;

await main(async () => {
    const page = await open(renderTo("html", FOLDED), quiet);
    ok(/cache of app keeps most: 1,000 bytes/.test(await text(page, "#findings")), "the first finding is who keeps most");
    await page.evaluate(() => {
        const { chart } = document.querySelector(".chart-canvas"), { graph, profile } = chart;
        for (let node = 0; node < graph.n; node++)
            if (profile.names[graph.name[node]] === "push")
                return chart.listener.menu(chart, node, 200, 200);
    });
    const item = page.locator("#menu button", { hasText: "who keeps it" });
    is(await item.evaluate((e) => e.firstChild.data), "Sandwich: who keeps it, and what it keeps", "its menu has the question");
    await item.click();
    is(await row(page, 0, 0), "push:1300", "the answer has all blocks of the function");
    is((await row(page, 1, 0)).split(" ").sort().join(" "), "cache:1000 fill:300", "and the chains to their keepers, merged");
    await untroubled(page, "kept");
});
