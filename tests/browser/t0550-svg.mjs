#!/usr/bin/env node
// The SVG in a browser: hover, zoom, search, the address, keys, hostile names.
import { done, file, is, main, near, ok, open, render } from "./page.mjs";

const FOLDED = `# flame: view=live unit=bytes
app;main;parse;alloc 1572864
app;main;parse;alloc;alloc;alloc 524288
app;main;emit;alloc 1048576
app;main;Emit 524288
app;exit 524288
`;

// Visible state of frame NAME: place, label, whether it is hidden or faded.
const frame = (page, name, nth = 0) => page.evaluate(([wanted, at]) => {
    const g = [...document.querySelectorAll("#frames > g")]
        .filter((e) => e.querySelector("title").textContent.startsWith(wanted + " ("))[at];
    const rect = g.querySelector("rect"), shown = rect.getBoundingClientRect().width > 0;
    /* Firefox counts the stroke to what getBoundingClientRect tells. */
    const box = shown ? rect.getBBox() : { x: 0, width: 0 };
    return {
        x: box.x, width: box.width, shown,
        label: g.querySelector("text").textContent,
        fill: getComputedStyle(g.querySelector("rect")).fill,
        opacity: Number(getComputedStyle(g.querySelector("rect")).opacity),
    };
}, [name, nth]);
const text = (page, id) => page.evaluate((i) => document.getElementById(i).textContent, id);
// Each button has a tip for the mouse; only what is drawn counts.
const label = (page, id) => page.evaluate((i) =>
    document.getElementById(i).firstChild.nodeValue, id);
const visible = (page, id) => page.locator(`#${id}`).isVisible();
const on = (page, name, nth = 0) =>
    page.locator("#frames > g").filter({ hasText: new RegExp(`^${name} \\(`) }).nth(nth);
const matched = (page, want) => page.waitForFunction(
    (w) => document.getElementById("matched").textContent.startsWith(w), want);

async function hover() {
    const page = await open(render(FOLDED));
    is(await text(page, "title"), "Memory live at the end", "the picture shows its title");
    is(await text(page, "details"), "", "the details line is empty at first");
    await on(page, "parse").hover();
    is(await text(page, "details"), "Function: parse (2.00 MiB, 2,097,152 bytes, 50.00%)",
        "a pointer on a frame shows its value in human and exact form, and its percentage");
    await page.mouse.move(5, 5);
    is(await text(page, "details"), "",
        "the details line is empty after the pointer has left the frame");
    is((await frame(page, "main")).label, "main", "frames are labelled");
    is(page.trouble.join("\n"), "", "hover: the picture causes no script error and no request");
    await done(page);
}

async function zoom() {
    const page = await open(render(FOLDED));
    const before = await frame(page, "parse");
    ok(!await visible(page, "unzoom"), "the zoom button is hidden before a zoom");
    await on(page, "parse").click();
    const parse = await frame(page, "parse");
    near(parse.width, 1180, 1, "the clicked frame fills the width");
    near(parse.x, 10, 0.5, "a zoomed frame begins at the left edge");
    is(parse.opacity, 1, "a zoomed frame is not faded");
    const root = await frame(page, "main");
    near(root.width, 1180, 1, "ancestors of a zoomed frame take the whole width");
    ok(root.opacity < 0.7, "ancestors of a zoomed frame are faded");
    near((await frame(page, "alloc", 1)).width, 1180, 1,
        "a child of a zoomed frame keeps its share");
    near((await frame(page, "alloc", 2)).width, 295, 1,
        "a nested frame of a zoomed frame keeps its share");
    ok(!(await frame(page, "emit")).shown, "a zoom hides the frames outside the zoomed frame");
    ok(await visible(page, "unzoom"), "Reset Zoom is visible after a zoom");
    await on(page, "alloc", 2).click();
    near((await frame(page, "alloc", 2)).width, 1180, 1,
        "a second zoom inside a zoomed frame works");
    await on(page, "main").click();
    near((await frame(page, "main")).width, 1180, 1, "a click on a faded ancestor zooms to it");
    ok((await frame(page, "emit")).shown, "zooming out shows the other children again");
    await page.locator("#unzoom").click();
    const after = await frame(page, "parse");
    near(after.x, before.x, 0.1, "reset: frames are where they were before the zoom");
    near(after.width, before.width, 0.1, "reset: widths are as before");
    is(after.opacity, 1, "reset: no frame is faded");
    await on(page, "parse").click();
    await page.goBack();
    near((await frame(page, "parse")).width, before.width, 0.1, "Back undoes a zoom");
    await on(page, "parse").click();
    await page.keyboard.press("Escape");
    near((await frame(page, "parse")).width, before.width, 0.1, "Escape undoes a zoom");
    is(page.trouble.join("\n"), "", "zoom: the picture causes no script error and no request");
    await done(page);
}

