#!/usr/bin/env node
// t0569: the sentences of a page and of a picture: each leads to what it is about, by mouse, keys and
// link; folded in a low window and as the reader wants; anybody's names.
import { done, is, main, ok, open, render } from "./page.mjs";
import { crumbs, explore, shownTab, text, untroubled } from "./explorer.mjs";

const rest = Array.from({ length: 60 }, (_, i) => `app;main;rest;f${i} 1024\n`).join("");
const STACKS = "# flame: view=alloc unit=bytes\napp;main;emit 9000000\napp;main;load;parse p.c:9;malloc 90\n" +
    "# flame: view=peak unit=bytes\napp;main;load;parse p.c:12;xmalloc;malloc 3145728\n" +
    "app;main;load;parse p.c:14;malloc 1048576\napp;main;emit 1048576\n" + rest;
const FIRST = "parse (p.c:12) holds most at the peak: 4.00 MiB of 5.06 MiB (79.07%)";

const links = (page) => page.locator("#findings a");
const shown = (page) => page.locator("#findings-list").isVisible();
const address = (page, has) => page.waitForFunction((s) =>
    decodeURIComponent(location.hash.replaceAll("+", " ")).includes(s), has);

async function list() {
    const page = await explore(STACKS);
    is(await links(page).first().innerText(), FIRST, "findings: the first sentence is right");
    ok(await shown(page), "findings: the list is in sight");
    await links(page).first().click();
    is(await shownTab(page), "peak", "findings: a click shows the column of the sentence");
    is(await crumbs(page), "all app main load parse",
        "findings: a click zooms to the frame of the sentence");
    is(await text(page, "#details"), "parse: 4.00 MiB, 79.07%",
        "findings: a click selects the frame of the sentence");
    await address(page, "zoom=;app;main;load;parse");
    await page.goBack();
    is(await shownTab(page), "alloc", "findings: Back restores the column");
    is(await crumbs(page), "all", "findings: Back undoes the zoom");
    const href = await links(page).first().getAttribute("href");
    const other = await explore(STACKS, { hash: href });
    is(await crumbs(other), "all app main load parse",
        "findings: a link zooms to the frame of its sentence");
    is(await shownTab(other), "peak", "findings: a link shows the column of its sentence");
    await untroubled(other, "link");

    await page.locator("#findings button").first().focus();
    await page.keyboard.press("Tab");
    is(await page.evaluate(() => document.activeElement.textContent), FIRST,
        "findings: Tab moves the focus to the first sentence");
    await page.keyboard.press("Enter");
    is(await crumbs(page), "all app main load parse",
        "findings: Enter zooms to the frame of the sentence");
    await page.locator("#query").fill("emit");
    await links(page).nth(1).click();
    is(await page.locator("#query").inputValue(), "",
        "findings: a click on a sentence clears the search");
    await untroubled(page, "list");
}

async function fold() {
    const page = await explore(STACKS);
    await page.keyboard.press("w");
    ok(!await shown(page), "findings: W folds the list");
    is(await page.locator("#findings .fold").getAttribute("aria-expanded"), "false",
        "findings: the button of a folded list is not expanded");
    await address(page, "findings=folded");
    const other = await explore(STACKS, { hash: await page.evaluate(() => location.hash) });
    ok(!await shown(other), "findings: a link keeps a folded list");
    await other.locator("#findings .fold").click();
    ok(await shown(other), "findings: a click unfolds the list");
    await untroubled(other, "unfold");
    await page.setViewportSize({ width: 640, height: 400 });
    await untroubled(page, "fold");

    const low = await explore(STACKS, { width: 640, height: 400 });
    ok(!await shown(low), "findings: a low window has a folded list");
    const without = await explore(STACKS, { width: 640, height: 400 }, "--no-findings");
    const room = (where) => where.evaluate(() => document.getElementById("main").clientHeight);
    ok(await room(without) - await room(low) <= 22, "findings: a low window has them in one line");
    await untroubled(without, "without");
    await low.keyboard.press("w");
    ok(await shown(low), "findings: W unfolds the list in a low window");
    await untroubled(low, "low");
    const print = await explore(STACKS, { hash: "#theme=dark" });
    const color = await links(print).first().evaluate((a) => getComputedStyle(a).color);
    is(color, "rgb(223, 226, 232)", "findings: text is bright in a dark theme");
    await untroubled(print, "dark");
}

async function others() {
    const one = await explore("# flame: view=live unit=bytes\na;</a><b>x</b><script>alert(1)</script> 5000\n");
    is(await page_html(one), 0, "findings: hostile names add no element");
    ok((await links(one).first().innerText()).startsWith("</a><b>x</b><script>alert(1)"),
        "findings: a hostile name is shown as text");
    await untroubled(one, "hostile");
    const none = await explore(STACKS, {}, "--no-findings");
    is(await none.locator("#findings").count(), 0,
        "--no-findings: the page has no list of findings");
    await none.keyboard.press("w");
    await untroubled(none, "none");
    const change = await explore("a;f 1000 5000\na;g 1000 2000\na;h 3000 2500\n");
    is((await links(change).allInnerTexts()).map((s) => s.slice(0, 6)).join(), "f grew,h shra",
        "findings: a comparison has sentences on growth and decline");
    await links(change).nth(1).click();
    is(await crumbs(change), "all a h",
        "findings: a sentence of a comparison leads to what shrank");
    await untroubled(change, "change");
}
const page_html = (page) => page.locator("#findings b, #findings script").count();

async function picture() {
    const drawn = render("# flame: view=peak unit=bytes\napp;main;load;a+b %26;malloc 4000\napp;main;emit 96000\n" +
        rest);
    const page = await open(drawn);
    const zoomed = () => page.evaluate(() => document.querySelectorAll("#frames .parent").length);
    is(await zoomed(), 0, "picture: all frames are shown at first");
    await page.locator("#findings a").first().click();
    await page.waitForFunction(() => document.querySelectorAll("#frames .parent").length === 3);
    ok(true, "picture: a click on a sentence zooms to its frame");
    is(new URL(page.url()).hash, "#p=app%3Bmain%3Bemit",
        "picture: the address has the frame of the sentence");
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll("#frames .parent").length === 0);
    ok(true, "picture: Back undoes the zoom of a sentence");
    await page.locator("#findings a").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("#frames .parent").length === 3);
    ok(true, "picture: keys zoom to the frame of a sentence");
    is(page.trouble.join("\n"), "", "picture: sentences cause no script error and no request");
    await done(page);
    const narrow = await open(drawn, { width: 300 });
    ok(await narrow.evaluate(() => [...document.querySelectorAll("#findings text")].every((t) =>
        t.getBoundingClientRect().right <= innerWidth)),
        "picture: a sentence is cut to fit the window");
    await done(narrow);
    const odd = await open(render("# flame: view=peak unit=bytes\napp;main;a+b %26;malloc 4000\n"));
    await odd.locator("#findings a").first().click();
    await odd.waitForFunction(() => document.querySelectorAll("#frames .parent").length === 3);
    ok(true, "picture: a sentence leads to a frame with special characters in its name");
    await done(odd);
}

await main(async () => {
    await list();
    await fold();
    await others();
    await picture();
});
