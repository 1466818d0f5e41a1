#!/bin/bash
# Errors of flame run's command line: one line, exit 2, and nothing has run.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/refused.sh"

compile_victim keeper
refused 'no command' 'run: no command to run' run -o x.svg
refused 'no such process' 'process 2147483646: there is no such process' run -p 2147483646 -o x.svg
refused 'a process id that is no number' 'expected a process id' run -p x -o x.svg
refused 'a process and a command' 'run: -p and a command' run -o x.svg -p 1 ./touch.sh
refused 'a duration without a process' 'run: -d is for a process that runs' run -o x.svg -d 1 ./touch.sh
refused '--no-stops without a process' 'run: --no-stops is for processes that run' run -o x.svg --no-stops ./touch.sh
refused '--in-process with a process' 'run: --in-process is for commands, without -p' run -o x.svg --in-process -p 1
refused '--hz and --no-stops' 'run: --no-stops cannot look at threads that run' run -o x.svg --hz 9 --no-stops -p 1
for view in mmap slack fault sizes; do
    refused "--view $view of a process" "run: --view $view is for commands, without -p" run -o x.svg -p 1 --view $view
done
for option in '--sample=1k' '--max-disk=1m' --ancestors --lifetimes=time --snapshots=.; do
    refused "$option of a process" "run: ${option%%=*} is for commands, without -p" run -o x.svg -p 1 "$option"
done
refused 'an option of off alone' '--comm: unknown option' run --comm sh -o x.svg -- ./touch.sh
refused 'unknown view' '--view peek: expected alloc, .*, off, ' run --view peek -o x.svg -- ./touch.sh
refused 'unknown ending' 'run: -o x.svgg: .*\.svg' run -o x.svgg -- ./touch.sh
refused 'sampling and a view that needs every block' 'run: --view leak needs every block' \
    run --view leak --sample 1k -o x.svg -- ./touch.sh
refused '--in-process and --no-filter' 'run: --in-process is for commands, without --no-filter' \
    run --in-process --no-filter -o x.svg -- ./touch.sh
refused 'limits that leave nothing' 'run: --max-block is less than --min-block' \
    run --min-block 2ms --max-block 1ms -o x.svg -- ./touch.sh
refused 'snapshots nowhere' 'run: --snapshots none: No such file or directory' \
    run --snapshots none -o x.svg -- ./touch.sh
refused 'one file twice' 'run: -o x.svg is given twice' run -o x.svg -o y.html -o x.svg -- ./touch.sh
for beside in y.off y.2 y.17; do
    refused "traces at $beside twice" "run: -o y.flame and -o $beside.flame: the first has traces of that name as well" \
        run -o "$beside.flame" -o y.flame -- ./touch.sh
done
refused 'directory that is not there' 'none/x.html: cannot write: No such file' \
    run -o none/x.html ./touch.sh
refused 'the second output cannot be written' 'none/x.html: cannot write: No such file' \
    run -o x.svg -o none/x.html ./touch.sh
refused 'the second output has no ending' 'run: -o y: its suffix' run -o x.svg -o y ./touch.sh
refused 'missing command' 'no-such-command: no such program in PATH' \
    run -o x.svg -- no-such-command
printf 'int main(void) { return 0; }\n' >nothing.c
if "${CC:-gcc}" -static -o static nothing.c 2>/dev/null; then
    refused 'memory of a static program' 'linked statically' run --view peak -o x.svg -- ./static
fi
cp keeper other && printf '\xf3\x00' | dd of=other bs=1 seek=18 conv=notrunc status=none
refused 'another processor' 'another processor' run -o x.svg -- ./other
export FLAME_MEM_SHIM=$SCRATCH/nothing.c
refused 'a recorder that is no shared library' 'is not a shared library' run -o x.svg -- ./touch.sh

done_testing