async function search() {
    const page = await open(render(FOLDED));
    ok(!await page.locator("#searchbox").count(), "there is no search box at first");
    await page.keyboard.press("Control+f");
    ok(await page.locator("#searchbox input").isVisible(), "Ctrl-F opens the search box");
    await page.keyboard.type("/^alloc$/");
    await matched(page, "Matched: 75.00%, 1 name");
    ok(true, "a stack with nested matches counts once");
    is((await frame(page, "alloc")).fill, "rgb(230, 0, 230)", "search marks the frames that match");
    ok((await frame(page, "parse")).fill !== "rgb(230, 0, 230)",
        "search does not mark frames that do not match");
    await page.keyboard.press("Enter");
    ok(!await page.locator("#searchbox").count(), "Enter closes the search box");
    is(await text(page, "matched"), "Matched: 75.00%, 1 name",
        "Enter keeps the matches of a search");
    is(await label(page, "search"), "Reset Search",
        "the search button resets a search that has matches");
    await page.locator("#search").click();
    is(await text(page, "matched"), "", "a reset search shows no matches");
    ok((await frame(page, "alloc")).fill !== "rgb(230, 0, 230)", "a reset search marks no frame");

    await page.locator("#search").click();
    await page.keyboard.type("emit");
    await matched(page, "Matched: 37.50%, 2 names");
    await page.locator("#ignorecase").click();
    is(await text(page, "matched"), "Matched: 25.00%, 1 name",
        "the ic button makes a search match case");
    ok((await page.evaluate(() => location.hash)).includes("c=1"),
        "the address keeps that a search matches case");
    await page.keyboard.press("Control+i");
    is(await text(page, "matched"), "Matched: 37.50%, 2 names",
        "Ctrl-I makes a search ignore case again");
    await page.locator("#searchbox input").fill("/em(/");
    await matched(page, "a ( without its ); as text: 0.00%, 0 names");
    ok(true, "search shows the error of a wrong expression and searches it as text");
    is(await page.locator("#matched.wrong").count(), 1,
        "search shows the error of a wrong expression in another colour");
    await page.locator("#searchbox input").fill("main|exit");
    await matched(page, "Matched: 0.00%, 0 names");
    await page.locator("#regex").click();
    is(await text(page, "matched"), "Matched: 100.00%, 2 names",
        "the .* button makes text an expression");
    ok((await page.evaluate(() => location.hash)).includes("r=1"),
        "the address keeps that the search text is an expression");
    await page.locator("#regex").click();
    await page.locator("#searchbox input").fill("all");
    await matched(page, "Matched: 75.00%, 1 name");
    ok(true, "search does not match the name of the root");
    await page.keyboard.press("Escape");
    is(await text(page, "matched"), "", "Escape ends the search");
    ok(!await page.locator("#searchbox").count(), "Escape closes the search box");
    await page.keyboard.press("F3");
    ok(await page.locator("#searchbox input").isVisible(), "F3 opens the search box");
    await page.keyboard.type("nothing like it");
    await matched(page, "Matched: 0.00%, 0 names");
    ok(true, "a search without a match shows 0%");
    is(page.trouble.join("\n"), "", "search: the picture causes no script error and no request");
    await done(page);
}

