#!/usr/bin/env node
// Exports in the viewers' own code: Grafana's panel and speedscope's schema.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { is, main, ok, renderTo } from "./page.mjs";

const require = createRequire(import.meta.url);
const folded = "main;parse;read 5\nmain;parse 2\nmain;emit 1.5\nstart;main;parse 3\n";
const compared = "a;b 10 30\na;b;d 40 20\na;gone 25 0\na;new 0 15\n";
const read = path => JSON.parse(readFileSync(path, "utf8"));

// Grafana's package requires packages that can only be imported. Node before 20.19 does not
// do that for it, so it finds them imported already.
async function imported(...names) {
    for (const name of names) {
        const filename = require.resolve(name);
        require.cache[filename] = { id: filename, filename, loaded: true, children: [],
            exports: await import(name) };
    }
}

// The packages are for browsers; this is all they look for there while they load.
async function loadGrafana() {
    await imported("marked", "marked-mangle", "d3-interpolate", "d3-scale-chromatic");
    require("react-use"); // loaded after that, it takes node for a browser with a document
    globalThis.window = globalThis;
    globalThis.navigator = { language: "en", languages: ["en"] };
    globalThis.addEventListener = () => {};
    globalThis.localStorage = { getItem: () => null, setItem: () => {} };
    const log = console.log;
    console.log = () => {}; // a library advertises itself there
    console.info = () => {};
    const data = require("@grafana/data");
    const place = require.resolve("@grafana/flamegraph").replace(/index\.cjs$/, "");
    const panel = require(`${place}FlameGraph/dataTransform.cjs`);
    console.log = log;
    return { data, panel };
}

function container({ data, panel }, text, ...options) {
    const list = read(renderTo("grafana.json", text, ...options));
    is(list.length, 1, "grafana: the file has one data frame");
    const frame = data.createDataFrame(data.dataFrameFromJSON(list[0]));
    is(panel.checkFields(frame), undefined, "grafana: the panel accepts the fields and types");
    return new panel.FlameGraphDataContainer(frame, { collapsing: false });
}

const level = (c, i) => c.getLevels()[i].map(item =>
    [c.getLabel(item.itemIndexes[0]), item.start, item.value].join(":")).join(" ");

async function grafana() {
    const code = await loadGrafana();
    const c = container(code, folded, "--countname", "ms");
    is(c.getLevels().length, 4, "grafana: the panel finds all levels");
    is(level(c, 0), "all:0:11.5", "grafana: the first level is the root");
    is(level(c, 1), "main:0:8.5 start:8.5:3", "grafana: frames of one level are side by side");
    is(level(c, 2), "emit:0:1.5 parse:1.5:7 main:8.5:3",
        "grafana: callees are on the level after their callers");
    is(level(c, 3), "read:1.5:5 parse:8.5:3", "grafana: the panel has the stacks up to the leaves");
    is(c.getSelf(c.getNodesWithLabel("parse").map(n => n.itemIndexes[0])), 5,
        "grafana: the panel has the own counts");
    is(c.getSandwichLevels("main")[0].flat().map(n => c.getLabel(n.itemIndexes[0])).sort().join(),
        "all,all,main,start", "grafana: the sandwich of the panel has the callers");
    is(c.valueDisplayProcessor(1500).suffix.trim(), "s", "grafana: 1500 ms are shown in seconds");
    is(container(code, "# flame: view=alloc unit=bytes\nm;f 3000\n").getUnitTitle(), "RAM",
        "grafana: bytes have a unit of memory");

    const d = container(code, compared);
    ok(d.isDiffFlamegraph(), "grafana: a comparison is one for the panel");
    is(level(d, 2), "b:0:100 gone:100:25 new:125:15",
        "grafana: a comparison is as wide as both sides");
    const [gone] = d.getNodesWithLabel("gone"), [b] = d.getNodesWithLabel("b");
    is([d.getValue(gone.itemIndexes[0]), d.getValueRight(gone.itemIndexes[0])].join(), "25,0",
        "grafana: a comparison has before at the left and after at the right");
    is([d.getSelf(b.itemIndexes[0]), d.getSelfRight(b.itemIndexes[0])].join(), "10,30",
        "grafana: a comparison has own counts of both sides");
}

async function speedscope() {
    const Ajv = require("ajv");
    const place = require.resolve("speedscope/package.json").replace(/package\.json$/, "");
    const ajv = new Ajv({ strict: false });
    const validate = ajv.compile(read(`${place}dist/release/file-format-schema.json`));
    for (const [what, text, ...options] of [
        ["counts", folded], ["bytes", "# flame: view=alloc unit=bytes\nm f.c:3;g 7\n"],
        ["time", folded, "--countname", "seconds"], ["a comparison", compared]])
        ok(validate(read(renderTo("speedscope.json", text, ...options))),
            `speedscope's schema accepts ${what}`, JSON.stringify(validate.errors));
    const wrong = read(renderTo("speedscope.json", folded));
    delete wrong.profiles[0].weights;
    ok(!validate(wrong), "speedscope: the schema refuses a profile without weights");
}

await main(async () => {
    await grafana();
    await speedscope();
});
