#!/usr/bin/env node
// Ways out of an explorer page: files, paper, a frame in another page; and notes, which go with its
// link. Names are hostile in all of them.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { file, is, main, near, ok, open, renderTo } from "./page.mjs";
import { choose, click, crumbs, explore, hover, quiet, row, text, untroubled } from "./explorer.mjs";

const flame = process.env.FLAME || "build/flame";
const FOLDED = "# flame: view=alloc unit=bytes\napp;main;parse;alloc 40\napp;main;parse 10\n" +
    "app;main;emit;alloc 30\napp;idle 20.5\napp;idle;[unknown] 3\n";

// File that the menu's row saves: {name, text}.
async function saved(page, item) {
    const [download] = await Promise.all([page.waitForEvent("download"), (async () => {
        await page.locator("#share").click();
        await page.locator("#menu button").filter({ hasText: item }).click();
    })()]);
    const path = await download.path();
    return { name: download.suggestedFilename(), path, text: readFileSync(path, "utf8") };
}

// Blobs of the page's own are no requests to anybody.
const still = (page, name) => {
    page.trouble = page.trouble.filter((s) => !s.startsWith("request: blob:"));
    return untroubled(page, name);
};

const total = (path) => execFileSync(flame, ["render", "-f", "folded", path], { encoding: "utf8" })
    .split("\n").filter((s) => s && !s.startsWith("#"))
    .reduce((a, s) => a + Number(s.slice(s.lastIndexOf(" "))), 0);
const stacks = (s) => s.split("\n").filter((l) => l && !l.startsWith("#")).sort().join("\n");

// An XML reader's opinion, and what a picture says.
const asXml = (page, s) => page.evaluate((svg) => {
    const d = new DOMParser().parseFromString(svg, "image/svg+xml");
    return { error: d.querySelector("parsererror") ? d.documentElement.textContent : "",
        elements: [...new Set([...d.querySelectorAll("*")].map((e) => e.localName))].sort().join(),
        attributes: [...new Set([...d.querySelectorAll("*")].flatMap((e) => e.getAttributeNames()))].sort().join(),
        titles: [...d.querySelectorAll("g > title")].map((e) => e.textContent),
        texts: [...d.querySelectorAll("text")].map((e) => e.textContent),
        fills: [...d.querySelectorAll("rect")].map((e) => e.getAttribute("fill")) };
}, s);

