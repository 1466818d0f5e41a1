# flame: one Makefile for everything; `make help` lists what it can do.
#
# Not recursive: each folder's sources are found by name and each object writes
# its own header dependencies (-MMD -MP) beside itself in $(O). Only demo and
# check call make again, once, because what they install must be there before
# the build looks for it.
#
# Every object depends on $(O)/flags, a file that holds the compiler and its
# flags and changes only when they do: another CC, SAN or CFLAGS in the same O
# builds everything afresh, and never mixes objects of two kinds.

ifeq ($(origin CC),default)
CC := gcc
endif
AR      ?= ar
PREFIX  ?= /usr/local
# Libraries go to LIBDIR/flame, where flame looks for them relative to itself (driver/run/launch.c).
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
V       ?= 0
SAN     ?=
O       ?= build
FUZZ_SECONDS ?= 60

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Wundef -Wwrite-strings
BASE    := -std=gnu11 -I. -I$(O) -fno-omit-frame-pointer -fno-strict-aliasing
ifneq ($(SAN),)
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all
endif

Q := @
ifeq ($(V),1)
Q :=
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# The processor that CC compiles for. Sources named for another one are not built, except those that
# read its code and need not run on it.
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ELSEWHERE := $(addprefix %_,$(addsuffix .c,$(filter-out $(ARCH),x86_64 aarch64)))
READ_ONLY := patch/find/isa_x86_64.c unwind/remote/remote_call_x86_64.c unwind/remote/remote_prologue_x86_64.c
here = $(filter-out $(filter-out $(READ_ONLY),$(filter $(ELSEWHERE),$(1))),$(1))

# ---- packages, by their Debian names; scripts/deps.sh knows what each is for ----

BUILD_PKGS := gcc libc6-dev libdwarf-dev libelf-dev libiberty-dev uthash-dev liblzma-dev \
              libzstd-dev zlib1g-dev libpcre2-dev libunwind-dev libcairo2-dev libncurses-dev libseccomp-dev \
              libprotobuf-c-dev protobuf-c-compiler pkg-config
DEMO_PKGS  := jq
# The browser tests' are in scripts/browser.sh: all else is tested without them.
TEST_PKGS  := g++ strace golang-go protobuf-compiler valgrind perl binutils dwz xz-utils zstd python3 \
              sqlite3 git libjemalloc2 libjemalloc-dev libtcmalloc-minimal4 libc-devtools redis-server redis-tools \
              procps zsh fish musl-tools time python3-jsonschema python3-yaml libxml2-utils libdebuginfod-dev \
              tmux bats cmake meson automake python3-pytest libgtest-dev catch2 libcmocka-dev check
# Debian 11 has none of it: the tests go on without, and say so.
MAYBE_PKGS := libmimalloc-dev
DEPS_MAYBE  = for package in $(MAYBE_PKGS); do CC='$(CC)' scripts/deps.sh $$package || \
              echo "flame: tests go on without $$package"; done
PROGRAM_PKGS := python3 libpython3-testsuite redis-server redis-tools
EXAMPLE_PKGS := python3 postgresql redis-server redis-tools
BENCH_PKGS := jq sqlite3 python3 time g++
# Tools that make bench compares with, each only if it can be installed.
PEER_PKGS  := strace heaptrack libjemalloc2 libgoogle-perftools4 valgrind
# Tools that make packages and check them.
DEB_PKGS   := debhelper lintian musl-tools
RPM_PKGS   := rpm
# For .ci/run. gawk becomes awk where it is installed; Debian brings mawk.
GATE_PKGS  := ccache linux-perf clang libclang-rt-dev clang-format shellcheck mandoc pyflakes3 valgrind gawk
# For .ci/full besides.
FULL_PKGS  := gcc-aarch64-linux-gnu qemu-user systemd debootstrap default-jdk-headless

# ---- what goes into what ----

