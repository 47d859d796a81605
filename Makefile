# SPDX-License-Identifier: GPL-2.0-only
#
# Sluice: hop-by-hop flow control for datacenter fabrics on Linux.
#
#   make                 modules for this machine's kernel, plugins of tc and ip, tools
#   make KDIR=DIR        modules against the headers or build tree in DIR
#   make install         put modules and plugins where the system looks for them
#   make demo            a rack in a virtual machine: pfifo, fq_codel, bfc side by side
#   make check           every test: unit, User-Mode Linux in virtual time, virtual machine
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

all: modules plugins tools

modules:
	@test -e "$(KDIR)/Makefile" || { echo "No kernel headers in '$(KDIR)':" \
		"install linux-headers-$$(uname -r) or give KDIR=" >&2; exit 1; }
	@mkdir -p $(MIRROR)
	@cp -rsf $(CURDIR)/kernel $(MIRROR)
	@find $(MIRROR) -xtype l -delete
	$(MAKE) -C $(KDIR) $(if $(O),O=$(O)) $(if $(ARCH),ARCH=$(ARCH)) M=$(MIRROR)/kernel \
		W=1 KCFLAGS=-Werror $(CHECKER) modules
	@ln -sf kernel/sch_bfc.ko kernel/hopctl/hopctl.ko kernel/wire/wire.ko $(MIRROR)

plugins:
	$(MAKE) -C tc-plugin

tools:
	$(MAKE) -C selftests
	$(MAKE) -C userspace/lab
	$(MAKE) -C userspace/hopmon MAYBE=1

# For the running kernel, or the one whose headers are in KDIR.
install: all
	$(MAKE) -C $(KDIR) M=$(MIRROR)/kernel modules_install
	depmod -a $$($(MAKE) -s -C $(KDIR) kernelrelease)
	$(MAKE) -C tc-plugin install
	$(MAKE) -C userspace/hopmon MAYBE=1 install

deps:
	@selftests/install-packages

demo: deps
	userspace/lab/demo

check: deps
	selftests/check

clean:
	rm -rf build
	$(MAKE) -C selftests clean
	$(MAKE) -C userspace/lab clean

.PHONY: all modules plugins tools install deps demo check clean
