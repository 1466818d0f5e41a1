#!/bin/bash
# flame render -f png: a picture of the right size, in the right colours.
. "${0%/*}/../lib.sh"

printf 'main;read;parse 300\nmain;read 100\nmain;write 200\n' >in.folded
if ! ldconfig -p | grep -q 'libcairo\.so\.2'; then
    run_expect_status 1 'render -f png without cairo ends with status 1' "$FLAME" render -f png in.folded
    file_has err 'libcairo2' 'render -f png without cairo names the package'
    skip_all cairo 'libcairo.so.2 is not there'
fi

# Prints "WIDTH HEIGHT", or the colour at X Y, of a PNG of 8-bit RGB.
cat >png.py <<'END_PY'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, idat = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
    if kind == b"IHDR":
        width, height, depth, color = struct.unpack(">IIBB", body[:10])
        assert (depth, color) == (8, 2), (depth, color)
    if kind == b"IDAT":
        idat += body
    at += 12 + size
if len(sys.argv) == 2:
    print(width, height)
    sys.exit()
raw, stride, before = zlib.decompress(idat), 3 * width, bytearray(3 * width)
x, y = int(sys.argv[2]), int(sys.argv[3])
for row in range(y + 1):
    kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
    for i in range(stride):
        a, b, c = (line[i - 3] if i > 2 else 0), before[i], (before[i - 3] if i > 2 else 0)
        p = a + b - c
        paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
    before = line
print("#%02x%02x%02x" % tuple(before[3 * x:3 * x + 3]))
END_PY

run_expect_status 0 'render -o o.png succeeds' "$FLAME" render -o o.png in.folded
is_str "$(python3 png.py o.png)" '1200 130' 'the PNG has its size'
"$FLAME" render -o o.svg in.folded
color_of() {
    grep -o "<title>$1 (.*" o.svg | sed 's/.*fill="\(#[0-9a-f]*\)".*/\1/'
}
is_str "$(python3 png.py o.png 1150 93)" "$(color_of all)" \
    'the PNG has the root at the bottom, in the colour of the SVG'
is_str "$(python3 png.py o.png 1150 77)" "$(color_of main)" 'the PNG has main above the root'
is_str "$(python3 png.py o.png 1150 60)" "$(color_of write)" 'the PNG has write above main'
is_str "$(python3 png.py o.png 500 44)" "$(color_of parse)" 'the PNG has parse on top'
run "$FLAME" render -f png in.folded
ok 'render -f png on standard output writes the same bytes' cmp out o.png
"$FLAME" render --no-legend --inverted -o i.png in.folded
is_str "$(python3 png.py i.png 1150 45)" "$(color_of all)" '--inverted: the PNG has the root at the top'
"$FLAME" render --scale 2 --width 640 --subtitle x -o s.png in.folded
is_str "$(python3 png.py s.png)" '1280 308' '--scale, --width and --subtitle set the size of the PNG'
run_expect_status 2 'render --scale 0 ends with status 2' "$FLAME" render --scale 0 -o n.png in.folded

printf 'main;\377\300</title>\033[31m\007 5\nmain;\342\200\256x 5\n' >hostile
run_expect_status 0 'render -o h.png of hostile names succeeds' \
    "$FLAME" render --title $'\xff\x01' -o h.png hostile
python3 -c 'print("main;" + "x" * 1000000 + ";leaf 5")' >long
run_expect_status 0 'render -o l.png of a name of a megabyte succeeds' "$FLAME" render -o l.png long
python3 -c 'print("f;" * 100000 + "leaf 5")' >deep
run_expect_status 0 'render -o d.png of a stack of 100,000 frames succeeds' "$FLAME" render -o d.png deep
is_str "$(python3 png.py d.png)" '1200 32767' 'the PNG of a stack of 100,000 frames has the largest size'

done_testing
