# Packages of flame, included by the Makefile: what other build systems find (pkg-config, CMake,
# Meson), Debian packages, the tarball that runs anywhere, and the RPM spec.

VERSION := $(shell sed -n 's/^.define FLAME_VERSION "\(.*\)"/\1/p' common/commands.h)

# Below PREFIX/share, as they hold nothing that depends on the processor. Those for builds find the tree
# they are in by their own place, so that they work under DESTDIR and in an unpacked tarball, too.
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

.PHONY: deb tarball rpm
# Compiled files stay in $(O)/deb, so that the next build compiles only what has changed.
deb: ## make Debian packages in $(O)/deb, and have lintian look at them
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(DEB_PKGS)
	$(Q)packaging/deb.sh '$(O)/deb'

tarball: $(PORTABLE)/flame $(PORTABLE)/libflamemem.so $(PORTABLE)/libflamewait.so ## make $(O)/tarball/flame-VERSION-x86_64.tar.gz: runs where it is unpacked, glibc 2.31 on
	$(Q)$(MAKE) --no-print-directory O='$(O)' all
	$(Q)packaging/tarball.sh '$(O)' '$(VERSION)' '$(GLIBC)' $(MAKE) --no-print-directory

rpm: ## make RPM packages in $(O)/rpm
	$(Q)CC='$(CC)' scripts/deps.sh $(BUILD_PKGS) $(RPM_PKGS)
	$(Q)packaging/rpm.sh '$(O)' '$(VERSION)'

# ---- what goes into the tarball ----

# The objects are those of any build; they are linked with stubs of glibc that have no name which is newer
# than GLIBC (packaging/tarball/stubs.sh), and flame with all other libraries in itself.
GLIBC := 2.31
STUBS := $(O)/tarball/stubs
# Private: nothing that they are made of, which other programs are, too, is to be made anew.
$(PORTABLE)/%: private LDFLAGS += -B$(STUBS)/ -L$(STUBS) -Wl,--no-as-needed
$(PORTABLE)/libflame%: private SHIM_LIBS := -Wl,--no-as-needed -ldl -lcompat
# The package may bring a library that libflamemem.so loads: libunwind.so.8.
$(PORTABLE)/libflamemem.so: private LDFLAGS += -Wl,-rpath,'$$ORIGIN'
$(PORTABLE)/libflamemem.so $(PORTABLE)/libflamewait.so $(PORTABLE)/flame: $(STUBS)/made

$(STUBS)/made: packaging/tarball/stubs.sh packaging/tarball/crt1.S packaging/tarball/compat.c
	@echo "  GEN   $(STUBS)"
	$(Q)packaging/tarball/stubs.sh '$(CC)' $(GLIBC) $(STUBS)
	$(Q)touch $@

# libm and the rest of glibc are everywhere; libraries whose code is linked in are named as files.
STATIC_LIBS := -Wl,--start-group $(foreach lib,seccomp unwind-x86_64 unwind dwarf elf pcre2-8 protobuf-c lzma zstd z \
               iberty,-l:lib$(lib).a) -Wl,--end-group -lm

$(O)/tarball/generated/latelibs.h: $(FLAME_OBJ) scripts/latelibs.sh
	@mkdir -p $(@D)
	$(Q)scripts/latelibs.sh '$(CC)' '$(STATIC_LIBS)' $(FLAME_OBJ) >$@

$(O)/tarball/late.o: common/lazyload/lazyload.c $(O)/tarball/generated/latelibs.h
	@echo "  CC    $< (tarball)"
	$(Q)$(CC) $(BASE:-I$(O)=-I$(O)/tarball) $(WARN) $(CFLAGS) -fno-lto -c -o $@ $<

# Not at any address: the libraries' own files for static linking are made for a fixed one. One constant is
# there twice, in export_pprof.c, too, which says why; they are the same.
$(PORTABLE)/flame: $(FLAME_OBJ) $(O)/tarball/late.o
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -no-pie -Wl,-z,muldefs -o $@ $(FLAME_OBJ) $(O)/tarball/late.o $(STATIC_LIBS) -lpthread -ldl -lcompat
