/*
 * ---- page_color.js: the colour of a frame ----
 *
 * By default frames of one package share a hue: the module, if the input has it, else the namespace
 * or directory that packageOf guesses from names. Each name has its own shade of it. Labels are
 * dark on every colour, in both themes.
 */

function hashText(s) {
    let h = 0x811c9dc5;
    for (let i = 0; i < s.length; i++)
        h = Math.imul(h ^ s.charCodeAt(i), 0x01000193);
    h = Math.imul(h ^ h >>> 16, 0x7feb352d);
    h = Math.imul(h ^ h >>> 15, 0x846ca68b);
    return (h ^ h >>> 16) >>> 0;
}

/*
 * Origin of a function, guessed from its name: "lib`f", "f (lib.so)", "[lib.so]" and
 * "[lib.so+0x1234]", Java and Go paths, Rust and C++ namespaces, Python files; for plain C the
 * prefix before the first underscore, as in sqlite3_step.
 */
function packageOf(name) {
    let m;
    if ((m = /^(.+?)`/.exec(name)))
        return m[1];
    if ((m = /\(([^()]*\/)?([^()\/]+\.(?:so[.\d]*|py|js|mjs|rb|dylib|exe|dll))(?::\d+)?\)$/
        .exec(name)))
        return m[2];
    if ((m = /^\[(.+?)(?:\+0x[0-9a-f]+)?\]$/.exec(name)))
        return m[1];
    if ((m = /^L?([\w$-]+(?:\/[\w$-]+)+)[.;\/:]/.exec(name)) ||
        (m = /^([\w-]+\.[\w-]+(?:\/[\w.-]+)+)\.\S/.exec(name)))
        return m[1];
    const bare = name.replace(/^(?:<|&|\*|\(|dyn |void |bool |int |unsigned |const |operator )+/, "");
    if ((m = /^([\w$~]+(?:\{[^}]*\})?)(?:<[^>]*>)?::/.exec(bare)))
        return m[1];
    if ((m = /^((?:[a-z_$][\w$]*\.)+)[\w$<]/.exec(bare)))
        return m[1].slice(0, -1);
    if ((m = /^_*([A-Za-z][A-Za-z0-9]*)_/.exec(bare)))
        return m[1];
    return bare;
}

/*
 * Oklch (Bjorn Ottosson's Oklab in polar form) as "rgb(...)": equal lightness looks
 * equally light in every hue, which hsl() is far from.
 */
function oklch(light, chroma, hue) {
    const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
    const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
    return "rgb(" + linear.map((v) => {
        const c = Math.min(1, Math.max(0, v));
        return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
    }).join() + ")";
}

/* A key's hue, and a name's shade of it. */
function shadeOf(hue, name, dark) {
    const g = hashText(name);
    return oklch((dark ? 0.735 : 0.82) + (g % 9 - 4) * 0.0075, 0.088 + (g >>> 8) % 5 * 0.006, hue);
}

function hueShade(key, name, dark) {
    const h = hashText(key);
    return shadeOf(h % 24 * 15 + (h >>> 8) % 7, name, dark);
}

/*
 * Kinds of code, as [hue, lightness] in the light and the dark theme. Hues alone are not enough for
 * colour-blind readers, so a search over hue and lightness chose values that are farthest apart for
 * all kinds of colour vision (0.085 at least in Oklab, see tests/browser/vision.mjs) with a label
 * readable on each.
 */
const KIND_LOOKS = {
    user: [[52, 0.75], [75, 0.74]], kernel: [[288, 0.87], [290, 0.9]], jit: [[163, 0.84], [157, 0.9]],
    inlined: [[108, 0.95], [77, 0.83]], waker: [[180, 0.95], [180, 0.71]], cold: [[249, 0.74], [260, 0.79]],
};

function lookShade(look, name, dark) {
    const [hue, light] = look[dark ? 1 : 0], g = hashText(name);
    return oklch(light + (g % 9 - 4) * 0.003, 0.094 + (g >>> 8) % 5 * 0.003, hue);
}

/* Pale yellow to deep orange-red by share. */
function heat(share, dark) {
    const t = Math.sqrt(Math.min(1, Math.max(0, share)));
    return oklch((dark ? 0.84 : 0.93) - (dark ? 0.11 : 0.2) * t, 0.05 + 0.13 * t, 95 - 60 * t);
}

/* Growth is vermilion and decline blue, which colour-blind people can distinguish, too. */
function changeColor(share, dark) {
    const t = Math.sqrt(Math.min(1, Math.abs(share)));
    if (share === 0)
        return dark ? "#8b9099" : "#d9dce1";
    return oklch((dark ? 0.84 : 0.92) - (dark ? 0.1 : 0.18) * t, 0.03 + 0.13 * t,
        share > 0 ? 45 : 245);
}

/* Dark enough for a white label; a thread has the same hue everywhere. */
const bandColor = (name) => oklch(0.42, 0.075, hashText(name) % 24 * 15);

/* Wakers, by their distance along the chain; the colours are as far apart as those of kinds. */
const HOP_LOOKS = [[[170, 0.73], [190, 0.9]], [[292, 0.75], [286, 0.83]], [[120, 0.95], [95, 0.89]],
    [[131, 0.84], [128, 0.71]], [[355, 0.92], [3, 0.79]]];

/* By node: the number of "--" between it and the sleeper; null without any. */
function countHops(profile, graph) {
    const link = profile.names.indexOf("--");
    if (link < 0)
        return null;
    const hops = new Uint8Array(graph.n), { name, depth } = graph;
    const open = [0, 0]; /* by depth: the hops of the open frame there, below the last caller */
    for (let i = 0; i < graph.n; i++) {
        hops[i] = open[depth[i]];
        open[depth[i] + 1] = Math.min(255, hops[i] + (name[i] === link ? 1 : 0));
    }
    return hops;
}

/* A function from a graph's node to its CSS colour; `marks` comes from marksOf. */
function colorist(profile, graph, mode, dark, marks, carry) {
    const plain = plainColorist(profile, graph, mode, dark, carry);
    if (!marks)
        return plain;
    return (i) => marks[i] === GONE ? (dark ? "#000000" : "#26262b") :
        marks[i] === NEW ? "#ffffff" :
            marks[i] === BAND ? bandColor(profile.names[graph.name[i]]) : plain(i);
}

function plainColorist(profile, graph, mode, dark, carry) {
    const cache = profile.colors || (profile.colors = new Map());
    const key = mode + (dark ? "-dark" : "");
    const separator = dark ? "#979da8" : "#b4b9c2";
    if (CHANGE_MODES.includes(mode) && graph.change) {
        const share = changeShare(graph, mode, carry);
        return (i) => changeColor(share(i), dark);
    }
    if (mode === "own" || mode === "total") {
        let most = 0;
        const v = mode === "own" ? graph.own : graph.total;
        for (let i = 1; i < graph.n; i++)
            most = Math.max(most, v[i]);
        const steps = Array.from({ length: 65 }, (_, k) => heat(k / 64, dark));
        return (i) => steps[most > 0 ? Math.round(64 * Math.min(1, v[i] / most)) : 0];
    }
    if (!cache.has(key))
        cache.set(key, new Array(profile.names.length));
    const known = cache.get(key);
    const make = (n) => {
        const name = profile.names[n], kind = profile.kinds[n];
        if (kind === "separator")
            return separator;
        if (mode === "kind")
            return lookShade(KIND_LOOKS[kind], name, dark);
        if (kind === "waker")
            return hueShade("waker", name, dark);
        if (kind === "cold")
            return lookShade(KIND_LOOKS.cold, name, dark);
        return hueShade(mode === "name" ? name : moduleOfName(profile, n) || packageOf(name), name, dark);
    };
    const hops = graph.depth && graph.n ? countHops(profile, graph) : null;
    return (i) => {
        if (hops && hops[i] && profile.kinds[graph.name[i]] !== "separator")
            return lookShade(HOP_LOOKS[(hops[i] - 1) % HOP_LOOKS.length],
                profile.names[graph.name[i]], dark);
        if (graph.name[i] === 0)
            return dark ? "#9aa1ad" : "#cdd2da";
        const n = graph.name[i];
        return known[n] || (known[n] = make(n));
    };
}
