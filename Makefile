# SPDX-License-Identifier: GPL-2.0-only
#
# One command from a clean clone to a trace, or to all tests. The kernel's own
# makefiles do the compiling; this one fetches the base, keeps build/src equal
# to base plus series, and starts tools/vm/ and the tests.

# The version of Linux, 6.12 or 7.3. Each has a directory of its own to be built in.
BASE_VERSION ?= 6.12
export BASE_VERSION
B	:= $(or $(shell BASE_VERSION='$(BASE_VERSION)' scripts/build-dir),$(error no such BASE_VERSION))
# A tarball of this version, an unpacked tree, or REPOSITORY#BRANCH. Debian 12 has a package of
# Linux 6.12; newer versions are fetched from Debian 13.
PACKAGED_BASE := /usr/src/linux-source-6.12.tar.xz
DEBIAN_BASE := $(if $(filter 6.12,$(BASE_VERSION)),$(PACKAGED_BASE),$(B)/linux-source-$(BASE_VERSION).tar.xz)
BASE	:= $(DEBIAN_BASE)
# Of a base from git: what its mails stand on.
HASH	:= \#
BASE_COMMIT := $(if $(findstring $(HASH),$(BASE)),$(BASE),$(patsubst %/.git,%$(HASH)HEAD,$(wildcard $(BASE)/.git)))

# What a build and a guest need; the tests and checkers; the full kernel.
PACKAGES := $(if $(filter $(PACKAGED_BASE),$(BASE)),linux-source-6.12) xz-utils build-essential bc \
	    bison flex cpio quilt patch rsync libelf-dev perl ccache git \
	    qemu-system-x86 busybox-static
TEST_PACKAGES := sparse shellcheck libperl-critic-perl python3-sphinx procps \
		 $(shell cat tools/testing/ftrace/*/packages tools/testing/ftrace/host/*/packages 2>/dev/null)
NATIVE_PACKAGES := $(filter linux-source-% xz-utils build-essential bc bison flex quilt patch rsync \
		   perl ccache git,$(PACKAGES))
FULL_PACKAGES := dwarves kexec-tools makedumpfile mmdebstrap uidmap genext2fs gcc-multilib libssl-dev libbpf-dev zlib1g-dev

.PHONY: prepare unpack help packages test-packages full-packages clang-package run shell check check-guests check-32 check-full \
	check-debian check-debug check-all mutants model native faults native-coverage native-fuzz native-torture torture picture bench series series-check series-bisect deb lint clean

ONLY_6_12 := $(filter check-32 check-full check-all mutants torture picture deb,$(MAKECMDGOALS))
ifneq ($(and $(ONLY_6_12),$(filter-out 6.12,$(BASE_VERSION))),)
$(error $(ONLY_6_12): for BASE_VERSION=6.12 alone)
endif

prepare: packages
	@$(MAKE) --no-print-directory unpack

unpack:
	$(if $(filter-out $(PACKAGED_BASE),$(filter $(DEBIAN_BASE),$(BASE))),@scripts/fetch-base $(BASE_VERSION) $(B))
	@scripts/unpack-base "$(BASE)" $(B)

