# SPDX-License-Identifier: GPL-2.0-only
#
# Sluice: hop-by-hop flow control for datacenter fabrics on Linux.
#
#   make                 modules for this machine's kernel, plugins of tc and ip, tools
#   make KDIR=DIR        modules against the headers or build tree in DIR
#   make test-modules    modules, and those that only tests use
#   make install         put everything where the system looks for it [DESTDIR=] [PREFIX=]
#   make uninstall       take it away again, with the same DESTDIR, PREFIX and KDIR
#   make deb             packages for Debian, in build/deb
#   make demo            a rack in a virtual machine: pfifo, fq_codel, bfc side by side
#   make lab             a small fabric in exact virtual time, three schemes, a report
#   make check           every test: unit, User-Mode Linux in virtual time, virtual machine
#   make check-all       the same for all kernels, and what takes long: hours; AGAIN=1 goes on after an interruption
#   make fuzz SECONDS=60 the parser of control frames under libFuzzer, for as long as you like
#   make check-mutations breaks the modules in many ways, and sees that a test fails each time
#   make check-operators thirty changes that nobody chose, and sees how many of them a test notices
#   make coverage        lines and branches of the modules that the tests reach [JSON=1]
#   make bench           instructions per packet, in an emulator that counts them [QUICK=1] [JSON=1]
#   make bench-lines     lines of the cache that a packet touches [JSON=1]
#   make generated       tables, lists and documents of options and counters, from Documentation/netlink/specs
#   make deps            install the packages that demo and check need (Debian, as root)
#   make clean
#
# `make demo` and `make check` install what they need by themselves. Built kernels and
# unpacked packages are kept in $XDG_CACHE_HOME/sluice (default ~/.cache/sluice).

MAKEFLAGS += --no-print-directory

