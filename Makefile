# SPDX-License-Identifier: BSD-3-Clause
# Everything a newcomer or CI calls. Each goal does its own set-up on a fresh machine.
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
PYTHON := build/venv/bin/python
CMAKE = $(shell PATH="$(CURDIR)/build/venv/bin:$$PATH" command -v cmake)
# Many files compiled as one: half of the time from nothing. `make UNITY=OFF` suits who edits files
# and builds after each.
UNITY ?=
# Configures the folder of a preset of CMakePresets.json.
configure = mkdir -p $(1) && { $(CMAKE) --preset $(2) $(if $(UNITY),-DCMAKE_UNITY_BUILD=$(UNITY)) \
  >$(1)/configure.log || { cat $(1)/configure.log; exit 1; }; }
export PYTHONPATH := $(CURDIR)/python

.PHONY: all build tests setup mpis demo demo-setup paper bench bench-compare test conformance programs lint soak wheel docs install clean help

all: build

help:
	@echo "make          build the library, the command build/bin/oriel and the programs, for three MPIs"
	@echo "make demo     the main job on one MPI: builds what it plays; tables and figures in build/demo"
	@echo "make paper    every figure and table of the five papers beside ours, within an hour; QUICK=1: tiny, to see that it works"
	@echo "make tests    build the tests"
	@echo "make test     everything that CI tests; WORKERS=1: one MPI job at a time"
	@echo "make conformance  programs of others and of ours on every MPI, with Oriel and without: build/conformance/matrix.md; VERSIONS=all: ours on each version that PyPI has"
	@echo "make programs  real programs (NWChem, PETSc, CP2K, ...) on every MPI, with Oriel and without: build/programs-run/programs.md; QUICK=1 ONLY=nwchem REPORT=1"
	@echo "make lint     formatting and static analysis"
	@echo "make bench    oriel bench micro: ratios against the host MPIs"
	@echo "make bench-compare REF=COMMIT  bench micro of this tree against that of a commit, in turn; MPI=mpich ROUNDS=5"
	@echo "make soak     long random tests of the core and of threads, larger spaces of the model, 10^8 notifications, 10^5 collectives, 10^7 RMA calls, 4*10^6 windows, transfers over 4 GiB"
	@echo "UNITY=OFF     behind any of them: each file is compiled by itself, which suits small changes"
	@echo "make wheel    a Python wheel for all MPIs, in build/wheel: libraries, command, headers, programs"
	@echo "make docs     the documentation's site: build/docs/html/index.html"
	@echo "make mpis     bring MPICH, Open MPI and Intel MPI into build/mpi"

setup:
	@scripts/setup

mpis: setup
	@scripts/mpis

build: mpis
	@$(call configure,build,release)
	@$(CMAKE) --build build -j$(JOBS)

tests: build
	@$(CMAKE) --build build -j$(JOBS) --target tests

# A goal of its own: make expands a whole recipe before its first line runs, so a recipe that uses
# $(CMAKE) cannot install it.
demo-setup:
	@scripts/setup demo
	@scripts/mpis mpich

demo: demo-setup
	@$(call configure,build,release)
	@$(CMAKE) --build build -j$(JOBS) --target oriel_mpich patterns_mpich
	build/bin/oriel demo

paper: build
	build/bin/oriel paper $(if $(QUICK),--quick)

bench: build
	build/bin/oriel bench micro

bench-compare: build
	JOBS=$(JOBS) scripts/bench-compare "$(REF)" $(or $(MPI),mpich) $(ROUNDS)

# ThreadSanitizer cannot be preloaded into a program that was not built with it: its preset builds no
# library.
SANITIZED := build/sanitize-thread build/sanitize-address
$(SANITIZED): build/sanitize-%: mpis
	@$(call configure,$@,sanitize-$*)
	@$(CMAKE) --build --preset sanitize-$* -j$(JOBS)
.PHONY: $(SANITIZED)