# Both the shim and the program use these; they never call malloc.
SHARED_SRC := common/clock.c common/kernel.c common/trace/trace_writer.c common/pages.c common/procmaps.c \
              common/loaderline.c \
              common/procpath.c common/elfdyn.c common/preloadable.c common/trace/lifeclass.c \
              common/env/preloadlist.c \
              $(call here,$(wildcard unwind/*.c))
# Python's functions, for the recorder, the agent and the library of waits.
PYTHON_SRC := $(wildcard unwind/python/*.c)
SHIM_ROOMS := preload preload/store preload/shadow preload/runtime preload/sidetables preload/allocators preload/misuse preload/mapping preload/api preload/leak preload/kept preload/lifetimes preload/resident preload/firsttouch preload/python
SHIM_SRC   := $(SHARED_SRC) $(PYTHON_SRC) common/termtext.c common/utf8.c $(call here,$(wildcard $(addsuffix /*.c,$(SHIM_ROOMS))))
# libflamewait.so, which is preloaded: waits seen from inside the program.
WAIT_SRC   := $(wildcard inproc/*.c)
WAIT_ALL   := $(SHARED_SRC) $(PYTHON_SRC) $(WAIT_SRC) $(wildcard inproc/lib/*.c patch/*.c)
# The one call instruction that libflamewait's handlers use has a library of its own, at an address
# that inproc/gate.h names, too.
GATE_SRC   := inproc/gate/gate.c
# A stage's rooms are its folders of sources: tracer/ptrace, fold/symbols and so on. Calls are
# patched and logged on x86-64 only (docs/ports.md). Elsewhere sources that report this replace them.
ifeq ($(ARCH),x86_64)
X86_ONLY   :=
else
X86_ONLY   := tracer/inproc/inproc_source.c
endif
ROOMS      := $(sort $(patsubst %/,%,$(dir $(wildcard $(addsuffix /*.c,common/* unwind/* tracer tracer/* inject inject/memory \
              patch patch/* inproc/reader fold fold/* render render/* driver/*)))))
# Libraries that flame loads when it needs them; tests are linked with theirs.
LATE_SRC   := common/lazyload/lazyload.c
LATE_LIST  := $(O)/generated/latelibs.h
LIB_SRC    := $(filter-out $(LATE_SRC) $(PYTHON_SRC) $(filter-out %_$(ARCH).c,$(filter $(X86_ONLY),$(wildcard tracer/*.c tracer/*/*.c))),$(call here,$(wildcard common/*.c $(addsuffix /*.c,$(ROOMS)) driver/*.c))) \
              unwind/cfi.c unwind/rules.c unwind/frametable.c unwind/epilogue_$(ARCH).c inproc/syscall_mark.c \
              inproc/cutwrite.c inproc/rseq.c preload/runtime/seccomp_filter.c preload/shadow/pagemap.c unwind/python/pylayout.c $(addprefix preload/resident/,pageindex.c pagescan.c smaps.c)
# The recorder that flame maps into processes it attaches to: a part of flame's own file.
AGENT_SRC  := $(wildcard inject/agent/*.c) unwind/cfi.c unwind/rules.c preload/shadow/shadow.c \
              preload/shadow/shadow_big.c $(filter-out unwind/python/pyframes.c unwind/python/pyhost_libc.c,$(PYTHON_SRC))
ifneq ($(ARCH),x86_64)
GATE_SRC   :=
WAIT_ALL   :=
endif
# Patching is for code that runs inside of programs.
FLAME_SRC  := flame.c $(filter-out patch/patcher.c patch/code_pages.c patch/stub% patch/entry/%,$(LIB_SRC))
# Written by the build, into $(O)/generated: protobuf-c's code for render/export/profile.proto.
GENERATED  := $(O)/generated/profile.pb-c
ASSETS     := $(wildcard render/assets/*.js render/assets/*/*)
MAN        := $(wildcard man/*.[1-8])
HEADERS    := $(wildcard *.h $(addsuffix /*.h,common common/* unwind unwind/* patch patch/* inproc inproc/* inject inject/* \
              preload preload/* tracer tracer/* fold fold/* render render/* driver driver/* tests))

# Sources that unit tests and fuzz targets link with: all but main(), and but the hooks and their
# start-up code, which would take over the test's own malloc.
TEST_LIB_SRC := $(sort $(LIB_SRC) $(SHARED_SRC) $(PYTHON_SRC) $(WAIT_SRC) \
                $(filter-out preload/hooks% preload/lifecycle% preload/sigbus% preload/leak/hook% preload/leak/api% preload/kept/hook% preload/lifetimes/hook% preload/resident/hook% preload/firsttouch/hook% preload/python/hook% preload/mapping/hook% preload/api/api% preload/allocators/hook% preload/misuse/misuse_init%,$(filter preload/%,$(SHIM_SRC))))

# Sources of libflamewait.so that can be tested without a process of their own.
TEST_LIB_SRC += $(if $(WAIT_ALL),inproc/lib/arena.c inproc/lib/eintr_retry.c inproc/lib/open_fds.c inproc/lib/ownclock.c \
                inproc/lib/arg_memory.c inproc/lib/polledfiles.c)

# Helpers of several unit tests and fuzz targets.
TEST_LIB_SRC += $(filter-out $(if $(WAIT_ALL),,tests/unit/calls_rows.c tests/unit/offcpu_stage.c),$(wildcard tests/unit/*.c))

UNIT_SRC   := $(wildcard tests/unit/*/test_*.c)
FUZZ_SRC   := $(wildcard tests/fuzz/fuzz_*.c)

FLAME_OBJ  := $(FLAME_SRC:%.c=$(O)/obj/%.o) $(GENERATED).o
LATE_OBJ   := $(LATE_SRC:%.c=$(O)/obj/%.o)
SHIM_OBJ   := $(SHIM_SRC:%.c=$(O)/pic/%.o)
LIB_OBJ    := $(TEST_LIB_SRC:%.c=$(O)/obj/%.o) $(GENERATED).o
TEST_OBJ   := $(UNIT_SRC:%.c=$(O)/obj/%.o) $(FUZZ_SRC:%.c=$(O)/obj/%.o) \
              $(O)/obj/tests/fuzz/replay.o
UNIT_BIN   := $(UNIT_SRC:%.c=$(O)/%)
FUZZ_BIN   := $(FUZZ_SRC:%.c=$(O)/%)
LIBFUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzzers/%)
AGENT_OBJ  := $(AGENT_SRC:%.c=$(O)/agent/%.o)
AGENT      := $(O)/generated/flameagent.so
GATE_OBJ   := $(GATE_SRC:%.c=$(O)/pic/%.o)
GATE       := $(if $(GATE_SRC),$(O)/libflamegate.so)
WAIT_OBJ   := $(WAIT_ALL:%.c=$(O)/bare/%.o)
WAIT       := $(if $(WAIT_ALL),$(O)/libflamewait.so)
# flame and its libraries, linked so that they run with older C libraries; packaging/packages.mk has
# the differences.
PORTABLE   := $(O)/tarball/linked
# The recorder patches a few sites (preload/mapping/libc_mmap_patch_x86_64.c): a page is room for them.
PATCH_SRC  := $(call here,$(wildcard patch/entry/*.c))
ifeq ($(ARCH),x86_64)
PATCH_SRC  += $(wildcard patch/*.c) patch/find/isa.c patch/find/isa_x86_64.c
endif
PATCH_OBJ  := $(PATCH_SRC:%.c=$(O)/few/%.o)
SHIM       := $(if $(wildcard preload/*.c),$(O)/libflamemem.so)

# The recorder for programs that use musl, where musl-gcc is. It has the same name in a folder of
# its own, as other code knows it by that name.
MUSL_GCC   := $(shell command -v musl-gcc 2>/dev/null)
MUSL_SRC   := $(filter-out unwind/fallback_libunwind.c,$(SHIM_SRC)) $(wildcard preload/musl/*.c)
MUSL_OBJ   := $(MUSL_SRC:%.c=$(O)/musl/obj/%.o) $(PATCH_OBJ:$(O)/few/%=$(O)/musl/obj/%)
MUSL_SHIM  := $(if $(MUSL_GCC),$(O)/musl/libflamemem.so)

# Debian 12's libdwarf has no .pc file; later ones keep their header elsewhere.
DWARF_CFLAGS := $(shell pkg-config --cflags libdwarf 2>/dev/null)
SECCOMP_CFLAGS := $(shell pkg-config --cflags libseccomp 2>/dev/null)
SECCOMP_LIBS := $(shell pkg-config --libs libseccomp 2>/dev/null || echo -lseccomp)
FLAME_LIBS := $(SECCOMP_LIBS) -lpthread -lunwind-$(ARCH) -ldwarf -lelf -lpcre2-8 -lprotobuf-c -llzma -lzstd -lz \
              -liberty -lm -ldl
SHIM_LIBS  := -ldl
# Unit tests may ask libunwind for a second opinion. glibc before 2.34 has mq_open in librt.
TEST_LIBS  := -Wl,--as-needed -lunwind-ptrace -lunwind -lpthread -lrt -ldl $(FLAME_LIBS)

# ccache(1), where it is installed, keeps what it has compiled once; `make CCACHE=` does without. It is no
# part of CC: tests run $CC, whose name has no blank.
ifeq ($(origin CCACHE),undefined)
CCACHE  := $(shell command -v ccache 2>/dev/null)
endif
# Expanded where it is used, so that a target's own CFLAGS count.
CC_WITH_FLAGS = $(CC) $(BASE) $(WARN) $(DWARF_CFLAGS) $(SECCOMP_CFLAGS) $(CFLAGS)
COMPILE       = $(CCACHE) $(CC_WITH_FLAGS)
# GNU libc's own checks of sizes (_FORTIFY_SOURCE) stay as CFLAGS has them.
# The hot path crosses files; gcc makes it one piece (clang would need lld for it).
SHIM_LTO := $(if $(findstring clang,$(CC)),,-flto=auto -flto-partition=one)
PICFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fno-tree-slp-vectorize $(SHIM_LTO)
# Vector registers are the program's, and what would be made a call of memcpy stays a loop.
# No link-time optimization: assembly names C's symbols there, which it would not see.
# No __OPTIMIZE__: with it older C libraries' headers have functions that return doubles.
BAREFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector \
             -fno-tree-vectorize -mgeneral-regs-only -fno-lto -U_FORTIFY_SOURCE -U__OPTIMIZE__

# musl-gcc is gcc, whatever CC is.
# On aarch64 libgcc's atomics ask glibc which of them the processor has.
BARE_ATOMICS := $(if $(filter aarch64,$(ARCH)),-mno-outline-atomics)
MUSL_FLAGS := $(BASE) $(WARN) $(filter-out -fsanitize%,$(CFLAGS)) -isystem $(O)/musl/include $(BARE_ATOMICS)
MUSL_PIC   := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector \
              -fno-tree-slp-vectorize -flto=auto -flto-partition=one

# No library, no relocation, no vector register, and nothing of the program's.
AGENTFLAGS := $(BAREFLAGS) $(BARE_ATOMICS) -ffreestanding -ffunction-sections -fdata-sections \
              $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)

.PHONY: all
all: $(O)/flame $(SHIM) $(MUSL_SHIM) $(GATE) $(WAIT) ## build flame and libflamemem.so in $(O) (the default)

# Libraries in $(LATE_LIST) are not needed at the start: --as-needed leaves them out.
$(O)/flame: $(FLAME_OBJ) $(LATE_OBJ) $(O)/files
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $(FLAME_OBJ) $(LATE_OBJ) \
		-Wl,--as-needed $(FLAME_LIBS)

$(LATE_LIST): $(FLAME_OBJ) scripts/latelibs.sh
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)scripts/latelibs.sh '$(CC)' '$(FLAME_LIBS)' $(FLAME_OBJ) >$@.new
	$(Q)cmp -s $@.new $@ && rm $@.new && touch $@ || mv $@.new $@

# Its assembly names C's symbols, which link-time optimization would not see. (Not CFLAGS +=, which a CFLAGS
# of the command line overrides.)
$(LATE_OBJ): private OBJFLAGS := -fno-lto
$(LATE_OBJ): $(LATE_LIST)

# The memory recorder is never built with sanitizers: it runs inside programs that are not. Its text
# and what is read with it are one mapping: every process makes it, and every fork copies it.
$(O)/libflamemem.so $(PORTABLE)/libflamemem.so: $(SHIM_OBJ) $(PATCH_OBJ) preload/libflamemem.map $(O)/files
	@echo "  LD    $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SHIM_LTO) $(LDFLAGS) -shared -o $@ $(SHIM_OBJ) $(PATCH_OBJ) \
		-Wl,--version-script=preload/libflamemem.map -Wl,-soname,libflamemem.so \
		-Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,noseparate-code $(SHIM_LIBS)

$(O)/musl/libflamemem.so: $(MUSL_OBJ) preload/libflamemem.map $(O)/files
	@echo "  LD    $@"
	$(Q)sed 's/^    dlclose;/&\n    system;\n    popen;\n    wordexp;/' preload/libflamemem.map >$(O)/musl/libflamemem.map
	$(Q)$(MUSL_GCC) $(MUSL_FLAGS) -shared -o $@ $(MUSL_OBJ) -Wl,--build-id \
		-Wl,--version-script=$(O)/musl/libflamemem.map -Wl,-soname,libflamemem.so \
		-Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,noseparate-code

# Found beside the gate, which it loads. It runs between the program and the kernel.
$(WAIT) $(PORTABLE)/libflamewait.so: $(WAIT_OBJ) $(GATE) $(O)/files
	@echo "  LD    $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(WAIT_OBJ) $(GATE) -Wl,-soname,libflamewait.so \
		-Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,noseparate-code -Wl,--exclude-libs,ALL $(SHIM_LIBS)

$(O)/bare/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $< (waits)"
	$(Q)$(COMPILE) $(BAREFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# The kernel's headers and no other of the C library that is not musl.
$(O)/musl/include:
	@mkdir -p $@
	$(Q)for part in linux/ptrace.h asm-generic/errno.h asm/unistd.h; do \
		file=$$(echo "#include <$$part>" | $(CC) -E -x c - | sed -n "s|^# 1 \"\(.*/$$part\)\".*|\1|p" | head -n 1); \
		ln -sfn "$$(realpath "$${file%/*}")" "$@/$${part%/*}"; done

$(O)/musl/obj/patch/%.o: patch/%.c $(O)/musl/flags | $(O)/musl/include
	@mkdir -p $(@D)
	@echo "  CC    $< (musl, few)"
	$(Q)$(CCACHE) $(MUSL_GCC) $(MUSL_FLAGS) $(BAREFLAGS) -DSTUB_HOME_SLOTS=32 -MMD -MP -c -o $@ $<

$(O)/musl/obj/%.o: %.c $(O)/musl/flags | $(O)/musl/include
	@mkdir -p $(@D)
	@echo "  CC    $< (musl)"
	$(Q)$(CCACHE) $(MUSL_GCC) $(MUSL_FLAGS) $(MUSL_PIC) -MMD -MP -c -o $@ $<

$(O)/few/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $< (few)"
	$(Q)$(COMPILE) $(BAREFLAGS) -DSTUB_HOME_SLOTS=32 $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(O)/agent/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $< (agent)"
	$(Q)$(COMPILE) $(AGENTFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(AGENT): $(AGENT_OBJ) $(O)/files
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) -nostdlib -shared -s -o $@ $(AGENT_OBJ) -Wl,--gc-sections -Wl,-z,defs \
		-Wl,-Bsymbolic -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,noexecstack \
		-Wl,--hash-style=sysv -Wl,--build-id=none

$(O)/obj/inject/agent_image.o: $(AGENT)
$(O)/obj/inject/agent_image.o: private OBJFLAGS := -DFLAME_AGENT='"$(AGENT)"' -fno-lto

# Nothing in it but the one function: it needs no start-up files and no library. Its name has its
# path, so that the loader, which the tracer stops at each lookup, searches nowhere else.
$(GATE): $(GATE_OBJ) $(O)/files
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) -nostdlib -shared -o $@ $(GATE_OBJ) -Wl,-soname,'$$ORIGIN/libflamegate.so' \
		-Wl,-Ttext-segment=0x7a3c0000 -Wl,--section-start=.flamegate=0x7a3c8000 -Wl,-z,noexecstack

$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(COMPILE) $(SANFLAGS) $(CPPFLAGS) $(OBJFLAGS) -MMD -MP -c -o $@ $<

# Code that runs once, at the end or on demand: small, as code that runs at every process's start
# lies in the same pages.
$(addprefix $(O)/pic/preload/resident/,hooks_resident.o known_ranges.o ownernodes.o recorder_memory.o pagescan.o \
    nonheap_parts.o residentrows.o smaps.o) $(O)/pic/preload/api/%.o \
    $(O)/pic/preload/firsttouch/%.o: PICFLAGS += -Os

$(O)/pic/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $< (shim)"
	$(Q)$(COMPILE) $(PICFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# protobuf-c's generator is a plugin of protoc; by its old name, where there is no protoc, it warns since 1.5.2.
PROTOC_C := $(if $(and $(shell command -v protoc),$(shell command -v protoc-gen-c)),protoc,protoc-c)

# Generated code is not ours to lint, but what includes it is.
$(GENERATED).c: render/export/profile.proto
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)$(PROTOC_C) --c_out=$(@D) --proto_path=$(<D) $<

$(GENERATED).h: $(GENERATED).c ;

$(GENERATED).o: $(GENERATED).c $(O)/flags
	@echo "  CC    $<"
	$(Q)$(CCACHE) $(CC) $(BASE) -w $(CFLAGS) $(SANFLAGS) -c -o $@ $<

$(O)/obj/render/export/export_pprof.o: $(GENERATED).h

# Files pulled in by the assembler's .incbin are in no .d file.
$(O)/obj/render/backends/assets.o: $(ASSETS)
$(O)/obj/driver/suppress/builtin_suppressions.o: driver/suppress/known.supp

-include $(FLAME_OBJ:.o=.d) $(SHIM_OBJ:.o=.d) $(MUSL_OBJ:.o=.d) $(PATCH_OBJ:.o=.d) $(GATE_OBJ:.o=.d) $(AGENT_OBJ:.o=.d) $(WAIT_OBJ:.o=.d) $(LATE_OBJ:.o=.d) $(LIB_OBJ:.o=.d) $(TEST_OBJ:.o=.d)

# Three files that change only when what they say does. Whether there is a musl-gcc is nothing to the others.
FLAGS_NOW := $(CC_WITH_FLAGS) $(SANFLAGS) $(CPPFLAGS) $(PICFLAGS) $(BAREFLAGS) $(LDFLAGS)
MUSL_NOW  := $(MUSL_GCC) $(MUSL_FLAGS) $(MUSL_PIC) $(BAREFLAGS)
FILES_NOW := $(FLAME_SRC) $(LATE_SRC) $(SHIM_SRC) $(MUSL_SRC) $(GATE_SRC) $(AGENT_SRC) $(WAIT_ALL) $(TEST_LIB_SRC)

.PHONY: FORCE
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(FLAGS_NOW))' >$@

$(O)/musl/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(MUSL_NOW))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(MUSL_NOW))' >$@

# A source that goes away must leave the programs it was in.
$(O)/files: FORCE
	@mkdir -p $(@D)
	@echo '$(FILES_NOW)' | cmp -s - $@ || echo '$(FILES_NOW)' >$@

# Each header compiles alone: tests/cli/repo/t0002-repo-headers.sh makes this.
HEADER_OBJ := $(HEADERS:%.h=$(O)/headers/%.o)
.PHONY: headers
headers: $(HEADER_OBJ)

$(HEADER_OBJ): $(O)/headers/%.o: %.h $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -x c -MMD -MP -c -o $@ $<

-include $(HEADER_OBJ:.o=.d)

# ---- tests ----

$(O)/libflame-test.a: $(LIB_OBJ) $(O)/files
	@echo "  AR    $@"
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(LIB_OBJ)

# Some 170 programs are linked for the tests. Of the linkers that a machine may have, gold takes half the
# processor's time that GNU ld does. Not for another processor: gold does not find what links of a
# sysroot lead to.
FAST_LD := $(if $(filter gcc,$(CC)),$(shell command -v ld.gold >/dev/null && echo -fuse-ld=gold))

$(UNIT_BIN): $(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(O)/libflame-test.a
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(FAST_LD) $(LDFLAGS) -o $@ $< $(O)/libflame-test.a $(TEST_LIBS)

$(FUZZ_BIN): $(O)/tests/fuzz/%: $(O)/obj/tests/fuzz/%.o $(O)/obj/tests/fuzz/replay.o \
		$(O)/libflame-test.a
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(FAST_LD) $(LDFLAGS) -o $@ $< $(O)/obj/tests/fuzz/replay.o \
		$(O)/libflame-test.a $(TEST_LIBS)

CLI_TESTS     := $(wildcard tests/cli/*/t[0-9]*.sh)
BROWSER_TESTS := $(wildcard tests/browser/t[0-9]*.mjs)
# Tests that take longest run only with FULL=1, which .ci/full gives. Others then try all
# that they have, not some of it: their environment has FLAME_TEST_FULL=1.
FULL          ?=
FULL_TESTS    := tests/browser/t0551-firefox.mjs tests/cli/repo/t0801-bench.sh
# Those that take longest come first: then no processor has nothing to do at the end.
TESTS         ?= $(if $(filter-out 0,$(FULL)),$(FULL_TESTS)) $(filter-out $(FULL_TESTS),$(BROWSER_TESTS) $(CLI_TESTS)) $(FUZZ_BIN) $(UNIT_BIN)
TEST_JOBS     ?= 2
TEST_CLOCK    := $(O)/tests/testclock
# A test that hangs fails after this many seconds, and no test has an input. (One that takes half a
# minute of CPU took 300 s beside others, and had nothing wrong.)
TEST_TIMEOUT  ?= 900
PROVE         := prove -j$(TEST_JOBS) -e '$(TEST_CLOCK) $(TEST_TIMEOUT)'

