# SPDX-License-Identifier: GPL-2.0-only
#
# One command from a clean clone to a trace, or to all tests. The kernel's own
# makefiles do the compiling; this one fetches the base, keeps build/src equal
# to base plus series, and starts tools/vm/ and the tests.

BASE	:= /usr/src/linux-source-6.12.tar.xz
B	:= build

# What a build and a guest need; the tests and checkers; the full kernel.
PACKAGES := linux-source-6.12 xz-utils build-essential bc bison flex cpio quilt \
	    patch rsync libelf-dev perl qemu-system-x86 busybox-static
TEST_PACKAGES := sparse shellcheck libperl-critic-perl \
		 $(shell cat tools/testing/ftrace/*/packages 2>/dev/null)
FULL_PACKAGES := dwarves mmdebstrap uidmap genext2fs gcc-multilib

.PHONY: prepare help packages run shell check check-full bench series lint clean
.DELETE_ON_ERROR:

prepare: $(B)/src/.ftrace-series
	@scripts/prepare-kernel --sync $(B)/src

help:
	@echo 'make            fetch the base kernel and put the series into it, in build/src'
	@echo 'make run        build, boot, run the example of README.md and check its trace'
	@echo 'make shell      the same kernel with an interactive shell'
	@echo 'make check      the tests of the series on the small kernel, lint among them'
	@echo 'make check-full the same on the full kernel and a 32-bit one, and other people'\''s tests'
	@echo 'make bench      measure against the unmodified base'
	@echo 'make series     the whole as one patch series, in build/series'
	@echo 'make lint       only the checkers'
	@echo 'make clean      delete build/'
	@echo
	@echo 'scripts/prepare-kernel LINUX-TREE puts the series into a tree of yours.'

packages:
	@mkdir -p $(B)
	@tools/vm/install-packages $(B)/packages.log $(PACKAGES)

# An unpacked tree appears whole or not at all.
define unpack
	@rm -rf $@.new && mkdir -p $@.new
	@tools/vm/progress -f $(BASE) unpacking $(B)/unpack.log \
		tar -xJ --strip-components=1 -C $@.new
	@mv $@.new $@
endef

$(B)/src: | packages
	$(unpack)

$(B)/base-src: | packages
	$(unpack)

$(B)/src/.ftrace-series: | $(B)/src
	@scripts/prepare-kernel $(B)/src

run: prepare
	@tools/vm/build small
	@tools/vm/example README.md

shell: prepare
	@tools/vm/build small
	@echo 'The function tracer is in /sys/kernel/tracing; "exit" leaves.'
	@tools/vm/guest -I

check: prepare | $(B)/base-src
	@tools/vm/install-packages $(B)/packages.log $(TEST_PACKAGES)
	@tools/vm/build small
	@tools/vm/build -b small
	@tools/testing/ftrace/check -o base-small small

check-full: prepare | $(B)/base-src
	@tools/vm/install-packages $(B)/packages.log $(TEST_PACKAGES) $(FULL_PACKAGES)
	@tools/vm/build full
	@tools/vm/build tiny
	@tools/vm/build -b tiny
	@tools/vm/build nofunc
	@tools/vm/build i386
	@FTRACE_CONFIGS="tiny nofunc" tools/testing/ftrace/check -o base-tiny full i386

bench: prepare | $(B)/base-src
	@tools/tracing/bench/run

lint: prepare
	@tools/vm/install-packages $(B)/packages.log $(TEST_PACKAGES)
	@tools/testing/ftrace/run-tests tools/testing/ftrace/lint.t

series: prepare
	@tools/vm/series $(B)/src $(CURDIR)/$(B)/series

clean:
	rm -rf $(B)
