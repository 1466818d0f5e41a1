# flame: one Makefile for everything; `make help` lists what it can do.
# Not recursive: each folder's sources are found by name, each object writes its
# own header dependencies (-MMD -MP) beside itself in build/.

CC      ?= gcc
PREFIX  ?= /usr/local
DESTDIR ?=
V       ?= 0
SAN     ?=
O       ?= build

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Wundef -Wwrite-strings
BASE    := -std=gnu11 -I. -fno-omit-frame-pointer -fno-strict-aliasing
ifneq ($(SAN),)
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all
endif

Q := @
ifeq ($(V),1)
Q :=
endif

# ---- what goes into what ----

# Both the shim and the program use these; they never call malloc.
SHARED_SRC := common/trace_writer.c common/pages.c $(wildcard unwind/*.c)
SHIM_SRC   := $(SHARED_SRC) $(wildcard preload/*.c)
FLAME_SRC  := flame.c $(filter-out common/trace_writer.c,$(wildcard common/*.c)) \
              $(wildcard fold/*.c render/*.c driver/*.c)
ASSETS     := $(wildcard render/assets/*)

FLAME_OBJ  := $(FLAME_SRC:%.c=$(O)/obj/%.o)
SHIM_OBJ   := $(SHIM_SRC:%.c=$(O)/pic/%.o)

FLAME_LIBS := -ldwarf -lelf -llzma -lzstd -lz -liberty -lm
SHIM_LIBS  := -ldl

.PHONY: all
all: $(O)/flame $(O)/libflamemem.so

$(O)/flame: $(FLAME_OBJ)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(FLAME_LIBS)

# The shim is never built with sanitizers: it runs inside programs that are not.
$(O)/libflamemem.so: $(SHIM_OBJ) preload/libflamemem.map
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(SHIM_OBJ) \
		-Wl,--version-script=preload/libflamemem.map -Wl,-soname,libflamemem.so \
		-Wl,-z,defs -Wl,-z,now -Wl,-z,relro $(SHIM_LIBS)

$(O)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) $(SANFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(O)/pic/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $< (shim)"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) $(CPPFLAGS) -fPIC -fvisibility=hidden \
		-ftls-model=initial-exec -fno-stack-protector -MMD -MP -c -o $@ $<

-include $(FLAME_OBJ:.o=.d) $(SHIM_OBJ:.o=.d)

.PHONY: clean
clean:
	rm -rf $(O)