# Two tests at a time where there are two cores: MPI jobs start, end and wait for lost peers for half
# of their time. More than two overload the cores: some jobs have eight ranks.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 2 ? n : 2)))
PYTEST = $(PYTHON) -m pytest -q -n $(WORKERS) --dist loadgroup

test: tests $(SANITIZED)
	@scripts/mpis mpich==3.4.3.post1 intel==2021.1.1
	scripts/core-tests build/tests/{fake_host,model}_tests $(SANITIZED:=/tests/core_tests)
	$(PYTEST) tests/mpi4py tests/python tests/mpi
	$(PYTEST) tests/mpi/test_processes.py --sanitized --ranks 2

conformance: tests
	@$(PYTHON) tests/conformance/$(if $(VERSIONS),versions.py $(VERSIONS),matrix.py)

programs: build
	@scripts/setup programs
	@$(PYTHON) tests/programs/run.py $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(REPORT),--report)

soak: tests build/sanitize-address
	@$(CMAKE) --build build -j$(JOBS) --target core_tests
	scripts/core-tests build/tests/core_tests
	ORIEL_SEEDS=20000 build/tests/core_tests --gtest_filter='*andom*'
	ORIEL_MODEL_LARGE=1 build/tests/model_tests
	@$(CMAKE) --build build/sanitize-address -j$(JOBS) --target oriel_openmpi
	@$(call configure,build/alone,alone)
	@$(CMAKE) --build --preset alone -j$(JOBS)
	$(PYTEST) tests/mpi/test_processes.py --sanitized --ranks 2
	build/bin/oriel run -n 4 build/tests/mpi/mpich/notify_soak 100000000
	build/bin/oriel run -n 4 build/tests/mpi/mpich/stress 300 1000 4
	build/bin/oriel run -n 4 --hosts 2 build/tests/mpi/mpich/stress 30 1000 4
	build/bin/oriel run -n 4 build/tests/mpi/mpich/alltoallv_fuzz 2000 1000
	build/bin/oriel run -n 4 --hosts 2 build/tests/mpi/mpich/alltoallv_fuzz 300 1000
	build/bin/oriel run -n 2 build/tests/mpi/mpich/fuzz 1000 10000000
	build/bin/oriel run -n 4 --hosts 2 build/tests/mpi/mpich/fuzz 1000 1000000
	ORIEL_TEST_LONG=1 build/bin/oriel run -n 4 --hosts 2 build/tests/mpi/mpich/fuzz 1000 300000
	ORIEL_TEST_ALARM=7200 build/bin/oriel run -n 2 build/tests/mpi/mpich/collective_soak 100000
	ORIEL_TEST_ALARM=7200 build/bin/oriel run -n 2 --hosts 2 build/tests/mpi/mpich/collective_soak 100000
	UCX_MEM_EVENTS=n ORIEL_TEST_ALARM=7200 build/bin/oriel run -n 2 build/tests/mpi/mpich/short_lived_windows 1000000
	ORIEL_TEST_ALARM=1800 build/bin/oriel run -n 2 build/tests/mpi/mpich/long_transfers "all over 4"
	ORIEL_TEST_ALARM=1800 build/bin/oriel run -n 2 --hosts 2 build/tests/mpi/mpich/long_transfers "all over 4"
	ORIEL_TEST_ALARM=1800 build/bin/oriel run -n 2 build/tests/mpi/openmpi/long_transfers "all over 4"
	ORIEL_TEST_ALARM=1800 build/bin/oriel run -n 2 --hosts 2 build/tests/mpi/openmpi/long_transfers "all over 4"

lint: UNITY =
lint: mpis
	@$(call configure,build/lint,lint)
	@$(CMAKE) --build --preset lint
	scripts/lint

wheel: build
	@scripts/wheel

# The table of settings is the library's own, the calls in Python are imported, and a guide shows the
# report of a program.
docs: mpis
	@$(call configure,build,release)
	@$(CMAKE) --build build -j$(JOBS) --target oriel-settings oriel_mpich
	@scripts/docs
	@echo "docs: build/docs/html/index.html"

install: build
	$(CMAKE) --install build

clean:
	rm -rf build
