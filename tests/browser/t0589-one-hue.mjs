#!/usr/bin/env node
// A comparison's picture and its page in the light theme have the same colours: of each frame, of what is only
// on one side, and of the scale that says what they mean.
import { explore } from "./explorer.mjs";
import { done, is, main, ok, open, render } from "./page.mjs";

const TWO = "a;up 10 30\na;up;more 5 9\na;down 30 10\na;same 20 20\na;gone;f 20 0\na;new;f 0 20\nb;little 100 101\n";

const numbers = (color) => color.startsWith("#") ? [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)) :
    color.match(/\d+/g).slice(0, 3).map(Number);
// Both compute in floating point, and their libraries may round the last digit another way.
const alike = (a, b) => a && b && numbers(a).every((v, i) => Math.abs(v - numbers(b)[i]) <= 1);

await main(async () => {
    for (const options of [[], ["--carry"], ["--change", "relative"], ["--change", "ratio"], ["--widths", "either"],
        ["--widths", "elided"]]) {
        const name = options.join(" ") || "as it is", picture = await open(render(TWO, ...options));
        const drawn = await picture.evaluate(() => ({
            frames: Object.fromEntries([...document.querySelectorAll("#frames > g")]
                .map((g) => [g.textContent.split(" (")[0] + g.dataset.d, g.querySelector("rect").getAttribute("fill")])),
            scale: [...document.querySelectorAll("#legend rect")].map((e) => e.getAttribute("fill")),
        }));
        await done(picture);
        const page = await explore(TWO, { colorScheme: "light" }, ...options);
        const shown = await page.evaluate(() => {
            const { chart: { view, graph, profile } } = document.querySelector(".chart-canvas");
            return { frames: Object.fromEntries(Array.from({ length: graph.n }, (_, i) => i).filter((i) => i && graph.total[i] > 0)
                .map((i) => [profile.names[graph.name[i]] + graph.depth[i], view.color(i)])),
            scale: [...document.querySelectorAll("#legend .scale i, #legend .swatch i")].map((e) => e.style.background) };
        });
        const both = Object.keys(shown.frames).filter((key) => drawn.frames[key]);
        ok(both.length >= 6,
            `${name}: picture and page share at least six frames`,
            Object.keys(drawn.frames).join());
        const other = both.filter((key) => !alike(shown.frames[key], drawn.frames[key]));
        is(other.map((key) => `${key}: ${drawn.frames[key]} ${shown.frames[key]}`).join("\n"), "",
            `${name}: each frame has the same colour in picture and page`);
        ok(new Set(both.map((key) => drawn.frames[key])).size >= 3,
            "comparison: the picture has several colours");
        const ends = (list) => [list[0], list[8]];
        ok(shown.scale.length >= 9 && ends(shown.scale).every((color, i) => alike(color, ends(drawn.scale)[i])),
            `${name}: the scale has the same ends in picture and page`,
            `${drawn.scale.join()}\n${shown.scale.join()}`);
        await done(page);
    }
});