async function files() {
    const page = await explore(FOLDED, { hash: "#theme=dark" });
    const svg = await saved(page, "SVG"), picture = await asXml(page, svg.text);
    is(svg.name, "flame-alloc.svg", "SVG: the file is named by its view");
    is(picture.error, "", "SVG: the file is XML");
    is(picture.elements, "g,rect,svg,text,title", "SVG: the file has only plain elements");
    ok(!/style|\bon/.test(picture.attributes),
        "SVG: the file has no styles and no handlers", picture.attributes);
    ok(picture.titles.includes("alloc: 40 B, 38.65%"),
        "SVG: each frame has its title", picture.titles.join("|"));
    ok(["parse", "emit", "idle"].every((s) => picture.texts.includes(s)),
        "SVG: each frame has its label");
    ok(picture.texts.some((s) => /103\.5 B/.test(s)),
        "SVG: the heading has the total", picture.texts.join("|"));
    is(picture.fills[0], "#ffffff", "SVG: the picture of a dark page is light");
    is(await page.locator("html").getAttribute("data-theme"), "dark", "SVG: the page stays dark");

    const png = await saved(page, "PNG"), bytes = readFileSync(png.path);
    is(bytes.toString("latin1", 1, 4), "PNG", "PNG: the file is a PNG");
    is(bytes.readUInt32BE(16), 2400, "PNG: the picture has two dots for each pixel");
    const dots = await page.evaluate(async (base64) => {
        const image = await createImageBitmap(await (await new Promise((done) => {
            const raw = atob(base64), a = Uint8Array.from(raw, (c) => c.charCodeAt(0));
            done(new Blob([a], { type: "image/png" }));
        })));
        const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        c.canvas.width = image.width;
        c.canvas.height = image.height;
        c.drawImage(image, 0, 0);
        const seen = new Set(), { data } = c.getImageData(0, 0, image.width, image.height);
        for (let i = 0; i < data.length; i += 4)
            seen.add(data.slice(i, i + 3).join());
        return { corner: [...c.getImageData(2, 2, 1, 1).data].slice(0, 3).join(), colours: seen.size };
    }, bytes.toString("base64"));
    is(dots.corner, "255,255,255", "PNG: the picture has a white corner");
    ok(dots.colours > 10, "PNG: the picture is not empty", dots.colours);

    const csv = await saved(page, "CSV");
    is(csv.text.split("\r\n").slice(0, 3).join("|"),
        '"Symbol","Self (bytes)","Self (%)","Total (bytes)","Total (%)"|' +
        '"alloc",70,67.6329,70,67.6329|"idle",20.5,19.8068,23.5,22.7053', "CSV: counts are exact");
    is(csv.name, "flame-alloc.csv", "CSV: the file is named by its view");
    await page.locator("#query").fill("idle");
    is((await saved(page, "CSV")).text.split("\r\n").length, 3,
        "CSV: the file has only the rows that are shown");
    await page.locator("#clear").click();

    const all = await saved(page, "Folded");
    is(stacks(all.text), stacks(FOLDED), "folded: the stacks are those of the recording");
    is(all.text.split("\n")[0], "# flame: view=alloc unit=bytes",
        "folded: the file begins with its view and unit");
    near(total(all.path), 103.5, 0, "folded: the file reads back to the same total");
    await click(page, "parse");
    is(stacks((await saved(page, "Folded")).text), "app;main;parse 10\napp;main;parse;alloc 40",
        "folded: a zoomed page gives the stacks in sight");
    await page.keyboard.press("r");
    await page.keyboard.press("0");
    is(stacks((await saved(page, "Folded")).text), stacks(FOLDED),
        "folded: the graph of callers gives the same stacks");
    await page.keyboard.press("r");
    await choose(page, "parse", "Merge this function");
    is(stacks((await saved(page, "Folded")).text),
        "app;idle 20.5\napp;idle;[unknown] 3\napp;main 10\napp;main;alloc 40\napp;main;emit;alloc 30",
        "folded: filters are applied");
    await still(page, "files");

    const kernel = await explore("a;b_[k];c 2\na;b;c_[i] 3\n");
    is(stacks((await saved(kernel, "Folded")).text), "a;b;c_[i] 3\na;b_[k];c 2",
        "folded: marks stay with their names");
    await still(kernel, "marks");

    const both = await explore("a;b 3 5\na;c 4 0\na 0 2\n");
    const compared = await saved(both, "Folded");
    is(stacks(compared.text), "a 0 2\na;b 3 5\na;c 4 0", "folded: a comparison has both counts");
    ok(/"Change/.test((await saved(both, "CSV")).text), "CSV: a comparison has the change");
    is((await asXml(both, (await saved(both, "SVG")).text)).error, "",
        "SVG: the file of a comparison is XML");
    await still(both, "a comparison");
}

async function hostile() {
    const names = ["</text><script>alert(1)</script>", "]]>&amp;\"'", "=cmd|' /C calc'!A0", "@SUM(1)",
        "f 3", "\u0001\u0002x", "a,\"b\"", "-1+1", "_[k]"];
    const page = await explore(names.map((n, i) => `r;${n};leaf ${i + 1}\nr;${n} 1\n`).join("").replace("\u0001", "\u0001"));
    const svg = await asXml(page, (await saved(page, "SVG")).text);
    is(svg.error, "", "SVG: hostile names are text");
    is(svg.elements, "g,rect,svg,text,title", "SVG: hostile names add no element");
    const csv = (await saved(page, "CSV")).text;
    const cells = csv.split("\r\n").map((l) => /^"((?:[^"]|"")*)"/.exec(l)?.[1]);
    ok(cells.includes("'=cmd|' /C calc'!A0") && cells.includes("'@SUM(1)") && cells.includes("'-1+1"),
        "CSV: no hostile name is a formula", cells.join("\n"));
    ok(cells.includes('a,""b""'), "CSV: quotes are doubled", cells.join("\n"));
    const folded = await saved(page, "Folded");
    near(total(folded.path), 45 + 9, 0, "folded: hostile names read back to the same total");
    is(execFileSync(flame, ["render", "-f", "folded", folded.path], { encoding: "utf8" }).split("\n")
        .filter((l) => l.includes("leaf")).length, names.length,
            "folded: each hostile name keeps its stack");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    is(await page.locator("#print script").count(), 0, "print: hostile names are text");
    await still(page, "hostile names");
}