help:
	@echo 'make               fetch the base kernel and put the series into it, in build/src'
	@echo 'make run           build, boot, run the example of README.md and check its trace'
	@echo 'make shell         the same kernel with an interactive shell'
	@echo 'make check         the tests of the series on the small kernel, lint among them'
	@echo 'make check-guests  of make check, make native and what runs in guests'
	@echo 'make check-32      of make check-full, the guest scripts on the 32-bit kernel'
	@echo 'make check-full    the same on the full kernel and a 32-bit one, and other people'\''s tests'
	@echo 'make check-debian  of make check-full, other people'\''s tests'
	@echo 'make check-debug   the guest scripts on kernels with lockdep, KASAN, KCSAN, PREEMPT_RT, ...;'
	@echo '                   CONFIGS="locks rt" selects'
	@echo 'make check-all     what takes too long for every change; says when it was last green'
	@echo 'make mutants       plant faults, one at a time: which test sees it? MUTANTS="NAME..." for some'
	@echo 'make model         spin proves models of patching, removal and readers without a lock'
	@echo 'make native        the core as a program, with all KUnit suites; no kernel is built.'
	@echo '                   SANITIZE=address or SANITIZE=thread'
	@echo 'make faults        does "make native" see faults made from the lines of the core? Each 10th,'
	@echo '                   EVERY=1 for all, about 4,000; FILES="plan.c class.c" for some'
	@echo 'make native-coverage  which lines do the tests of make native not execute? And how many branches?'
	@echo 'make native-fuzz   libFuzzer looks for words and operations that the core fails with; SECONDS=20'
	@echo 'make native-torture  the same program under load on this machine'\''s CPUs; SECONDS=60 SEED=1'
	@echo 'make torture       everything at once, with NMIs and without memory, and what is left afterwards;'
	@echo '                   MINUTES=10 SEED=1 WORKERS="toggle module nmi"'
	@echo 'make picture       what speedscope shows of a snapshot: build/flight.png, with chromium'
	@echo 'make bench         measure against the unmodified base'
	@echo 'make series        three series of mails for git am, in build/series/;'
	@echo '                   SIGNOFF="Name <mail>" is the sender; V=2 RFC=y change the subjects'
	@echo 'make series-check  the mails apply, give the prepared tree, and pass the checkers'
	@echo 'make series-bisect build and boot after each patch, 64 and 32 bit'
	@echo 'make deb           a Debian package of a kernel with the series; CONFIG=FILE'
	@echo 'make lint          only the checkers'
	@echo 'make clean         delete build/'
	@echo
	@echo 'BASE_VERSION=7.3 does it for Linux 7.3, in build/7.3: run, shell, check, check-guests, native,'
	@echo 'native-torture, check-debug, check-debian, bench, series, series-check, series-bisect, lint, clean. The'
	@echo 'other targets are for 6.12 alone.'
	@echo 'BASE=linux-6.12.y.tar.xz, BASE=DIRECTORY or BASE=REPOSITORY#BRANCH takes another base than'
	@echo 'Debian'\''s linux-source. scripts/prepare-kernel LINUX-TREE puts the series into a tree of yours.'

packages:
	@mkdir -p $(B)
	@scripts/install-packages $(B)/packages.log $(PACKAGES)

test-packages: packages
	@scripts/install-packages $(B)/packages.log $(TEST_PACKAGES)

full-packages: test-packages
	@scripts/install-packages $(B)/packages.log $(FULL_PACKAGES)

# A build from nothing takes long: $(call first,CONFIG,MINUTES) says so, for two idle cores.
first = @[ -f $(B)/$(1)/vmlinux ] || echo 'The kernel "$(1)" is built first, in about $(2) minutes.'

run: prepare
	$(call first,small,5)
	@scripts/build small
	@tools/vm/example README.md

shell: prepare
	$(call first,small,5)
	@scripts/build small
	@echo 'The function tracer is in /sys/kernel/tracing; "exit" leaves.'
	@tools/vm/guest -I

