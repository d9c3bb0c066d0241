# SPDX-License-Identifier: GPL-2.0
#
# What a user types; `make help` lists it. kbuild reads Kbuild, not this file.
#
# The source tree stays clean: sources are mirrored as links into
# build/obj/<kernel release>/, kbuild runs there, and the modules end up in
# build/modules/<kernel release>/, so several kernels can be built side by side.

MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := modules

top := $(CURDIR)
build := $(top)/build

Q := $(if $(filter 1 2,$(V)),,@)

# Which kernel: KDIR (a build directory) wins over KVER (an installed release).
ifeq ($(origin KDIR),undefined)
KVER ?= $(shell uname -r)
KDIR := /lib/modules/$(KVER)/build
else
override KDIR := $(abspath $(KDIR))
endif
# Not include/config/kernel.release: Debian's 6.1 has the upstream version there.
release := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)

obj := $(build)/obj/$(release)
out := $(build)/modules/$(release)

# Folders to mirror: common/ and each <name>/ that holds <name>.c (see Kbuild).
# One with a file `experimental` in it only with EXPERIMENTAL=1, which may stand in
# the environment, too.
left-out := $(if $(filter-out 0,$(EXPERIMENTAL)),, \
	$(patsubst %/experimental,%,$(wildcard */experimental)))