async function keys() {
    const page = await open(render(FOLDED));
    await page.locator("#frames").focus();
    const steps = [["ArrowUp", "all"], ["ArrowUp", "app"], ["ArrowUp", "main"], ["ArrowLeft", "exit"],
        ["ArrowRight", "main"], ["ArrowUp", "parse"], ["ArrowLeft", "emit"], ["ArrowDown", "main"],
        ["ArrowUp", "parse"]];
    for (const [key, name] of steps) {
        await page.keyboard.press(key);
        ok((await text(page, "details")).startsWith(`Function: ${name} (`),
            `${key} moves the selection to ${name}`);
    }
    is(await page.evaluate(() => document.activeElement.getAttribute("aria-label")),
        "parse (2.00 MiB, 2,097,152 bytes, 50.00%)", "a screen reader hears the frame");
    await page.keyboard.press("Enter");
    near((await frame(page, "parse")).width, 1180, 1, "Enter zooms to the selected frame");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    near((await frame(page, "main")).width, 1180, 1, "Enter zooms to a faded caller");
    await page.keyboard.press("Escape");
    ok(!await visible(page, "next"), "the button for the next match is hidden without a search");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("emit");
    await matched(page, "Matched: 37.50%");
    await page.keyboard.press("Enter");
    const details = async (key, start) => {
        await page.keyboard.press(key);
        ok((await text(page, "details")).startsWith(`Function: ${start} (`),
            `${key} selects the match ${start}`);
    };
    await details("n", "Emit");
    await details("n", "emit");
    await details("n", "Emit");
    await details("Shift+N", "emit");
    await page.locator("#next").click();
    ok((await text(page, "details")).startsWith("Function: Emit ("),
        "the button selects the next match");
    await on(page, "parse").click();
    await page.locator("#previous").click();
    near((await frame(page, "emit")).width, 1180, 1, "the picture zooms to a match out of sight");
    is(page.trouble.join("\n"), "", "keys: the picture causes no script error and no request");
    await done(page);
}

// Where frame "emit" begins, in counts, and how deep it is.
async function placeOfEmit(path) {
    const page = await open(path);
    const at = await on(page, "emit").evaluate((g) => [g.dataset.x, g.dataset.d]);
    await done(page);
    return at;
}