# The environment of tests. MAKEFLAGS is emptied because a test that calls make is not part of this
# one; FLAME_MAKE is make with the flags of this build.
TEST_ENV = MAKEFLAGS= MAKELEVEL= O='$(O)' CC='$(CC)' SAN='$(SAN)' \
	FLAME='$(abspath $(O))/flame' SHIM='$(abspath $(O))/libflamemem.so' \
	FLAME_MAKE="$(MAKE) --no-print-directory O='$(O)' CC='$(CC)' SAN='$(SAN)' CFLAGS='$(CFLAGS)'" \
	$(if $(filter-out 0,$(FULL)),,FLAME_DEBUG_DIRS=none) FLAME_TEST_FULL='$(if $(filter-out 0,$(FULL)),1,0)' ASAN_OPTIONS=exitcode=99:$${ASAN_OPTIONS-}

.PHONY: build-tests run-tests check unit fuzz-replay
build-tests: all $(UNIT_BIN) $(FUZZ_BIN) $(TEST_CLOCK)

$(TEST_CLOCK): tests/testclock.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(WARN) -O1 -D_GNU_SOURCE -std=gnu11 -o $@ $<

check: ## install what is missing, build, and run every test
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(DEMO_PKGS) $(TEST_PKGS)
	$(Q)$(DEPS_MAYBE)
	$(Q)scripts/browser.sh --install
	$(Q)$(MAKE) --no-print-directory build-tests
	$(Q)$(MAKE) --no-print-directory run-tests FULL='$(FULL)'