async function paper() {
    const page = await explore(FOLDED, { hash: "#theme=dark&q=parse&note=" +
        encodeURIComponent('[";app;main;emit","why <b>so</b> much?"]') });
    const pdf = (await page.pdf({ format: "A4", printBackground: true })).toString("latin1");
    ok(!/\/Subtype\s*\/Image/.test(pdf), "print: paper has no images");
    ok(/\/ToUnicode/.test(pdf), "print: the letters on paper can be found");
    is(await page.locator("#print > *").count(), 0, "print: the page is as before afterwards");
    is(await page.locator("html").getAttribute("data-theme"), "dark",
        "print: the page is dark again afterwards");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const shown = await page.evaluate(() => [...document.body.children]
        .filter((e) => e.getBoundingClientRect().height > 0).map((e) => e.id));
    is(shown.join(), "print", "print: only the printed part is shown");
    const first = await page.locator("#print > *").first();
    is(await first.evaluate((e) => e.localName), "svg", "print: the graph comes first");
    near(await first.evaluate((e) => e.getBoundingClientRect().width / document.body.clientWidth), 1, 0.01,
        "print: the graph has the full width");
    const words = await text(page, "#print");
    ok(/Search: parse \(48\.31% · 1 name\)/.test(await first.evaluate((e) => e.textContent)),
        "print: the search is shown",
        words);
    ok((await first.evaluate((e) => e.textContent)).includes("Note on app \u203a main \u203a emit: why <b>so</b> much?"),
        "print: the note is shown");
    is(await page.locator("#print tbody tr").count(), 1,
        "print: the table follows the graph as it is shown");
    ok(/Colour by package/.test(await first.evaluate((e) => e.textContent)),
        "print: colours are explained in words");
    await still(page, "paper");

    const many = await explore(Array.from({ length: 100 }, (_, i) => `a;f${i} ${i + 1}\n`).join(""));
    await many.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    is(await many.locator("#print tbody tr").count(), 40, "print: a long table ends");
    ok(/61 more symbols/.test(await many.locator("#print p").textContent()),
        "print: the number of rows left out is shown");
    await still(many, "a long table");
}

async function notes() {
    const page = await explore(FOLDED);
    await choose(page, "emit", "Add a note");
    await page.locator("#note-text").fill("ask <i>them</i>");
    await page.locator("#note-dialog button").filter({ hasText: "Save" }).click();
    await hover(page, "emit");
    ok(/Note: ask <i>them<\/i>/.test(await text(page, "#tooltip")),
        "notes: the tooltip shows one as text");
    const hash = await page.evaluate(() => location.hash);
    ok(new URLSearchParams(hash.slice(1)).get("note") === '[";app;main;emit","ask <i>them</i>"]',
        "notes: the link has them", hash);
    const marked = async (p) => p.evaluate(() => {
        const canvas = document.querySelector(".chart-canvas"), { chart } = canvas;
        chart.draw();
        const at = Array.from({ length: chart.boxes.n }, (_, i) => i).find((i) =>
            chart.profile.names[chart.graph.name[chart.boxes.node[i]]] === "emit");
        const x = chart.boxes.x[at] + chart.boxes.w[at] - 6, y = chart.boxTop(chart.boxes.depth[at]) + 5;
        const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, -x * chart.ratio, -y * chart.ratio);
        return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
    });
    is(await marked(page), "20,24,29", "notes: the frame has a mark");
    const link = await explore("app;main;emit;x 1\nother;y 2\n", { hash });
    await hover(link, "emit");
    ok(/Note: ask/.test(await text(link, "#tooltip")),
        "notes: the page of another run shows one of a link");
    is(await marked(link), "20,24,29", "notes: the page of another run marks the frame");
    await still(link, "a note's link");
    await click(page, "emit");
    await page.keyboard.press("a");
    await page.locator("#note-text").fill(" ");
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction(() => !location.hash.includes("note"));
    ok(true, "notes: an empty note is removed");
    await still(page, "notes");

    const bad = ["x", "[1,2]", '["nowhere","x"]', '[";app"]', '[";app",""]', '[";app",["x"]]', "[".repeat(3000),
        JSON.stringify([";app", "\u0000\n\t" + "n".repeat(5000)])];
    const worse = await explore(FOLDED, { hash: "#" + bad.map((s) => "note=" + encodeURIComponent(s)).join("&") });
    await hover(worse, "app");
    ok(/Note: n{400}$/m.test(await text(worse, "#tooltip")),
        "notes: wrong ones in a link are ignored");
    await still(worse, "wrong notes");
    const flood = await explore(FOLDED, { hash: "#" + Array.from({ length: 3000 }, (_, i) =>
        "note=" + encodeURIComponent(JSON.stringify([";app;idle", "n" + i]))).join("&") });
    await hover(flood, "idle");
    ok(/Note: n49$/m.test(await text(flood, "#tooltip")),
        "notes: their number in a link is limited");
    await still(flood, "many notes");
}