async function address() {
    const path = render(FOLDED);
    const page = await open(path);
    await on(page, "alloc", 1).click();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("/^ALLOC/");
    await matched(page, "Matched: 75.00%");
    await page.reload();
    const nested = await frame(page, "alloc", 1);
    near(nested.width, 1180, 1, "the zoomed frame survives a reload");
    is(await text(page, "matched"), "Matched: 75.00%, 1 name", "the search survives a reload");
    const hash = new URL(page.url()).hash;
    await done(page);
    const other = await open(path, { hash, width: 800 });
    near((await frame(other, "alloc", 1)).width, 780, 1, "a shared link shows the zoomed frame");
    is(await text(other, "matched"), "Matched: 75.00%, 1 name", "a shared link shows the search");
    await done(other);
    is(new URLSearchParams(hash.slice(1)).get("p"), "app;main;parse;alloc",
        "the address names the zoomed frame by its path");
    const moved = render("app;aaa 900\napp;main;parse;alloc 40\napp;main;parse;x 40\n");
    const later = await open(moved, { hash });
    near((await frame(later, "alloc")).width, 1180, 1,
        "a link finds the path of its frame in another picture");
    await done(later);
    const gone = await open(moved, { hash: "#p=app;main;parse;nothing;at;all" });
    near((await frame(gone, "parse")).width, 1180, 1,
        "a link to a missing frame zooms to its nearest caller");
    await done(gone);
    const [x, y] = await placeOfEmit(path);
    const place = await open(path, { hash: `#x=${x}&y=${y}` });
    near((await frame(place, "emit")).width, 1180, 1,
        "a link with flamegraph.pl's x and y zooms to their frame");
    await done(place);
    const chart = await open(render("a;f;g 5\na;h 5\na;f;g 5\n", "--flamechart"));
    await on(chart, "g", 1).click();
    is(new URL(chart.url()).hash, "#p=a%3Bf%3Bg&k=1", "the address numbers frames of equal paths");
    const third = (await frame(chart, "g", 0)).shown;
    await chart.reload();
    ok(!third && !(await frame(chart, "g", 0)).shown && (await frame(chart, "g", 1)).shown,
        "reload: the chosen frame of several with one path is shown again");
    await done(chart);
    const anyName = render("a;<b>&=%;\"c\" 5\na;x 5\n");
    const odd = await open(anyName);
    await on(odd, '"c"').click();
    await odd.reload();
    near((await frame(odd, '"c"')).width, 1180, 1, "the address can hold any name of a frame");
    is(odd.trouble.join("\n"), "", "address: the picture causes no script error");
    await done(odd);
    const deep = await open(render("frame_with_a_name;".repeat(900) + "leaf 3\nother 5\n"));
    await on(deep, "leaf").click();
    ok(new URL(deep.url()).hash.startsWith("#x="),
        "the address of a frame with too long a path has its place");
    await deep.reload();
    const inside = await deep.evaluate(() => document.documentElement.clientWidth);
    near((await frame(deep, "leaf")).width, inside - 20, 1,
        "a link with the place of a frame zooms to it");
    await done(deep);
    const wrong = await open(path, { hash: "#x=99999&y=oops&r=1&s=%5B" });
    ok((await frame(wrong, "emit")).shown, "a link to a place without a frame shows all frames");
    is(await text(wrong, "matched"), "a [ without its ]; as text: 0.00%, 0 names",
        "a link with a wrong expression shows the error");
    is(wrong.trouble.join("\n"), "", "a wrong link causes no script error");
    await done(wrong);
}

async function width() {
    const page = await open(render(FOLDED), { width: 900 });
    near((await frame(page, "app")).width, 880, 1, "the picture is as wide as the window");
    await page.setViewportSize({ width: 1500, height: 700 });
    await page.waitForFunction(() =>
        document.querySelector("#frames rect").getBoundingClientRect().width > 1400);
    near((await frame(page, "app")).width, 1480, 1, "the picture follows a wider window");
    await done(page);
    const apart = (p) => p.evaluate(() => {
        const box = (id) => document.getElementById(id).getBoundingClientRect();
        const t = box("title"), s = box("subtitle");
        return t.left >= box("unzoom").right && t.right <= box("search").left &&
            s.left >= 0 && s.right <= window.innerWidth;
    });
    const titled = render(FOLDED, "--title", "Memory live when most was", "--subtitle", "s".repeat(80));
    for (const narrow of [280, 340, 600]) {
        const small = await open(titled, { width: narrow });
        await on(small, "parse").click();
        ok(await apart(small),
            `the title does not overlap the buttons in a window of ${narrow} pixels`);
        const shown = await label(small, "title");
        ok(shown.startsWith("Mem") && shown.endsWith("..") === narrow < 600,
            "a cut title in a narrow window can be read", shown);
        await small.setViewportSize({ width: 1200, height: 700 });
        await small.waitForFunction(() =>
            document.querySelector("#frames rect").getBoundingClientRect().width > 1100);
        is(await text(small, "title"), "Memory live when most was",
            "the title is whole again in a wide window");
        is(small.trouble.join("\n"), "", "a narrow window causes no script error");
        await done(small);
    }
    const fixed = await open(render(FOLDED, "--width", "600"), { width: 1500 });
    near((await frame(fixed, "app")).width, 580, 1, "--width fixes the width of the picture");
    await on(fixed, "emit").click();
    near((await frame(fixed, "emit")).width, 580, 1, "--width fixes the width of a zoomed frame");
    await done(fixed);
    const tall = await open(render("f;".repeat(200) + "leaf 3\n"), { height: 400 });
    await on(tall, "leaf").hover();
    const bar = await tall.evaluate(() =>
        document.getElementById("details").getBoundingClientRect().y);
    ok(bar > 300 && bar < 400, "details stay in sight of a picture higher than the window", bar);
    await done(tall);
}