# TESTS="tests/cli/mem/t0601-*.sh" runs a few only.
run-tests: build-tests ## run the tests on what is there, installing nothing; SLOWEST=10 are listed
	$(Q)$(TEST_ENV) TEST_TIMES='$(abspath $(O))/test-times' $(if $(SLOWEST),SLOWEST='$(SLOWEST)') \
		scripts/run-tests.sh $(PROVE) --timer -- $(TESTS)

unit: $(UNIT_BIN) $(TEST_CLOCK) ## run the unit tests only
	$(Q)$(TEST_ENV) $(PROVE) $(UNIT_BIN) </dev/null

# Writes the results that the state machine must find in tests/corpus/events. Review the changes.
.PHONY: renew-replays
renew-replays: $(O)/tests/unit/tracer/test_replay ## rewrite the expected results of test_replay
	$(Q)RENEW_REPLAYS=1 $<

fuzz-replay: $(FUZZ_BIN) $(TEST_CLOCK) ## run the fuzz targets over their corpora
	$(Q)$(TEST_ENV) $(PROVE) $(FUZZ_BIN) </dev/null

# The fuzzer wants to see the code it covers: what it links with is a build of its own, which
# is one of the sanitizers, too.
FUZZ_BUILD := O='$(O)/libfuzzer' CC=clang SAN=fuzzer-no-link,address,undefined