async function embedded() {
    const path = renderTo("html", FOLDED), url = pathToFileURL(path).href;
    const page = await open(path, { ...quiet, hash: "#embed" });
    ok(await page.locator("#share").isHidden() && await page.locator("#path").isHidden() &&
        await page.locator("#table").isHidden(), "embedded: the page has no tools");
    is(await row(page, 1), "app:103.5", "embedded: the page has the graph");
    await click(page, "parse");
    is(new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)).has("embed"), true,
        "embedded: the page stays so after a zoom");
    await page.locator("#open-full").hover();
    is(await page.locator("#open-full").getAttribute("href"), `${url}#zoom=%3Bapp%3Bmain%3Bparse`,
        "embedded: a link leads to the full page");
    await still(page, "embedded");

    for (const sandbox of ["allow-scripts", "allow-scripts allow-same-origin"]) {
        const host = file("host.html", `<!DOCTYPE html><body style="margin:0"><iframe sandbox="${sandbox}" width="640" ` +
            `height="300" src="${url}?embed#zoom=;app;main"></iframe>`);
        const outer = await open(host, quiet);
        const frame = outer.frames()[1];
        await frame.waitForFunction(() => performance.getEntriesByName("flame-drawn").length);
        const sizes = await frame.evaluate(() => [document.documentElement.scrollHeight, innerHeight,
            document.documentElement.scrollWidth, innerWidth,
            document.querySelector(".chart-canvas").getBoundingClientRect().height]);
        ok(sizes[0] <= sizes[1] && sizes[2] <= sizes[3],
            `embedded (${sandbox}): the page fits its frame`, sizes.join());
        ok(sizes[4] > 200, "embedded: the graph has most of the room", sizes.join());
        is(await frame.evaluate(() => document.querySelector(".chart-canvas").chart.view.zoom), 4,
            "embedded: the page is zoomed to the frame of its address");
        const box = await outer.locator("iframe").boundingBox();
        await outer.mouse.click(box.x + 100, box.y + 58);
        const zoom = await frame.evaluate(() => new Promise((done) => {
            setTimeout(() => done(document.querySelector(".chart-canvas").chart.view.zoom), 300);
        }));
        ok(zoom !== 4, "embedded: the graph can be zoomed", zoom);
        is(outer.trouble.filter((s) => !s.startsWith("request:")).join(), "",
            "embedded: no script error");
        await outer.context().close();
    }
    const whole = await explore(FOLDED);
    await whole.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await whole.locator("#share").click();
    await whole.locator("#menu button").filter({ hasText: "embed" }).click();
    await whole.waitForFunction(() => document.getElementById("note").textContent);
    ok(/^<iframe [^<]*sandbox="allow-scripts [^<]*src="file:[^"<]*#embed="><\/iframe>$/.test(
        await whole.evaluate(() => navigator.clipboard.readText())),
            "embedded: the code to embed a page can be copied");
    is(await crumbs(whole), "all", "embedded: the page stays as it is when the code is copied");
    await still(whole, "the whole");
}

await main(async () => {
    for (const test of [files, hostile, paper, notes, embedded])
        await test();
});