async function labels() {
    const long = "a_very_long_function_name_that_never_ends_".repeat(10);
    const page = await open(render(`m;${long} 50\nm;${"i".repeat(300)} 30\nm;中文字符中文字符中文字符 9\nm;x 1\n`));
    const outside = () => page.evaluate(() => [...document.querySelectorAll("#frames > g")]
        .filter((g) => g.querySelector("text").textContent &&
            g.querySelector("text").getBoundingClientRect().right >
            g.querySelector("rect").getBoundingClientRect().right).length);
    is(await outside(), 0, "no label runs out of its frame");
    ok((await frame(page, long)).label.endsWith(".."), "a long name is cut");
    await on(page, long).click();
    is(await outside(), 0, "no label runs out of its frame after a zoom");
    await page.setViewportSize({ width: 500, height: 700 });
    is(await outside(), 0, "no label runs out of its frame in a narrow window");
    await done(page);
}

async function hostile() {
    const names = ["</title><script>document.title='owned'</script>",
        "]]></style></svg><svg onload=\"document.title='owned'\">",
        "\" onmouseover=\"document.title='owned'", "'&amp;&#x41;&lt;", "javascript:alert(1)",
        "\u001b[31m\u0007", "\u202egnp.exe", "x".repeat(1 << 20), "(a (b", "<img src=x onerror=alert(1)>"];
    const folded = Buffer.concat([
        Buffer.from(names.map((n, i) => `main;${n} ${10 + i}\n`).join("")),
        Buffer.from([0x6d, 0x3b, 0xff, 0xc0, 0xaf, 0x00, 0x20, 0x39, 0x0a])]);
    const page = await open(render(folded, "--title", names[0], "--subtitle", names[1],
        "--countname", names[2], "--nametype", names[9]));
    const n = await page.locator("#frames > g").count();
    is(n, 16, "every hostile name has its frame, and a ';' in it begins another");
    for (let i = 0; i < n; i++) {
        await page.locator("#frames > g").nth(i).hover();
        await page.locator("#frames > g").nth(i).click();
        await page.keyboard.press("Escape");
    }
    await page.keyboard.press("Control+f");
    await page.keyboard.type("<script>|onload");
    await matched(page, "Matched: ");
    is(await page.locator("script").count(), 1, "hostile names add no script");
    is(await page.locator("svg img, svg image, svg a:not(#findings > a)").count(), 0,
        "hostile names add no element");
    is(await page.evaluate(() => document.title), "", "hostile names run no script");
    is(await text(page, "title"), names[0], "a hostile title is shown as text");
    is(page.trouble.join("\n"), "",
        "hostile names cause no script error, no dialog and no request");
    await done(page);

    const term = "<img src=x onerror=alert(1)>(";
    const link = await open(render(FOLDED), { hash: "#s=" + encodeURIComponent(term) });
    is(await text(link, "matched"), "Matched: 0.00%, 0 names",
        "a hostile link is searched as text");
    is(link.trouble.join("\n"), "", "a hostile link causes no script error or request");
    await done(link);
}

async function embedded() {
    const svg = render(FOLDED);
    const page = await open(file("embed.html", `<!doctype html><title>t</title><img src="${svg}">`));
    is(await page.evaluate(() => document.querySelector("img").naturalWidth), 1200,
        "the picture has its own width inside an <img>");
    await done(page);
    const dark = await open(svg, { colorScheme: "dark" });
    const paper = await dark.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    ok(paper.match(/\d+/g).slice(0, 3).every((c) => c < 60),
        "the picture is dark when the reader's system is dark", paper);
    await done(dark);
    const still = await open(svg, { javaScriptEnabled: false });
    ok(!await visible(still, "search"), "no button is visible without scripts");
    ok(await still.locator("#frames text").filter({ hasText: "main" }).isVisible(),
        "frames have labels without scripts");
    await done(still);
}

