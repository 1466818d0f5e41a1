// vision.mjs: how far apart colours are, also for people who do not see all of them, and how
// well a text can be read on one. Colours are [r, g, b] from 0 to 255.

const linear = (c) => c.map((v) => v / 255).map((v) =>
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const times = (matrix, c) => matrix.map((row) => row.reduce((sum, v, i) => sum + v * c[i], 0));

// Linear RGB as seen without one kind of cones. G. M. Machado, M. M. Oliveira, L. A. F.
// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
// Transactions on Visualization and Computer Graphics 15 (6), 2009, severity 1.
export const EYES = {
    "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039]],
};

// Bjorn Ottosson, "A perceptual color space for image processing", 2020: of linear RGB.
function oklab(c) {
    const [l, m, s] = times([[0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]],
    c.map((v) => Math.min(1, Math.max(0, v)))).map(Math.cbrt);
    return times([[0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
    [l, m, s]);
}

// Distance of two colours for one kind of eyes; 1 is from black to white, 0.02 can just be seen.
export function distance(a, b, eyes) {
    const [p, q] = [a, b].map((c) => oklab(times(EYES[eyes], linear(c))));
    return Math.hypot(...p.map((v, i) => v - q[i]));
}

// WCAG 2.2's contrast ratio of two colours, 1 to 21.
export function contrast(a, b) {
    const [x, y] = [a, b].map((c) => times([[0.2126, 0.7152, 0.0722]], linear(c))[0])
        .sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
}

// `over` with that opacity on `under`.
export const blend = (over, under, alpha) => over.map((v, i) => v * alpha + under[i] * (1 - alpha));

// "#rrggbb" or "rgb(r, g, b)".
export const color = (text) => text.startsWith("#") ?
    [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)) : text.match(/[\d.]+/g).map(Number).slice(0, 3);