# Headers of the running kernel, or of the newest installed one.
KDIR	?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
		$(lastword $(sort $(wildcard /lib/modules/*/build))))
# Modules are built in a mirror of kernel/ made of links, one for each kernel.
BUILD	?= host
MIRROR	:= $(CURDIR)/build/$(BUILD)
CHECKER	:= $(if $(SPARSE),C=2 CF="-Wsparse-error")

# Programs and documents; modules go to the kernel of KDIR, plugins to where tc and ip look.
PREFIX	?= /usr/local
PROGRAMS := $(patsubst %/Makefile,%,$(wildcard $(patsubst %,userspace/%/Makefile,sluice hopmon flowgen trace)))
INSTALLED := tc-plugin $(PROGRAMS) userspace/lab userspace/completion userspace/system Documentation/man
KMAKE	= $(MAKE) -C $(KDIR) $(if $(O),O=$(O)) $(if $(ARCH),ARCH=$(ARCH))
# Debian's headers do not tell their flavour to `make kernelrelease`.
RELEASE	= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
		$(or $(O),$(KDIR))/include/generated/utsrelease.h)
MODDIR	= $(DESTDIR)/lib/modules/$(RELEASE)/updates
# A distribution keeps the key of its kernel to itself; the attempt to sign looks like an error.
UNSIGNED = $(if $(wildcard $(or $(O),$(KDIR))/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

MODULES	:= bfc/sch_bfc.ko baseline/sch_ideal.ko baseline/sch_pfc.ko rocc/sch_rocc.ko floodgate/sch_floodgate.ko flowsail/sch_flowsail.ko hopctl/hopctl.ko wire/wire.ko flowgen/flowgen.ko
TEST_MODULES := example window

all: modules plugins programs tools

modules:
	@test -e "$(KDIR)/Makefile" || { echo "No kernel headers in '$(KDIR)':" \
		"install linux-headers-$$(uname -r) or give KDIR=" >&2; exit 1; }
	@mkdir -p $(MIRROR)
	@cp -rsf $(CURDIR)/kernel $(MIRROR)
	@find $(MIRROR) -xtype l -delete
	+$(KMAKE) M=$(MIRROR)/kernel W=1 KCFLAGS=-Werror $(CHECKER) modules
	@ln -sf $(addprefix kernel/,$(MODULES)) $(MIRROR)
	@[ ! -d $(MIRROR)/selftests ] || \
		find $(MIRROR)/selftests -name '*.ko' ! -newer $(MIRROR)/kernel/hopctl/hopctl.ko -delete

# The modules that only tests use. `make modules` alone removes them when hopctl has become another one.
test-modules: modules
	@mkdir -p $(MIRROR)/selftests
	@cp -rsf $(addprefix $(CURDIR)/selftests/,$(TEST_MODULES)) $(MIRROR)/selftests
	@find $(MIRROR)/selftests -xtype l -delete
	@find $(MIRROR)/selftests -name Module.symvers ! -newer $(MIRROR)/kernel/Module.symvers -delete
	+$(foreach dir,$(TEST_MODULES),$(KMAKE) M=$(MIRROR)/selftests/$(dir) W=1 KCFLAGS=-Werror $(CHECKER) modules &&) :

plugins:
	$(MAKE) -C tc-plugin

tools: programs
	$(MAKE) -C selftests
	$(MAKE) -C userspace/lab

# A program whose libraries are not installed says so, and is left out; with MAYBE= it must be there.
MAYBE	?= 1
programs:
	$(foreach dir,$(PROGRAMS),$(MAKE) -C $(dir) MAYBE=$(MAYBE) &&) :

# Below a DESTDIR nothing is told to the system.
install: install-modules install-tools

install-modules: modules
	+$(KMAKE) M=$(MIRROR)/kernel INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates \
		INSTALL_MOD_STRIP=1 $(UNSIGNED) DEPMOD=true modules_install
	$(if $(DESTDIR),,depmod $(RELEASE))

install-tools: plugins programs
	$(foreach dir,$(INSTALLED),$(MAKE) -C $(dir) PREFIX=$(PREFIX) MAYBE=$(MAYBE) install &&) :
	$(if $(DESTDIR),,[ ! -d /run/systemd/system ] || systemctl daemon-reload)

uninstall:
	$(foreach dir,$(INSTALLED),$(MAKE) -C $(dir) PREFIX=$(PREFIX) uninstall &&) :
ifneq ($(wildcard $(KDIR)/Makefile),)
	rm -f $(patsubst %,$(MODDIR)/%*,$(MODULES))
	@rmdir --ignore-fail-on-non-empty $(addprefix $(MODDIR)/,$(dir $(MODULES))) \
		$(MODDIR) 2>/dev/null || :
	$(if $(DESTDIR),,depmod $(RELEASE))
else
	@echo "No kernel headers in '$(KDIR)': modules are left as they are" >&2
endif

# Built in a copy of the tree, so that neither is in the other's way.
VERSION	:= $(file <VERSION)
deb:
	@debian/reportable $(VERSION)
	rm -rf build/deb
	mkdir -p build/deb/sluice-$(VERSION)
	(git ls-files -co --exclude-standard 2>/dev/null || find * -path build -prune -o -type f -print) | \
		tar -c -T - | tar -x -C build/deb/sluice-$(VERSION)
	cd build/deb/sluice-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -b
	@ls build/deb/*.deb

deps:
	@selftests/install-packages

demo: deps
	userspace/lab/demo

LAB	:= userspace/lab/experiments/leaf-spine.lab
lab: deps
	userspace/lab/sluice-lab run --out lab-results $(LAB)

check: deps
	selftests/check

check-all: deps
	selftests/check --all $(if $(AGAIN),--again) --table Documentation/check-all.md

generated:
	scripts/generate
	$(MAKE) -C userspace/sluice attributes

check-operators: deps plugins tools
	selftests/mutations/operators

fuzz:
	$(MAKE) -C selftests/unit fuzz

check-mutations: deps plugins tools
	selftests/mutations/check

coverage: deps
	@$(MAKE) plugins tools >&2
	@selftests/coverage/check $(if $(JSON),--json)

bench-build: deps
	@KDIR=$$(selftests/vm/fetch --print 6.1 | sed -n 's/^KDIR=//p') && \
		$(MAKE) modules KDIR=$$KDIR BUILD=vm-6.1 >&2 && $(MAKE) plugins tools >&2

bench: bench-build
	selftests/bench/bench $(if $(QUICK),--quick) $(if $(JSON),--json)

bench-lines: bench-build
	selftests/bench/lines $(if $(JSON),--json)

clean:
	rm -rf build
	$(foreach dir,$(PROGRAMS),$(MAKE) -C $(dir) clean &&) :
	$(MAKE) -C selftests clean
	$(MAKE) -C userspace/lab clean

.PHONY: all modules test-modules generated plugins tools programs install install-modules install-tools uninstall \
	deb deps demo lab check check-all check-mutations check-operators fuzz coverage bench bench-build bench-lines \
	clean