// A comparison shows growth and decline without colours, too, at any zoom and width.
async function signs() {
    const two = "a;up 10 30\na;down 30 10\na;same 20 20\na;gone;f 20 0\na;new;f 0 20\n";
    const labelOf = async (page, name) => (await frame(page, name)).label;
    const page = await open(render(two));
    is(await labelOf(page, "up"), "+ up", "comparison: the label of a frame that grew has a plus");
    is(await labelOf(page, "down"), "\u2212 down",
        "comparison: the label of a frame that shrank has a minus");
    is(await labelOf(page, "same"), "same",
        "comparison: the label of an unchanged frame has no sign");
    await on(page, "down").click();
    is(await labelOf(page, "down"), "\u2212 down", "comparison: a zoomed frame keeps its sign");
    await done(page);
    for (const [wide, colorScheme] of [[420, "light"], [900, "dark"], [1800, "dark"]]) {
        const elided = await open(render(two, "--widths", "elided"), { width: wide, colorScheme });
        const gone = await frame(elided, "gone"), now = await frame(elided, "new");
        is(gone.fill, "rgb(38, 38, 43)", `elided: a frame that is gone is black at ${wide}`);
        is(now.fill, "rgb(255, 255, 255)", "elided: a new frame is white");
        ok(gone.x > now.x && gone.x >= (await frame(elided, "up")).x,
            "elided: frames that are gone are at the right");
        const ink = await elided.evaluate(() => [...document.querySelectorAll("#frames > g")]
            .filter((g) => /^(gone|new) /.test(g.textContent))
            .map((g) => getComputedStyle(g.querySelector("text")).fill).join(" "));
        is(ink, "rgb(17, 17, 17) rgb(255, 255, 255)",
            "elided: labels of new and gone frames can be read");
        await done(elided);
    }
    const chain = await open(render("T1;run;futex;--;post_[w];loop_[w];T2_[w] 5\nT1;run 5\n"));
    const weight = (name) => chain.evaluate((wanted) => {
        const g = [...document.querySelectorAll("#frames > g")]
            .find((e) => e.textContent.startsWith(wanted + " ("));
        return getComputedStyle(g.querySelector("text")).fontWeight;
    }, name);
    is(await weight("T1"), "700", "the name of a sleeping thread is bold");
    is(await weight("T2"), "700", "the name of a waking thread is bold");
    is(await weight("loop"), "400", "the name of a function is not bold");
    await on(chain, "T2").hover();
    is(await text(chain, "details"), "Function: T2 (5 samples, 50.00%) \u00b7 link 1 T2: 50.00%",
        "the details line of a waker has the links of its chain");
    await on(chain, "run").hover();
    is(await text(chain, "details"), "Function: run (10 samples, 100.00%)",
        "the details line of a sleeper has no link");
    await done(chain);
}

// Counted, not timed: a zoom into a large picture must write to what it shows only.
async function large() {
    let folded = "";
    for (let i = 0; i < 4000; i++)
        folded += `main;group${i % 40};work${i};step${i};leaf${i} 5\n`;
    const page = await open(render(folded));
    const frames = await page.locator("#frames > g").count();
    is(frames, 2 + 40 + 3 * 4000, "a large picture has every frame");
    await page.evaluate(() => {
        window.writes = 0;
        new MutationObserver((m) => { window.writes += m.length; }).observe(
            document.getElementById("frames"), { attributes: true, childList: true, subtree: true });
    });
    await on(page, "group7").click();
    await page.waitForFunction(() => window.writes > 0);
    const first = await page.evaluate(() => window.writes);
    ok(first < frames + 6 * 400,
        `a zoom writes once to each frame that it hides (${first} writes)`);
    await page.evaluate(() => { window.writes = 0; });
    await on(page, "work7").click();
    await page.waitForFunction(() => window.writes > 0);
    const second = await page.evaluate(() => window.writes);
    ok(second < 400 + 60,
        `a zoom within a zoom writes only to the frames in sight (${second} writes)`);
    await done(page);
}

await main([hover, zoom, search, keys, address, width, labels, hostile, embedded, signs, large]);
