#!/bin/bash
# The recipes of packaging/ fit the schemas of Kubernetes, GitHub and GitLab: no unknown key.
. "${0%/*}/../lib.sh"

# fits SCHEMA FILE: prints the errors.
fits() {
    python3 "$ROOT/tests/cli/yaml_json.py" "$2" >document.json &&
        python3 "$ROOT/tests/cli/schema_check.py" "$1" document.json
}

schemas=$ROOT/tests/cli/schemas
for recipe in kubernetes:kubernetes/record.yaml github-workflow:ci/github.yml gitlab-ci:ci/gitlab.yml; do
    file=$ROOT/packaging/${recipe#*:}
    schema=$schemas/${recipe%%:*}.json
    is_str "$(fits "$schema" "$file" 2>&1)" '' "packaging/${recipe#*:} fits its schema"
    sed 's/\(image\|script\|command\)\(s\{0,1\}\):/\1\2x:/' "$file" >spoiled.yml
    like "$(fits "$schema" spoiled.yml 2>&1)" '.' "packaging/${recipe#*:} with a misspelled key does not fit"
done

python3 - "$schemas/kubernetes.json" >part.json <<'EOS'
import json, sys
with open(sys.argv[1], encoding="utf-8") as f:
    schema = json.load(f)
print(json.dumps({"type": "object", "additionalProperties": False, "required": ["securityContext"],
                  "properties": {"securityContext": schema["definitions"]["securityContext"]}}))
EOS
is_str "$(fits part.json "$ROOT/packaging/kubernetes/look.yaml" 2>&1)" '' \
    'kubernetes/look.yaml fits a custom profile'

# Names in a manifest have to agree, which no schema says.
python3 "$ROOT/tests/cli/yaml_json.py" "$ROOT/packaging/kubernetes/record.yaml" >record.json
python3 - >wrong <<'EOS'
import json
with open("record.json", encoding="utf-8") as f:
    d = json.load(f)
pod = d["spec"]["template"]["spec"]
have = {v["name"] for v in pod["volumes"]}
for c in pod["initContainers"] + pod["containers"]:
    for m in c["volumeMounts"]:
        if m["name"] not in have:
            print(c["name"], m["name"])
if d["spec"]["selector"]["matchLabels"].items() - d["spec"]["template"]["metadata"]["labels"].items():
    print("selector")
EOS
is_str "$(cat wrong)" '' 'volumes and labels of record.yaml agree'
# The recipe's comment draws the files that the sidecar writes: the trace's name, and a part's
# ending.
recipe=$ROOT/packaging/kubernetes/record.yaml
part=$(sed -nE 's/.*out=([^:]*)\.flame.*/\1.part0001.flame/p' "$recipe" | sed 's/%e/app/; s/%p/7/; s/%n/1/')
drawn=$(sed -nE "s/^# Pictures:.* ([^ ]*)' >.*/\1/p" "$recipe")
# shellcheck disable=SC2254 # it is a pattern
case $part in
$drawn) test_ok 'record.yaml draws the parts that its sidecar writes' ;;
*) test_fail 'record.yaml draws the parts that its sidecar writes' "$part is not among $drawn" ;;
esac
done_testing