module-dirs := $(filter-out $(left-out),$(foreach d,$(wildcard * tests/*),$(if \
	$(wildcard $(d)/$(notdir $(d)).c),$(d))))
sources := Kbuild $(wildcard $(addsuffix /*.[ch],common common/* $(module-dirs)))

# A kernel that clang built wants its modules from clang, unless the user chose a compiler.
llvm := $(if $(findstring undefined,$(origin LLVM)),$(if $(findstring \
	default,$(origin CC)),$(shell sed -n 's/^CONFIG_CC_IS_CLANG=y$$/LLVM=1/p' \
	$(KDIR)/include/config/auto.conf 2>/dev/null)))

# Without -j from the user, use all processors; with it, the user's choice.
jobs = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# The verdict on this kernel's private layouts is kept under a name made of
# everything it depends on: file times of unpacked packages say when they were
# built, so make cannot tell by them whether a verdict is older.
abi-inputs = $(addprefix common/elevator/,compat.h meaning.h abi.c) \
	scripts/abi-check scripts/lib/btf.py scripts/lib/elvfeatures.py \
	$(KDIR)/Module.symvers $(KDIR)/include/generated/autoconf.h
abi-key = $(shell { cat $(abi-inputs); uname -rv; echo $(ELV_UNTESTED); \
	stat -L -c '%s %Y' $(if $(BTF),$(BTF),$(KDIR)/vmlinux \
		/lib/modules/$(release)/vmlinuz /boot/vmlinuz-$(release)); \
	} 2>&1 | cksum | tr ' ' -)
abi-args = --kdir $(KDIR) --release $(release) $(if $(BTF),--btf $(BTF)) \
	$(llvm:%=--make %) \
	$(foreach v,CC LLVM,$(if $(findstring command line,$(origin $(v))), \
		--make $(v)=$($(v))))

.PHONY: modules
modules: headers compiler
	@mkdir -p $(obj)
	+$(Q)flock $(obj)/.lock $(MAKE) locked-modules \
		KDIR=$(KDIR)

# Two builds of one kernel at a time would step on each other, hence the lock.
.PHONY: locked-modules
locked-modules: abi-verdict mirror
	+$(Q)$(MAKE) $(jobs) -C $(KDIR) M=$(obj) $(llvm) modules
	@mkdir -p $(out)
	@set -e; cd $(out); \
	wanted=" $$(sed -E 's,.*/,,; s,\.k?o$$,,' $(obj)/modules.order | \
		tr '\n' ' ')"; \
	for old in *.ko; do \
		case "$$wanted" in *" $${old%.ko} "*) ;; *) rm -f "$$old" ;; esac; \
	done; \
	for name in $$wanted; do \
		cmp -s $(obj)/$$name.ko $$name.ko && continue; \
		cp $(obj)/$$name.ko .$$name.new; mv .$$name.new $$name.ko; \
		echo "  MODULE  $(patsubst $(top)/%,%,$(out))/$$name.ko"; \
	done; \
	[ ! -t 1 ] || echo "  modules for $(release) are in" \
		"$(patsubst $(top)/%,%,$(out))/:" $$wanted

.PHONY: abi-verdict
abi-verdict: key := $(abi-key)
abi-verdict:
	@set -e; verdict=$(obj)/abi-$(key).mk; \
	if [ ! -e $$verdict ]; then \
		rm -f $(obj)/abi.mk; \
		$(top)/scripts/abi-check $(abi-args) --makefile $$verdict; \
	fi; \
	cmp -s $$verdict $(obj)/abi.mk || cp $$verdict $(obj)/abi.mk

# Links to files, never to folders: kbuild writes its objects beside them.
.PHONY: mirror
mirror:
	@set -e; cd $(obj); rm -rf $(left-out); find . -xtype l -delete; \
	for f in $(sources); do \
		[ -L $$f ] || { mkdir -p $$(dirname $$f); ln -sr $(top)/$$f $$f; }; \
	done

.PHONY: headers
headers:
ifneq ($(words $(subst :, ,$(top))),1)
	@echo "error: kbuild cannot build below a path with spaces or colons:" \
		"$(top)" >&2; exit 1
else ifeq ($(release),)
ifdef KVER
	@echo "error: no headers of kernel $(KVER) in $(KDIR)" >&2; \
	echo "  They are in package linux-headers-$(KVER):" >&2; \
	echo "      apt-get install linux-headers-$(KVER)" >&2; \
	echo "  make vm-modules builds for the kernels of the test machines" \
		"instead, it fetches what it needs." >&2; exit 1
else
	@echo "error: $(KDIR) is no kernel build directory (it has no" \
		"include/generated/utsrelease.h)" >&2; exit 1
endif
else
	@:
endif

# Headers name the compiler that built the kernel; another one may not know
# the flags that kbuild passes.
compiler-wanted = $(or $(CC_WANTED),$(if $(llvm),clang),$(shell sed -nE \
	's/^CC *:?= *.*\$$\(CROSS_COMPILE\)([^ ]+).*/\1/p' \
	$(KDIR)/.kernelvariables 2>/dev/null),gcc)
# Debian 13's headers of 7.x depend on a package that has gcc-14 under its longer name
# only. A value that make would have to expand is left out.
compiler-prefix = $(shell sed -nE 's/^override CROSS_COMPILE *= *([^$$ ]+)$$/\1/p' \
	$(KDIR)/.kernelvariables 2>/dev/null)
.PHONY: compiler
compiler: headers
ifneq ($(findstring command line,$(origin CC)),)
compiler: CC_WANTED := $(CC)
endif
compiler:
	@command -v $(firstword $(compiler-wanted)) >/dev/null || \
	command -v $(compiler-prefix)$(firstword $(compiler-wanted)) >/dev/null || { \
		echo "error: the headers of $(release) want the compiler" \
			"$(compiler-wanted), which is not installed:" >&2; \
		echo "      apt-get install $(compiler-wanted)" >&2; exit 1; }
ifneq ($(filter 1 2,$(C)),)
	@command -v $(or $(firstword $(CHECK)),sparse) >/dev/null || { \
		echo "error: C=$(C) wants sparse: apt-get install sparse" >&2; \
		exit 1; }
endif

# Kernels of the test machines. Status 77 of scripts/kernel: the archive of
# this machine has no such kernel, which is reported and is no failure as long
# as one series could be built.
SERIES ?= 6.12 6.1
.PHONY: vm-modules
vm-modules:
	+@set -e; built=; \
	for series in $(SERIES); do \
		status=0; facts=$$(scripts/kernel $$series) || status=$$?; \
		if [ $$status = 77 ]; then \
			echo "vm-modules: $$series left out, see above" >&2; \
			continue; \
		fi; \
		[ $$status = 0 ] || exit $$status; \
		fact() { printf '%s\n' "$$facts" | sed -n "s/^$$1=//p"; }; \
		$(MAKE) modules KVER= KDIR="$$(fact kdir)" \
			BTF="$$(fact btf)" $$(fact make); \
		built="$$built $$series"; \
	done; \
	[ -n "$$built" ] || { echo "vm-modules: nothing to build for" >&2; exit 77; }

.PHONY: abi-check
abi-check: headers compiler
	$(Q)scripts/abi-check $(abi-args) --verbose

# What check and bench need differs little; one list makes the first wait the
# only one.
.PHONY: deps
deps:
	$(Q)scripts/deps build unit vm bench check kernel

.PHONY: check
check: deps
	$(Q)scripts/check

.PHONY: check-all
check-all: deps
	$(Q)scripts/check --all

.PHONY: bench
bench: deps
	$(Q)scripts/bench

.PHONY: bench-cost
bench-cost: deps
	$(Q)scripts/bench-cost

# The suites, then the page; what failed fails it, but the page is written. One that
# has more than what was measured here stays, which is no failure (status 3).
results-page = { code=0; $(1) || code=$$?; \
	[ $$code = 0 ] || [ $$code = 3 ] || status=$$code; }
FORM ?= short
.PHONY: bench-k2
bench-k2: deps
	$(Q)status=0; scripts/bench k2 --form $(FORM) || status=$$?; \
	scripts/bench k2-auto --form $(FORM) || status=$$?; \
	scripts/bench k2-queue --form $(FORM) || status=$$?; \
	$(call results-page,scripts/k2-results); exit $$status

.PHONY: bench-piq
bench-piq: deps
	$(Q)status=0; scripts/bench piq-paper --form $(FORM) || status=$$?; \
	scripts/bench piq --form $(FORM) || status=$$?; \
	$(call results-page,scripts/piq-results); \
	$(call results-page,scripts/piq-auto-results); exit $$status

.PHONY: bench-layer_read
bench-layer_read: deps
	$(Q)status=0; scripts/layer_read-results --estimate $(FORM) || exit; \
	scripts/bench layer_read-paper --form $(FORM) || status=$$?; \
	scripts/bench layer_read --form $(FORM) || status=$$?; \
	scripts/bench-cost --schedulers none,mq-deadline,layer_read \
		--disks null --depths 1,32 --no-locks || status=$$?; \
	$(call results-page,scripts/layer_read-results); exit $$status

.PHONY: bench-share
bench-share: deps
	$(Q)status=0; scripts/bench share-paper --form $(FORM) || status=$$?; \
	scripts/bench share --form $(FORM) || status=$$?; \
	scripts/bench share-living --form $(FORM) || status=$$?; \
	$(call results-page,scripts/share-results); \
	$(call results-page,scripts/share-living-results); exit $$status

# Goes on with what is missing where an earlier one was interrupted.
.PHONY: bench-all
bench-all: deps
	$(Q)scripts/bench-all --form $(FORM) $(if $(FULL),--full $(FULL))

.PHONY: report
report:
	$(Q)scripts/report

.PHONY: unit
unit:
	+$(Q)$(MAKE) -k -C tests/unit

# Not through modules_install: that wants to sign with a key that only the
# distribution has, and says so in an error that is none.
mod-root = $(or $(DESTDIR),$(INSTALL_MOD_PATH))
mod-dir = $(mod-root)/lib/modules/$(release)
depmod = if [ -e $(mod-dir)/modules.order ]; then \
		depmod $(if $(mod-root),-b $(mod-root)) $(release); \
	else echo "no kernel $(release) in $(mod-dir): depmod left out"; fi

# Not those of tests/: they are for the lab.
.PHONY: install
install: modules
	$(Q)install -d $(mod-dir)/updates
	$(Q)install -m 644 $(patsubst %,$(out)/%.ko,$(notdir $(filter-out \
		tests/%,$(module-dirs)))) $(mod-dir)/updates/
	@$(depmod)

# Those, too, that this build leaves out and another one did not. A kernel's headers
# may have gone: then it is KVER, whose modules are still where they were put.
.PHONY: uninstall
uninstalled := $(or $(release),$(if $(filter file,$(origin KDIR)),$(KVER)))
uninstall: release := $(uninstalled)
uninstall: $(if $(uninstalled),,headers)
	$(Q)rm -f $(addprefix $(mod-dir)/updates/,$(addsuffix .ko,$(notdir \
		$(module-dirs) $(left-out))))
	@[ ! -d $(mod-dir)/updates ] || \
		rmdir --ignore-fail-on-non-empty $(mod-dir)/updates
	@$(depmod)

# What works without the lab, under names that say whose they are. The tools look
# for the rest beside themselves, so the tree below lib/ is like this one.
PREFIX ?= /usr/local
DOC ?= $(PREFIX)/share/doc/flash-iosched
tools := probe-layout weights-sync trace2fio stages stages-record
tool-dir = $(DESTDIR)$(PREFIX)/lib/flash-iosched
tool-man = $(DESTDIR)$(PREFIX)/share/man/man8
tool-lib = $(patsubst %,scripts/lib/%.py,probe weights trace2fio stages)
.PHONY: install-tools
install-tools:
	$(Q)install -d $(tool-dir)/scripts/lib $(tool-dir)/tests/traces \
		$(DESTDIR)$(PREFIX)/sbin $(tool-man) \
		$(DESTDIR)$(DOC)/examples/fio
	$(Q)install $(addprefix scripts/,$(tools)) $(tool-dir)/scripts/
	$(Q)install -m 644 $(tool-lib) \
		$$(/usr/bin/python3 -B scripts/lib/package.py needs $(tool-lib)) \
		$(tool-dir)/scripts/lib/
	$(Q)install -m 644 tests/traces/* $(tool-dir)/tests/traces/
	$(Q)set -e; for tool in $(tools); do \
		ln -sfn ../lib/flash-iosched/scripts/$$tool \
			$(DESTDIR)$(PREFIX)/sbin/flash-$$tool; \
		COLUMNS=80 $(DESTDIR)$(PREFIX)/sbin/flash-$$tool --help | \
			/usr/bin/python3 -B scripts/lib/package.py man \
				flash-$$tool >$(tool-man)/flash-$$tool.8; \
		chmod 644 $(tool-man)/flash-$$tool.8; \
	done
	$(Q)install -m 644 packaging/*.rules packaging/*.conf \
		$(DESTDIR)$(DOC)/examples/
	$(Q)install -m 644 tests/fio/* $(DESTDIR)$(DOC)/examples/fio/

.PHONY: uninstall-tools
uninstall-tools:
	$(Q)rm -rf $(tool-dir) $(DESTDIR)$(DOC)/examples
	$(Q)rm -f $(addprefix $(DESTDIR)$(PREFIX)/sbin/flash-,$(tools)) \
		$(patsubst %,$(tool-man)/flash-%.8,$(tools))
	$(Q)[ ! -d $(DESTDIR)$(DOC) ] || \
		rmdir --ignore-fail-on-non-empty $(DESTDIR)$(DOC)

# Pages link to each other and to sources, which are installed in the same places
# relative to the pages.
.PHONY: install-docs
install-docs:
	$(Q)install -d $(DESTDIR)$(DOC)
	$(Q)set -e; pages=$$(find README.md docs $(patsubst %,%/README.md, \
		$(filter-out tests/%,$(module-dirs) $(left-out))) -type f); \
	files=$$(/usr/bin/python3 -B scripts/lib/package.py linked $$pages); \
	for f in $$pages $$files; do \
		install -m 644 -D $$f $(DESTDIR)$(DOC)/$$f; \
	done

# A tree that DKMS takes: what make builds, those of tests/ aside, and what looks at
# the kernel before.
VERSION ?= $(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
DKMS_DIR ?= $(build)/dkms/flash-iosched-$(VERSION)
dkms-modules = $(filter-out tests/%,$(module-dirs))
.PHONY: dkms-source
dkms-source:
	$(Q)rm -rf $(DKMS_DIR)
	$(Q)set -e; for f in Makefile scripts/abi-check \
		$(filter-out tests/%,$(sources)) \
		$$(/usr/bin/python3 -B scripts/lib/package.py needs \
			scripts/abi-check); do \
		install -D -m $$([ -x $$f ] && echo 755 || echo 644) $$f \
			$(DKMS_DIR)/$$f; \
	done
	$(Q)/usr/bin/python3 -B scripts/lib/package.py dkms "$(VERSION)" \
		$(dkms-modules) >$(DKMS_DIR)/dkms.conf

# Into this machine's DKMS, of whatever distribution.
DKMS_SRC ?= /usr/src
dkms-copy = $(DKMS_SRC)/flash-iosched-$(VERSION)
dkms-what = -m flash-iosched -v $(VERSION)
.PHONY: dkms-install
dkms-install: dkms-source dkms-uninstall
	$(Q)cp -r $(DKMS_DIR) $(DKMS_SRC)/
	$(Q)dkms install $(dkms-what) $(if $(KVER),-k $(KVER)) || { \
		echo "dkms-install: dkms failed, see above; to undo: make dkms-uninstall" >&2; \
		exit 1; }

.PHONY: dkms-uninstall
dkms-uninstall:
	$(Q)command -v dkms >/dev/null || { \
		echo "dkms-install: no dkms: install the package dkms" >&2; exit 1; }
	$(Q)! dpkg -S $(dkms-copy) >/dev/null 2>&1 || { \
		echo "dkms-install: $(dkms-copy) is of the package flash-iosched-dkms:" \
			"first apt purge flash-iosched-dkms" >&2; exit 1; }
	$(Q)[ -z "$$(dkms status $(dkms-what))" ] || dkms remove $(dkms-what) --all
	$(Q)rm -rf $(dkms-copy)

# In a copy, as it writes into debian/ and builds one package after the other.
DEBS ?= $(build)/deb
.PHONY: deb
deb:
	$(Q)scripts/deps deb
	$(Q)scripts/package --version "$(VERSION)" $(DEBS)

.PHONY: package-test
package-test:
	$(Q)scripts/deps deb package
	$(Q)scripts/package-test

.PHONY: clean
clean:
	$(Q)rm -rf $(build)/obj $(build)/modules

.PHONY: distclean
distclean:
	$(Q)rm -rf $(build)

.PHONY: help
help:
	@printf '%s\n' \
	'make [modules]  build all modules for the running kernel' \
	'                KVER=RELEASE for another installed one, KDIR=DIR for a' \
	'                build directory; into build/modules/RELEASE/' \
	'                BTF=FILE if the kernel'"'"'s BTF is elsewhere; ELV_UNTESTED=1 to' \
	'                build for an interface that was not reviewed' \
	'                W=1 more warnings, C=1 sparse on what is compiled (C=2 on' \
	'                all), V=1 show commands; EXPERIMENTAL=1 builds those, too,' \
	'                that are not done' \
	'make vm-modules build for the kernels of the test machines' \
	'                SERIES="6.12 6.1" chooses; 7.3 and rt are there, too' \
	'make check      the tests: on this machine and in virtual machines' \
	'make check-all  all of them on every kernel, power cuts, mutants: hours' \
	'make bench      the main job, 10 minutes: correctness on an emulated NVMe' \
	'                device, then K2 on a simulated SSD in virtual time' \
	'make bench-cost what each scheduler costs the CPU, in virtual time' \
	'make bench-k2   K2: the paper'"'"'s figures, and bounds that it finds itself beside' \
	'                a scan of static ones, and a short device queue; FORM;' \
	'                docs/k2-results.md' \
	'make bench-piq  PIQ: the paper'"'"'s schemes on its inputs, and mode auto; FORM' \
	'                chooses another form than short; docs/piq*-results.md' \
	'make bench-layer_read  the paper'"'"'s figures, its default mode, what it costs' \
	'                the CPU; FORM; docs/layer_read-results.md' \
	'make bench-share A+CFQ and H+BFQ: the paper'"'"'s figures, shares, throughput' \
	'                and tails of the default modes, and tenants that pause;' \
	'                FORM; docs/share-results.md, docs/share-living-results.md' \
	'make bench-all  all of these, one after the other, and the locks; again after' \
	'                an interruption, it goes on; FORM; FULL=SUITE,... are in full' \
	'                all the same; one page at the end' \
	'make report     one page of all results: build/report/index.html' \
	'make unit       unit tests of the pure logic, in user space' \
	'make abi-check  does the kernel'"'"'s private interface fit? Verbosely' \
	'make install    into /lib/modules/RELEASE/updates, then depmod; DESTDIR' \
	'                or INSTALL_MOD_PATH before it' \
	'make uninstall  undo that' \
	'make install-tools  the tools that work without the lab, and examples, below' \
	'                PREFIX (/usr/local); uninstall-tools undoes that' \
	'make deb        Debian packages: build/deb/' \
	'make dkms-install  into the DKMS of this machine, which builds the modules for' \
	'                each new kernel' \
	'make dkms-uninstall  undo that' \
	'make dkms-source  the tree that DKMS takes: build/dkms/' \
	'make package-test  build, install, upgrade and remove the packages in a' \
	'                Debian of their own' \
	'make deps       install the Debian packages that check and bench need' \
	'make clean      remove objects and modules' \
	'make distclean  remove build/, results included' \
	'make help       this'
