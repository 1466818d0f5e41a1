#!/usr/bin/env node
// A page of very many frames makes its shapes in a Worker and stays usable meanwhile: what is shown in the
// end is the same as without one, it can be given up, and searches wait for the hand.
import { is, main, ok, open, renderTo } from "./page.mjs";
import { quiet, row, text, untroubled } from "./explorer.mjs";

const FOLDED = Array.from({ length: 40000 }, (_, i) =>
    `a${i % 300};b${i % 3000};c${i};d${i};e${i % 7} ${1 + i % 7}\n`).join("");
const path = renderTo("html", FOLDED);

// A page whose browser is as `script` makes it. Blobs are no requests to anybody.
async function large(script, hash = "") {
    const page = await open(path, { ...quiet, hash: "" });
    if (script) {
        // For no other page.
        page.settings = JSON.stringify({ ...JSON.parse(page.settings), script: String(script) });
        await page.addInitScript(script);
    }
    await page.goto("about:blank");
    await page.goto(`file://${path}${hash}`);
    await page.waitForFunction(() => performance.getEntriesByName("flame-drawn").length);
    return page;
}
const still = (page, name) => {
    page.trouble = page.trouble.filter((s) => !/^request: (blob:|about:)/.test(s));
    return untroubled(page, name);
};
const settled = (page) => page.waitForFunction(() => !document.documentElement.classList.contains("working") &&
    !document.getElementById("search").classList.contains("waiting"));
const press = (page, selector) => page.evaluate((s) => {
    document.querySelector(s).click();
    return document.documentElement.classList.contains("working");
}, selector);
const CALLERS = "#layouts [data-value=callers]", CALLEES = "#layouts [data-value=forward]";

// Visible state of the page after each step.
async function story(page, name, beside) {
    const seen = [];
    const note = async () => seen.push([await row(page, 1), await text(page, "#facts"), await text(page, "#subtitle")].join(" / "));
    await note();
    is(await press(page, CALLERS), beside, `${name}: callers are made ${beside ? "beside the page" : "by the page"}`);
    await settled(page);
    await note();
    await page.evaluate(() => {
        const query = document.getElementById("query");
        query.value = "^e[0-3]$";
        document.getElementById("regex").click();
        query.dispatchEvent(new Event("input"));
    });
    await settled(page);
    await page.locator("#filter").click();
    await page.locator("#menu button").filter({ hasText: "Leave out" }).click();
    await settled(page);
    await note();
    is(await press(page, "[name=order][value=size]"), beside,
        `${name}: another order is made ${beside ? "beside the page" : "by the page"}`);
    await settled(page);
    await note();
    await press(page, CALLEES);
    await settled(page);
    await note();
    await still(page, name);
    return seen.join("\n");
}

await main(async () => {
    const page = await large(null);
    ok(await page.evaluate(() => document.querySelector(".chart-canvas").chart.graph.n) > 100000,
        "the page has more than 100,000 frames");
    const beside = await story(page, "with a Worker", true);
    const alone = await story(await large(() => {
        delete window.Worker;
    }), "without one", false);
    is(beside, alone, "the page with a Worker shows the same as the page without");
    is(new Set(beside.split("\n")).size, 5, "each of the five views is different");
    const failed = await large(() => {
        const Real = window.Worker;
        window.Worker = class extends Real {
            constructor() {
                super(URL.createObjectURL(new Blob(["throw new Error('no')"])));
            }
        };
    });
    await press(failed, CALLERS);
    await failed.waitForFunction(() => document.querySelector(".chart-canvas").chart.reversed);
    is(await row(failed, 1), alone.split("\n")[1].split(" / ")[0],
        "a page with a failed Worker makes the callers itself");
    failed.trouble = failed.trouble.filter((s) => !/no/.test(s));
    await still(failed, "a failed Worker");

    const given = await large(null);
    const before = await row(given, 1);
    const [working, layout] = await given.evaluate(([s]) => {
        document.querySelector(s).click();
        const on = !document.getElementById("working").hidden;
        document.getElementById("working-cancel").click();
        return [on, document.querySelector("#layouts [aria-pressed=true]").dataset.value];
    }, [CALLERS]);
    ok(working, "a button to cancel is visible while the page works");
    is(layout, "forward", "cancel: the button shows the layout on the page");
    is(await row(given, 1), before, "cancel: the page shows what it did before");
    ok(await given.locator("#working").isHidden(), "cancel: the page does not show that it works");
    await given.waitForFunction(() => !location.hash.includes("callers"));
    await press(given, CALLERS);
    await given.keyboard.press("Escape");
    is(await given.evaluate(() => document.documentElement.classList.contains("working")), false,
        "cancel: Escape works");
    await press(given, CALLERS);
    await press(given, CALLEES);
    await settled(given);
    is(await row(given, 1), before, "the last of two layouts is shown");
    await still(given, "given up");

    const search = await large(null);
    const typed = await search.evaluate(() => {
        const query = document.getElementById("query"), seen = [];
        for (const s of ["e", "e1", "e12"]) {
            query.value = s;
            query.dispatchEvent(new Event("input"));
            seen.push(document.getElementById("matched").textContent);
        }
        return seen.join();
    });
    is(typed, ",,", "a search waits while text is typed");
    await settled(search);
    ok(/\u00b7/.test(await text(search, "#matched")), "a search begins after a pause");
    await search.locator("#query").fill("c77");
    await search.locator("#query").press("Enter");
    ok(await search.evaluate(() => {
        const { chart } = document.querySelector(".chart-canvas");
        return chart.selected >= 0 && /c77/.test(chart.profile.names[chart.graph.name[chart.selected]]);
    }), "Enter starts a search at once");
    await still(search, "search");

    const linked = await large(null, "#layout=callers");
    is(await row(linked, 1), alone.split("\n")[1].split(" / ")[0], "a link to callers shows them");
    await still(linked, "a link");
});
