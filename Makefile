# Commands of the project. CMake builds everything; this file only defines the commands.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SHELL := /bin/bash

.PHONY: all deps deps-demo deps-other-arch deps-debian13 demo test other-arch debian13 paper validate bench fuzz lint api coverage install clean

all: build/build.ninja
	cmake --build build -j $(JOBS)

# A configuration without tests, such as that of `make demo`, is sufficient for the program.
build/build.ninja:
	cmake --preset release

# Install the packages of packages.txt that are missing: all of them, with those of tests/tools.sh, or those of the
# program only.
deps: LISTS = demo test
deps-demo: LISTS = demo
deps-other-arch: LISTS = demo test other-arch
deps-debian13: LISTS = debian13
deps deps-demo deps-other-arch deps-debian13:
	@missing=$$(awk -v parts="$(LISTS)" 'BEGIN {split(parts, list); for (i in list) wanted[list[i]] = 1} \
	  /^# [a-z0-9-]+$$/ {part = $$2; next} /^[^#]/ && part in wanted' packages.txt | while read -r name; do \
	  dpkg -s $$name >/dev/null 2>&1 || echo $$name; done); \
	if [ -n "$$missing" ]; then \
	  run=; [ "$$(id -u)" = 0 ] || run=sudo; \
	  echo "installing:" $$missing; \
	  $$run apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends $$missing; \
	fi
	@case " $(LISTS) " in *' test '*) tests/tools.sh ;; esac

# Only the program and its pages: no tests, no benchmarks, none of their dependencies.
demo: deps-demo
	[ -e build/build.ninja ] || cmake --preset demo
	cmake --build build -j $(JOBS) --target idm man
	@bash examples/demo.sh build/idm demo-out

# Unit tests in the release build, then with address and undefined-behaviour sanitizers, and the fuzzers. The first
# build uses the default compiler, the second one clang with the opposite sign of char. STRICT=1 makes warnings errors.
test: PRESET = $(if $(STRICT),ci,release)
test: PRESET_ASAN = $(if $(STRICT),ci-asan,asan)
test: deps
	cmake --preset $(PRESET)
	cmake --build build -j $(JOBS)
	ctest --test-dir build -j $(JOBS) --output-on-failure
	cmake --preset $(PRESET_ASAN)
	cmake --build build-asan -j $(JOBS)
	ctest --test-dir build-asan -j $(JOBS) --output-on-failure

# Compile for the other of amd64 and arm64, and run the tests by qemu-user. The sysroot in build-other is kept.
other-arch: deps-other-arch
	@bash tests/other_arch.sh build-other

# The next release of Debian, in its own root: the commands of the README, and the tests compiled by clang.
debian13: deps-debian13
	@$$([ "$$(id -u)" = 0 ] || echo sudo) bash tests/debian13.sh build-debian13 $(STEP)

# Reproduce the paper's Sections 4 and 5 and Appendices B and D, with the printed numbers and figures:
# paper-out/paper.html.
paper: deps all
	@python3 validation/paper.py build/idm paper-out

# The long checks, in parts whose results are kept. `make validate PARTS="grid tails"` runs some, PARTS=list lists them.
validate: deps all
	@bash validation/validate.sh build/idm validate-out $(PARTS)

bench: deps
	cmake --preset release
	cmake --build build -j $(JOBS)
	@bash bench/run.sh build

# Run each fuzzer for ten minutes. Findings are stored in build-fuzz.
fuzz: deps
	cmake --preset fuzz
	cmake --build build-fuzz -j $(JOBS)
	bash fuzz/run.sh build-fuzz 600

lint: deps
	bash tests/lint.sh

# Reference of the C API, from the headers: build/api/html/index.html. A warning of Doxygen is an error.
api: deps
	bash tests/reference.sh build/api

coverage: deps
	cmake --preset coverage
	cmake --build build-coverage -j $(JOBS)
	ctest --test-dir build-coverage -j $(JOBS) --output-on-failure
	gcovr --root . --filter src/ build-coverage

install: all
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-* demo-out paper-out
