// packed.mjs: numbers as folded text and pages have them (common/trace/varint_base64.h), for tests.

export function pack(numbers) {
    const bytes = [];
    for (let v of numbers) {
        for (; v >= 128; v = Math.floor(v / 128))
            bytes.push(v % 128 + 128);
        bytes.push(v);
    }
    return Buffer.from(bytes).toString("base64");
}

// A number below 0 as one that is not.
export const fold = (v) => v < 0 ? -2 * v - 1 : 2 * v;
// Difference of each number from the one before.
export const steps = (values) => pack(values.map((v, i) => fold(v - (i ? values[i - 1] : 0))));
export const bytesOf = (s) => pack(Buffer.from(s));
