# Packages of flame, included by the Makefile: files for other build systems (pkg-config, CMake, Meson),
# Debian packages, the tarball that runs anywhere, and RPM packages.

VERSION := $(shell sed -n 's/^.define FLAME_VERSION "\(.*\)"/\1/p' common/commands.h)

# Files below PREFIX/share, because they hold nothing that depends on the processor. The files for builds
# find their tree by their own path, so they also work under DESTDIR and in an unpacked tarball.
DEV_FILES := pkgconfig/flamemem.pc cmake/Flame/FlameConfig.cmake cmake/Flame/FlameConfigVersion.cmake \
             flame/flame-record.conf

define INSTALL_DEV
set -e; for file in $(DEV_FILES); do \
	install -d '$(DESTDIR)$(PREFIX)/share/'$${file%/*}; \
	sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SHIM@|$(LIBDIR)/flame/libflamemem.so|' -e 's|@SHARE@|$(PREFIX)/share/flame|' \
		packaging/*/$${file##*/}.in >'$(DESTDIR)$(PREFIX)/share/'$$file; \
	chmod 644 '$(DESTDIR)$(PREFIX)/share/'$$file; \
done
endef

define UNINSTALL_DEV
set -e; for file in $(DEV_FILES); do \
	rm -f '$(DESTDIR)$(PREFIX)/share/'$$file; \
done; \
for dir in cmake/Flame flame; do \
	dir='$(DESTDIR)$(PREFIX)/share/'$$dir; \
	[ ! -d "$$dir" ] || rmdir --ignore-fail-on-non-empty "$$dir"; \
done
endef

# The documents, and the recipes that they name, in the folders of this tree, so that their links hold.
DOCS := README.md CHANGELOG.md bench/README.md $(wildcard docs/*.md docs/*/*) packaging/Containerfile \
        $(wildcard packaging/ci/* packaging/kubernetes/*)
DOCDIR := $(DESTDIR)$(PREFIX)/share/doc/flame

define INSTALL_DOCS
set -e; for file in $(DOCS); do \
	install -D -m 644 $$file '$(DOCDIR)'/$$file; \
done
endef

# Only the files of a list: packages have others in this folder.
define UNINSTALL_DOCS
set -e; for file in $(DOCS); do \
	rm -f '$(DOCDIR)'/$$file; \
done; \
[ ! -d '$(DOCDIR)' ] || find '$(DOCDIR)' -depth -type d -empty -delete
endef

.PHONY: deb tarball rpm
# Compiled files stay in $(O)/deb, so that the next build compiles only what has changed.
deb: ## make Debian packages in $(O)/deb, and check them with lintian
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(DEB_PKGS)
	$(Q)packaging/deb.sh '$(O)/deb'

tarball: all $(PORTABLE)/flame $(PORTABLE)/flame-static $(PORTABLE)/libflamemem.so $(if $(WAIT),$(PORTABLE)/libflamewait.so) ## make $(O)/tarball/flame-VERSION-$(ARCH).tar.gz: runs where it is unpacked, glibc 2.17 on
	$(Q)CC='$(CC)' packaging/tarball.sh '$(O)' '$(VERSION)-$(ARCH)' '$(GLIBC)' $(MAKE) --no-print-directory

rpm: ## make RPM packages in $(O)/rpm
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(RPM_PKGS)
	$(Q)packaging/rpm.sh '$(O)' '$(VERSION)'

# ---- contents of the tarball ----

# The objects are those of any build. They are linked with stubs of glibc that have no name newer than GLIBC
# (packaging/tarball/stubs.sh). flame contains all other libraries.
GLIBC := 2.17
STUBS := $(O)/tarball/stubs
# The flags are private, so that prerequisites which other programs share are not built again with them.
$(PORTABLE)/%: private LDFLAGS += -B$(STUBS)/ -L$(STUBS) -Wl,--no-as-needed
$(PORTABLE)/libflame%: private SHIM_LIBS := -Wl,--no-as-needed -ldl -lcompat
# The package may bring a library that libflamemem.so loads: libunwind.so.8.
$(PORTABLE)/libflamemem.so: private LDFLAGS += -Wl,-rpath,'$$ORIGIN'
$(PORTABLE)/libflamemem.so $(PORTABLE)/libflamewait.so $(PORTABLE)/flame: $(STUBS)/made

$(STUBS)/made: packaging/tarball/stubs.sh packaging/tarball/crt1_$(ARCH).S packaging/tarball/compat.c
	@echo "  GEN   $(STUBS)"
	$(Q)packaging/tarball/stubs.sh '$(CC)' $(GLIBC) $(STUBS) $(ARCH)
	$(Q)touch $@

# Each machine has libm and the rest of glibc. Libraries whose code is linked in are named as files.
STATIC_LIBS := -Wl,--start-group $(foreach lib,seccomp unwind-$(ARCH) unwind dwarf elf pcre2-8 protobuf-c lzma zstd z \
               iberty,-l:lib$(lib).a) -Wl,--end-group -lm

$(O)/tarball/generated/latelibs.h: $(FLAME_OBJ) scripts/latelibs.sh
	@mkdir -p $(@D)
	$(Q)scripts/latelibs.sh '$(CC)' '$(STATIC_LIBS)' $(FLAME_OBJ) >$@

$(O)/tarball/late.o: common/lazyload/lazyload.c $(O)/tarball/generated/latelibs.h
	@echo "  CC    $< (tarball)"
	$(Q)$(CC) $(BASE:-I$(O)=-I$(O)/tarball) $(WARN) $(CFLAGS) -fno-lto -c -o $@ $<

# The program is linked for a fixed address, because the static libraries are compiled for one. One constant
# is defined twice, with the same value; export_pprof.c explains why.
$(PORTABLE)/flame: $(FLAME_OBJ) $(O)/tarball/late.o
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -no-pie -Wl,-z,muldefs -o $@ $(FLAME_OBJ) $(O)/tarball/late.o $(STATIC_LIBS) -lpthread -ldl -lcompat

# For systems without the GNU C library, as Alpine: everything is linked in. Libraries that flame loads when
# it needs them are linked with the machine's C library, and would bring a second one into the program. So it
# has no dlopen, and reports them as missing.
NO_DLOPEN := dlopen dlerror dlsym dlclose
$(O)/tarball/no_dlopen.o: packaging/tarball/no_dlopen.c
	@echo "  CC    $<"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) -fno-lto -c -o $@ $<

$(PORTABLE)/flame-static: private LDFLAGS :=
$(PORTABLE)/flame-static: $(FLAME_OBJ) $(O)/tarball/no_dlopen.o
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -Wl,-z,muldefs $(NO_DLOPEN:%=-Wl,--wrap=%) -o $@ $(FLAME_OBJ) $(O)/tarball/no_dlopen.o $(STATIC_LIBS) -lpthread