$(LIBFUZZ_BIN): $(O)/fuzzers/%: $(O)/obj/tests/fuzz/%.o $(O)/libflame-test.a
	@mkdir -p $(@D)
	@echo "  FUZZ  $@"
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $< $(O)/libflame-test.a \
		$(TEST_LIBS)

.PHONY: fuzz fuzzers run-fuzzers
fuzz: ## fuzz each parser for FUZZ_SECONDS (60); needs clang
	$(Q)$(MAKE) --no-print-directory $(FUZZ_BUILD) run-fuzzers

fuzzers: $(LIBFUZZ_BIN)

run-fuzzers: fuzzers
	$(Q)set -e; for t in $(LIBFUZZ_BIN); do \
		name=$${t##*/fuzz_}; \
		corpus=$$name; [ $$name != picture ] || corpus=folded; \
		mkdir -p $(O)/found/$$name; \
		echo "  FUZZ  $$name, $(FUZZ_SECONDS) s"; \
		$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-artifact_prefix=$(O)/crash-$$name- -print_final_stats=1 \
			$(O)/found/$$name \
			$$(ls -d tests/corpus/$$corpus 2>/dev/null); \
	done

# ---- other people's programs, traced ----

# Minutes: test suites and servers that must not notice. Not a part of check.
.PHONY: harmless
harmless: ## run other programs' own tests under flame off (about 15 minutes)
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(PROGRAM_PKGS)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(TEST_ENV) prove -v -e 'timeout -k 5 3600' $(wildcard tests/programs/*.sh) </dev/null

# ---- for another processor ----

# Built by a cross compiler against libraries in a directory of their own, and run by qemu-user. What
# of the units needs ptrace, perf, many threads or x86-64's own code is not run (docs/ports.md).
CROSS_PKGS    := gcc-aarch64-linux-gnu qemu-user
CROSS_O       := $(O)/aarch64
CROSS_ROOT    := $(O)/sysroot-aarch64
CROSS_MAKE     = $(MAKE) --no-print-directory O='$(CROSS_O)' CC='aarch64-linux-gnu-gcc --sysroot=$(abspath $(CROSS_ROOT))' \
                 AR=aarch64-linux-gnu-ar MUSL_GCC='$(abspath $(CROSS_ROOT))/musl-gcc' EMULATOR='qemu-aarch64 -L $(abspath $(CROSS_ROOT))'
CROSS_UNITS   := tracer/test_callregs tracer/test_ptraced unwind/test_aarch64 unwind/test_stack_cache unwind/test_sharedrules fold/test_texthash_portable \
                 common/test_control_block common/test_strbuf common/test_folded common/test_trace_reader render/test_frametree \
                 preload/test_shadow preload/test_stacks
CROSS_TESTS   := tests/cli/repo/t0014-repo-processors.sh tests/cli/mem/t0146-mem-aarch64.sh \
                 tests/cli/pack/t0757-pack-aarch64.sh
.PHONY: cross-aarch64
cross-aarch64: all $(TEST_CLOCK) ## build for aarch64 with a cross compiler, with its tarball, and test under qemu-user
	$(Q)for tool in aarch64-linux-gnu-gcc qemu-aarch64; do command -v $$tool >/dev/null || { \
		echo "flame: cross-aarch64: no $$tool here; the packages are $(CROSS_PKGS)" >&2; exit 2; }; done
	$(Q)scripts/cross.sh '$(CROSS_ROOT)'
	+$(Q)$(CROSS_MAKE) tarball $(CROSS_UNITS:%=$(CROSS_O)/tests/unit/%)
	$(Q)$(TEST_ENV) prove -j$(TEST_JOBS) -e "qemu-aarch64 -L $(CROSS_ROOT)" \
		$(CROSS_UNITS:%=$(CROSS_O)/tests/unit/%) </dev/null
	$(Q)$(TEST_ENV) $(PROVE) $(CROSS_TESTS) </dev/null

# By a kernel for aarch64 in qemu-system-aarch64: tests of ptrace, many threads and signals.
# docs/ports.md lists what is proven and what is too slow for it. Installs nothing.
GUEST_UNITS   := $(addprefix tracer/,test_attach test_source test_ptraced test_sleep_since test_proctask test_tracee) \
                 $(addprefix inject/,test_allstop test_linkmap test_libc_heap) preload/test_pagemap
GUEST_TESTS   := tests/cli/off/t0903-off-command.sh tests/cli/off/t0912-off-errors.sh \
                 $(addprefix tests/cli/mem/,t0102-mem-known.sh t0131-mem-maps.sh t0161-mem-attach-leaks.sh) tests/cli/leak/t0741-leak-kinds.sh
.PHONY: guest-check
guest-check: ## test under a kernel for aarch64, in qemu-system-aarch64 (about 4 minutes); GUEST_PAGES=16: with such pages
	$(Q)scripts/cross.sh '$(CROSS_ROOT)'
	$(Q)$(CROSS_MAKE) all $(GUEST_UNITS:%=$(CROSS_O)/tests/unit/%)
	$(Q)O='$(O)' GUEST_SECONDS=$(TEST_TIMEOUT) GUEST_TEST_SECONDS=300 GUEST_PAGES=$(GUEST_PAGES) scripts/guest.sh -t '$(O)/guest-aarch64$(GUEST_PAGES:%=-%k)' \
		$(GUEST_UNITS:%=build/tests/unit/%) $(GUEST_TESTS) </dev/null || \
		{ status=$$?; [ $$status -ne 77 ] || touch '$(O)/guest-aarch64.missing'; exit $$status; }

# ---- do the tests notice? ----

# Bounded in time, and never a part of check: MUTANTS_FLAGS='--budget 3600 --seed 2' for more,
# MUTANTS=fold/aggregate.c for one file.
MUTANTS ?= $(filter unwind/%.c patch/%.c preload/%.c tracer/offcpu/%.c fold/%.c,$(filter-out %_main.c,$(TEST_LIB_SRC)))
.PHONY: mutants
mutants: build-tests ## change the sources a little, in a copy, and list what no unit test notices
	$(Q)$(TEST_ENV) MUTANTS_CC='$(CC_WITH_FLAGS)' MUTANTS_LIBS='$(TEST_LIBS)' \
		python3 -B scripts/mutants.py $(MUTANTS_FLAGS) $(MUTANTS)

# ---- what recording costs ----

# BENCH_RUNS=3 takes fewer rounds, BENCH_ONLY=jq,churn some of the sections, and
# FLAMEGRAPH=dir compares with flamegraph.pl and its scripts there.
.PHONY: bench
bench: ## compare with the recorders on this machine (about 15 minutes)
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(BENCH_PKGS)
	$(Q)for package in $(PEER_PKGS); do \
		CC='$(CC)' scripts/deps.sh $$package || echo "flame: bench goes on without $$package"; \
	done
	$(Q)$(MAKE) --no-print-directory all
	$(Q)CC='$(CC)' FLAME='$(abspath $(O))/flame' SHIM='$(abspath $(O))/libflamemem.so' \
		python3 -B bench/run.py --dir '$(O)/bench'

.PHONY: bench-draw bench-page bench-merge bench-inside leak-peers
bench-draw: all ## time drawing; FLAMEGRAPH=dir compares with dir/flamegraph.pl
	$(Q)CC='$(CC)' FLAME='$(abspath $(O))/flame' bench/render.sh --million

bench-page: all ## how a page of 27,053 stacks, and with MILLION=1 of a million, opens and answers in Chromium
	$(Q)mkdir -p $(O)/bench
	$(Q)$(CC) -O2 -I. -o $(O)/bench/gen bench/gen_folded.c
	$(Q)for n in 27053 $(if $(MILLION),1000000); do $(O)/bench/gen $$n | $(O)/flame render -o $(O)/bench/page.html && \
	    echo "$$n stacks, $$(wc -c <$(O)/bench/page.html) bytes:" && node bench/page_large.mjs $(O)/bench/page.html; done

leak-peers: all ## list what LeakSanitizer and memcheck report for the leak cases
	$(Q)python3 -B scripts/leak_peers.py $(O)/flame

# tests/cli/patch uses it, too.
$(O)/bench/inside: bench/inside.c $(O)/libflame-test.a
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) $(SANFLAGS) -o $@ bench/inside.c $(O)/libflame-test.a $(TEST_LIBS)

bench-inside: all $(O)/bench/inside ## time waits logged in-process, and by stops
	$(Q)CC='$(CC)' O='$(O)' FLAME='$(abspath $(O))/flame' bench/inside.sh
	$(Q)CC='$(CC)' FLAME='$(abspath $(O))/flame' bench/pgbench.sh
	$(Q)CC='$(CC)' FLAME='$(abspath $(O))/flame' bench/nginx.sh

bench-merge: $(O)/libflame-test.a ## time the three ways to merge stacks
	$(Q)mkdir -p $(O)/bench
	$(Q)$(CC) -O2 -o $(O)/bench/gen bench/gen_folded.c
	$(Q)$(COMPILE) -o $(O)/bench/merge bench/merge.c $(O)/libflame-test.a $(TEST_LIBS)
	$(Q)$(O)/bench/gen 100000 >$(O)/bench/alike.folded
	$(Q)awk 'BEGIN { srand(1); for (i = 0; i < 1000000; i++) { line = "main"; \
		for (n = 3 + int(rand() * 10); n > 0; n--) line = line ";f" int(rand() * 3000); \
		print line, 1 + int(rand() * 99) } }' >$(O)/bench/unlike.folded
	$(Q)awk 'BEGIN { line = "main"; for (i = 0; i < 8000; i++) { line = line ";f"; \
		print line, 1 } }' >$(O)/bench/deep.folded
	$(Q)cd $(O)/bench && ./merge alike.folded unlike.folded deep.folded

# ---- what a reader's eye would miss ----

LINT_C  := $(wildcard *.c $(addsuffix /*.[ch],common common/processor unwind inproc inproc/* inject/agent $(SHIM_ROOMS) preload/musl $(ROOMS) driver \
           bench examples examples/flamemem examples/leak examples/project packaging/tarball tests tests/unit tests/unit/* tests/fuzz tests/victims/*) \
          bench/*.cc tests/victims/*/*.cc examples/flamemem/*.cc examples/leak/*.cc examples/leak/*.hpp)
LINT_SH := $(wildcard $(addsuffix /*.sh,scripts packaging packaging/* bench examples tests/cli tests/cli/* tests/programs .ci) .ci/run .ci/full)
LINT_PY := $(wildcard $(addsuffix /*.py,scripts bench bench/inputs examples examples/leak tests/cli tests/programs tests/victims/patch))

LINT_JS := $(wildcard render/assets/*.js render/assets/*/*.js tests/browser/*.mjs bench/*.mjs scripts/lint/*.mjs)

# A stamp for each script that passed. It is stale when the script, a file that others source, or the
# checker's settings have changed.
SHELLCHECKED := $(LINT_SH:%=$(O)/lint/%.passed)
SOURCED_SH   := $(wildcard tests/cli/*.sh tests/programs/lib.sh bench/lib.sh .ci/steps.sh)
$(SHELLCHECKED): $(O)/lint/%.passed: % $(SOURCED_SH) .shellcheckrc tests/.shellcheckrc $(shell command -v shellcheck)
	@mkdir -p $(@D)
	$(Q)shellcheck -x $<
	$(Q)touch $@

.PHONY: lint format
lint: ## clang-format, shellcheck, mandoc, pyflakes, eslint and the words of comments
	@echo "  LINT  clang-format"
	$(Q)clang-format --dry-run -Werror $(LINT_C)
	@echo "  LINT  shellcheck"
	$(Q)MAKEFLAGS= $(MAKE) -s --no-print-directory -j$$(nproc) O='$(O)' V=$(V) $(SHELLCHECKED)
	@echo "  LINT  mandoc"
	$(Q)mandoc -Tlint -Wwarning $(MAN)
	@echo "  LINT  pyflakes"
	$(Q)pyflakes3 $(LINT_PY)
	@echo "  LINT  comments"
	$(Q)scripts/headless-comments.py Makefile $(LINT_C) $(wildcard preload/*.hpp driver/suppress/*.supp) \
		$(LINT_SH) $(LINT_PY) $(LINT_JS)
	@echo "  LINT  eslint"
	$(Q)[ scripts/lint/node_modules/.package-lock.json -nt scripts/lint/package-lock.json ] || \
		npm ci --prefix scripts/lint --loglevel=error --no-audit --no-fund </dev/null >/dev/null
	$(Q)node scripts/lint/lint_js.mjs

format: ## rewrite the C sources as clang-format has them
	clang-format -i $(LINT_C)

# A row a source, for clangd, clang-tidy and editors.

COMPDB_SRC := $(sort $(FLAME_SRC) $(SHIM_SRC) $(GATE_SRC) $(WAIT_ALL) $(TEST_LIB_SRC) $(UNIT_SRC) $(FUZZ_SRC))
.PHONY: compdb
compdb: $(GENERATED).h ## write compile_commands.json
	$(Q){ echo '['; \
	for source in $(COMPDB_SRC); do \
		printf '%s{"directory": "%s", "file": "%s", "command": "%s -c %s"}' \
			"$$between" '$(CURDIR)' "$$source" '$(subst ",\",$(CC_WITH_FLAGS))' "$$source"; \
		between=',\n'; between=$$(printf "$$between"); \
	done; printf '\n]\n'; } >compile_commands.json
	@echo "compile_commands.json: $(words $(COMPDB_SRC)) sources"

# ---- setting up, showing, installing ----

.PHONY: deps deps-test deps-gate deps-ci demo fresh
deps: ## install the packages to build and to run the demo
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(DEMO_PKGS)

deps-test: ## install the packages and node modules the tests need
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(DEMO_PKGS) $(TEST_PKGS)
	$(Q)$(DEPS_MAYBE)
	$(Q)scripts/browser.sh --install

deps-gate: deps-test ## install the packages of deps-test and those that .ci/run needs
	$(Q)CC='$(CC)' scripts/deps.sh $(GATE_PKGS)

deps-ci: deps-gate ## install the packages of deps-gate and those that .ci/full needs
	$(Q)CC='$(CC)' scripts/deps.sh $(FULL_PKGS) $(DEB_PKGS) $(RPM_PKGS)

demo: ## install what is missing, build, record a program, leave its picture
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(DEMO_PKGS)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo.sh '$(O)'

# RELEASE=trixie, FRESH=-u as a user with sudo.
RELEASE ?= bookworm
fresh: ## run make demo and make check on a bare Debian RELEASE, as root
	$(Q)scripts/deps.sh debootstrap
	$(Q)scripts/fresh.sh $(FRESH) $(RELEASE)

BINDIR  := $(DESTDIR)$(PREFIX)/bin
SHIMDIR := $(DESTDIR)$(LIBDIR)/flame
INCLUDEDIR := $(DESTDIR)$(PREFIX)/include
MANDIR  := $(DESTDIR)$(PREFIX)/share/man
# Directory in which each shell searches completions of programs installed under PREFIX.
COMPLETIONS := bash:bash-completion/completions/flame zsh:zsh/site-functions/_flame \
               fish:fish/vendor_completions.d/flame.fish

.PHONY: install uninstall
# EMULATOR runs flame where it is built for another processor.
install: all ## install under $(DESTDIR)$(PREFIX)
	$(Q)install -d '$(BINDIR)' '$(SHIMDIR)' '$(INCLUDEDIR)'
	$(Q)install -m 644 preload/flamemem.h preload/flamemem.hpp '$(INCLUDEDIR)'
	$(Q)install -m 755 $(O)/flame '$(BINDIR)/flame'
	$(Q)$(if $(SHIM),install -m 755 $(SHIM) '$(SHIMDIR)/libflamemem.so')
	$(Q)$(if $(MUSL_SHIM),install -D -m 755 $(MUSL_SHIM) '$(SHIMDIR)/musl/libflamemem.so')
	$(Q)$(if $(WAIT),install -m 755 $(GATE) $(WAIT) '$(SHIMDIR)')
	$(Q)set -e; for page in $(MAN); do \
		dir='$(MANDIR)'/man$${page##*.}; \
		install -d "$$dir"; \
		install -m 644 $$page "$$dir/$${page##*/}"; \
	done
	$(Q)$(INSTALL_DEV)
	$(Q)$(INSTALL_DOCS)
	$(Q)set -e; for row in $(COMPLETIONS); do \
		file='$(DESTDIR)$(PREFIX)/share'/$${row#*:}; \
		install -d "$${file%/*}"; \
		$(EMULATOR) '$(O)/flame' --complete $${row%%:*} >"$$file"; \
	done

uninstall: ## remove what install put there
	$(Q)rm -f '$(BINDIR)/flame' '$(SHIMDIR)/libflamemem.so' '$(INCLUDEDIR)/flamemem.h' '$(INCLUDEDIR)/flamemem.hpp' \
		'$(SHIMDIR)/libflamegate.so' '$(SHIMDIR)/libflamewait.so' '$(SHIMDIR)/musl/libflamemem.so'
	$(Q)set -e; for page in $(MAN); do \
		rm -f '$(MANDIR)'/man$${page##*.}/$${page##*/}; \
	done
	$(Q)set -e; for row in $(COMPLETIONS); do \
		rm -f '$(DESTDIR)$(PREFIX)/share'/$${row#*:}; \
	done
	$(Q)[ ! -d '$(SHIMDIR)/musl' ] || rmdir --ignore-fail-on-non-empty '$(SHIMDIR)/musl'
	$(Q)$(UNINSTALL_DEV)
	$(Q)$(UNINSTALL_DOCS)
	$(Q)[ ! -d '$(SHIMDIR)' ] || rmdir --ignore-fail-on-non-empty '$(SHIMDIR)'

include packaging/packages.mk

.PHONY: clean help
clean: ## remove $(O)
	rm -rf $(O)

help: ## this list
	@echo "make TARGET [CC=clang] [SAN=address,undefined] [V=1] [O=dir] [PREFIX=dir] [DESTDIR=dir]"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(filter %akefile %.mk,$(MAKEFILE_LIST)) | \
		awk -F'|' '{ printf "  %-12s %s\n", $$1, $$2 }'