# Faults made from the lines of the core and the patcher; FILES="plan.c class.c" for some.
EVERY	?= 10
START	?= 0
ARCH_FILES = $(notdir $(wildcard $(B)/src/arch/x86/kernel/ftrace/*.c))
FILES	?= $(notdir $(wildcard $(B)/src/kernel/trace/ftrace/*.c)) $(ARCH_FILES)
faults: native
	@tools/testing/ftrace/native/faults -n $(EVERY) -s $(START) -k "$(KIND)" -j $(shell nproc) $(B)/src $(B)/native \
		$(addprefix kernel/trace/ftrace/,$(filter-out $(ARCH_FILES),$(FILES))) \
		$(addprefix arch/x86/kernel/ftrace/,$(filter $(ARCH_FILES),$(FILES)))

native-goal = check
native-torture-goal = torture SECONDS=$(or $(SECONDS),60) TORTURE_SEED=$(SEED)
native-fuzz-goal = fuzz SECONDS=$(or $(SECONDS),20)
native-coverage-goal = coverage COVERAGE=1

# Of the packages of "make", only those that these need.
native-fuzz: clang-package
native native-torture native-coverage native-fuzz:
	@mkdir -p $(B)
	@scripts/install-packages $(B)/packages.log $(NATIVE_PACKAGES) $(if $(filter native-coverage,$@),gcovr)
	@$(MAKE) --no-print-directory unpack
	@$(MAKE) -s --no-print-directory -j$(shell nproc) -C tools/testing/ftrace/native \
		SRC=$(B)/src O=$(B)/native SANITIZE=$(SANITIZE) $(call $@-goal)

check: native $(if $(shell command -v clang),native-fuzz) prepare test-packages
	$(call first,small,5)
	@scripts/build small
	@scripts/build -b -t "kernel/ mm/ lib/" small
	@tools/testing/ftrace/check -o base-small small

check-guests: native prepare test-packages
	$(call first,small,5)
	@scripts/build small
	@tools/testing/ftrace/check -g small

check-32: prepare full-packages
	$(call first,i386,6)
	@scripts/build i386
	@tools/testing/ftrace/check -s i386

check-full: prepare full-packages
	$(call first,full,12)
	@scripts/build full
	$(call first,i386,6)
	@scripts/build i386
	@scripts/build -b -t "kernel/ mm/ lib/" tiny
	@tools/testing/ftrace/check -o base-tiny full i386

check-debian: prepare full-packages
	$(call first,full,15)
	@scripts/build full
	@tools/testing/ftrace/check -d full

check-debug: prepare test-packages
	@tools/testing/ftrace/check -k $(CONFIGS)

check-all: prepare full-packages
	@tools/testing/ftrace/check-all

mutants: prepare test-packages
	$(call first,small,5)
	@scripts/build small
	@tools/testing/ftrace/run-mutants $(MUTANTS)

torture: prepare full-packages
	$(call first,torture,12)
	@scripts/build torture
	@tools/testing/ftrace/torture $(if $(MINUTES),-m $(MINUTES)) $(if $(SEED),-s $(SEED)) $(WORKERS)

picture: prepare test-packages
	@scripts/install-packages $(B)/packages.log chromium curl netpbm
	$(call first,small,5)
	@scripts/build small
	@FLIGHT_PICTURE=$(abspath $(B))/flight.png tools/testing/ftrace/run-tests tools/testing/ftrace/host/flight/guest.t

bench: prepare
	@tools/tracing/bench/run

# The models need nothing of the base kernel.
model:
	@mkdir -p $(B)
	@scripts/install-packages $(B)/packages.log $(shell cat tools/testing/ftrace/model/packages)
	@tools/testing/ftrace/model/run

# clang, and its libFuzzer, whose package has the version of clang in its name.
clang-package:
	@mkdir -p $(B)
	@scripts/install-packages $(B)/packages.log clang
	@scripts/install-packages $(B)/packages.log \
		$$(clang --version | sed -n 's/.*clang version \([0-9]*\).*/libclang-rt-\1-dev/p')

lint: prepare test-packages
	@tools/testing/ftrace/run-tests tools/testing/ftrace/lint.t

series: prepare
	@scripts/make-series $(if $(SIGNOFF),-s "$(SIGNOFF)") $(if $(V),-v $(V)) $(if $(RFC),--rfc) -g $(B)/series.git \
		$(if $(BASE_COMMIT),-c "$(BASE_COMMIT)") $(B)/base-src $(B)/series

series-check: prepare test-packages
	$(call first,small,5)
	@tools/testing/ftrace/run-tests tools/testing/ftrace/host/series/series.t

series-bisect: prepare
	@tools/testing/ftrace/long/series-bisect

deb: prepare
	@scripts/deb $(CONFIG)

clean:
	rm -rf $(B)
