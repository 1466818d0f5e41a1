#!/bin/bash
# The script and style of a page are those whose digests its policy has, and nothing else runs; a
# dark picture is light on paper.
. "${0%/*}/../lib.sh"

cat >policy.py <<'END_PY'
import base64, hashlib, re, sys
text = open(sys.argv[1], "rb").read().decode("utf-8")
policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
def digest(s):
    return "'sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() + "'"
scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
styles = re.findall(r"<style>(.*?)</style>", text, re.S)
print(len(scripts), len(styles), len(re.findall(r"<script\b", text)), len(re.findall(r"<style\b", text)))
print(policy.replace(digest(scripts[0]), "SCRIPT").replace(digest(styles[0]), "STYLE"))
print(len(re.findall(r"\sstyle\s*=|\son\w+\s*=\s*[\"']", text.split('<script id="profile"')[0])))
END_PY
printf '%s\n' 'a;</script><script>alert(1)</script>;b 3' "c;'sha256-x' onload='x' 1" >in.folded
for page in in none; do
    [ $page = in ] || : >none.folded
    run_expect_status 0 "render -o $page.html succeeds" "$FLAME" render -o $page.html $page.folded
    is_str "$(python3 policy.py $page.html)" "1 1 2 1
default-src 'none'; worker-src blob:; script-src SCRIPT; style-src STYLE
0" "$page.html has one script and one style, and its policy allows no other"
done
file_lacks in.html 'unsafe-' "the page's policy has no unsafe exception"
is_int "$(sed -n '/^<script>$/,/^<\/script>$/p' in.html | grep -cE '^([[:blank:]]|/\*|$)')" 0 \
    "the page's script has no comments and no leading blanks"
ok "the page's script has lines" test "$(sed -n '/^<script>$/,/^<\/script>$/p' in.html | wc -l)" -gt 1000

run_expect_status 0 'render -o x.svg succeeds' "$FLAME" render -o x.svg in.folded
is_str "$(grep -o '@media[^{]*prefers[^{]*' x.svg)" '@media screen and (prefers-color-scheme: dark) ' \
    'the picture is dark on screens only'
done_testing
