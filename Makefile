# make help lists the targets.

GO ?= go
PYTHON ?= python3
VENV := .venv
# lmdb-go's C code has warnings that are harmless.
export CGO_CFLAGS := -O2 -g -Wno-implicit-fallthrough
# Without files of bytecode, each of the tests' processes compiles torch again, for seconds.
unexport PYTHONDONTWRITEBYTECODE
# torch's threads that have nothing to do sleep, in place of taking a core from the other tests.
export OMP_WAIT_POLICY := passive
# Runs go with CUDA support if its header is available, otherwise without.
CUDA := PYTHON=$(PYTHON) gpuverify/cuda/with-cuda.sh bin/cuda

.PHONY: build-needs test-needs notices help build quickstart test check go-test race python-test python-versions exhaustive bench fuzz gpu-check wheels dist test-dist ptx fmt clean docs

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

# $(call need,TEST,WHAT,REMEDY) ends with what is missing and how to get it, in one line.
need = @{ $(1); } >/dev/null 2>&1 || { echo "make: no $(2): $(3)" >&2; exit 1; }
HEADERS := echo '\#include <stdlib.h>'

build-needs:
	$(call need,$(GO) list -m,Go 1.26 or later,install it from https://go.dev/dl)
	$(call need,$(HEADERS) | "$$($(GO) env CC)" -E -,C compiler,apt install gcc libc6-dev)

test-needs: build-needs
	$(call need,$(HEADERS) | g++ -E -x c++ -,C++ compiler$(comma) which tests need,apt install g++)
	$(call need,$(PYTHON) -c 'import ensurepip$(comma) sys; sys.exit(sys.version_info < (3$(comma) 10))',Python 3.10 or later with venv,apt install python3-venv)

comma := ,

build: build-needs ## bin/tcbuild, with CUDA support if its header is available
	$(CUDA) $(GO) build -o bin/tcbuild ./cmd/tcbuild

quickstart: build ## the whole chain on synthetic data of yeast's size, in seconds
	test -e data/synthetic || bin/tcbuild synth --out data/synthetic --scale yeast --samples 5000
	bin/tcbuild rebuild --config conf/quickstart.yaml

# Long tests run a few of their cases, and Python's slow tests do not run. LONG=1 in the environment,
# as in CI, runs more cases and all tests.
test: test-needs check go-test python-test ## install the tests' dependencies, and run all tests

# Programs and wheels are made, and packages chosen, with fixed versions of the tools, in an
# environment of their own.
TOOLS := bin/release/venv
RELEASE = PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH"

# Fixed versions, so that a new release does not break a commit.
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

check: $(VENV)/installed ## formatting, go vet, staticcheck, ruff and mypy
	@echo 'gofmt'
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run: make fmt'; exit 1; }
	@echo 'go vet (the first time it compiles everything, for minutes)'
	@$(CUDA) $(GO) vet ./...
	@echo 'staticcheck (the same)'
	@$(CUDA) $(STATICCHECK) ./...
	@echo 'ruff'
	@$(VENV)/bin/ruff format -q --check python
	@$(VENV)/bin/ruff check -q python
	@echo 'mypy'
	@cd python && ../$(VENV)/bin/mypy

# Tests write and sync thousands of small files: in memory, where it has room for them, as Go's do
# by internal/testing/testrun.
MEMORY := $(shell [ "$$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 6000000 ] 2>/dev/null && echo TMPDIR=/dev/shm)

# make check has vetted the tests
GO_TEST = $(CUDA) $(GO) test -vet=off -timeout $(if $(TCBUILD_EXHAUSTIVE),5h,30m)

go-test: test-needs ## all Go tests; of those of many cases, some
	$(GO_TEST) $(if $(LONG),,-short) ./...

# Of the packages whose code starts goroutines or locks, with -short. Two kinds of tests do not run:
# those that try every damage to a file, and long ones on one goroutine. Of the program's tests those
# run whose processes work with several goroutines or are interrupted: the detector sees no races
# between processes, so kills and runs at once are left to make test.
RACE = $$(grep -rlE '^\s*go [a-zA-Z]|errgroup|"sync"' --include=*.go --exclude-dir=cmd . | xargs -n1 dirname | sort -u)
RACE_SKIP := ^TestEvery|^(TestShardFileIsLMDBs|TestControls|TestDigestsOfParts|TestKinds)$$
RACE_COMMANDS := Workers|Resume$$|Interrupted|Signal|Rebuild$$|Bench$$|Steps

race: test-needs ## the concurrent Go tests, under the race detector
	$(GO_TEST) -race -short -skip='$(RACE_SKIP)' $(RACE)
	$(GO_TEST) -race -run='$(RACE_COMMANDS)' ./cmd/tcbuild

PYTEST = $(MEMORY) $(CUDA) $(VENV)/bin/python -m pytest -q -rs -n auto --maxprocesses 8 --dist worksteal

python-test: $(VENV)/installed ## the tests that read datasets with Python's own libraries
	$(PYTEST) $(if $(LONG),,-m 'not slow') python/tests

python-versions: $(VENV)/installed ## some Python tests with the oldest and the newest Python and packages
	$(MEMORY) python/try-versions.sh $(CURDIR)/$(VENV)/bin/uv $(CURDIR)/bin/python-versions

exhaustive: ## make test with every damage to a file, which takes hours
	LONG=1 TCBUILD_EXHAUSTIVE=all $(MAKE) test

# uv installs torch's gigabytes in a quarter of pip's time.
UV := uv==0.13.9
# PINNED= takes the newest packages that the other files allow.
PINNED ?= -c python/requirements-pinned.txt

# Without torch (gigabytes, and not in every index) its tests are skipped with a message.
$(VENV)/installed: $(wildcard python/requirements-*.txt) | test-needs
	@echo 'installing Python packages for tests into $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install -q $(UV)
	@$(VENV)/bin/uv pip install -q -p $(VENV) -r python/requirements-test.txt -r python/requirements-check.txt $(PINNED)
	@echo 'installing torch into $(VENV), without which its tests are skipped'
	-@$(VENV)/bin/uv pip install -q -p $(VENV) -r python/requirements-torch.txt $(PINNED)
	@touch $@

bench: ## all benchmarks, six runs each, for benchstat
	$(GO) test -run='^$$' -bench=. -count=6 ./...

# The packages that guide the fuzzer: ours, and the libraries that read bytes for them. go test
# -fuzz counts in every package, of which the fuzzer visits all counters after each execution: those
# of net/http, which Parquet links, and others made up two thirds of its time.
FUZZED := tcbuild/... github.com/apache/arrow/... github.com/klauspost/compress/... go.yaml.in/yaml/... encoding/csv

fuzz: ## each fuzz target for FUZZTIME: a number of inputs (default 1000x) or a time such as 10m
	@set -e; for folder in $$(grep -rl '^func Fuzz' --include=*_test.go . | xargs -n1 dirname | sort -u); do \
		$(GO) test -c $(FUZZED:%=-gcflags=%=-d=libfuzzer) -o bin/fuzz.test $$folder; \
		for target in $$(bin/fuzz.test -test.list '^Fuzz'); do \
			echo "$$folder $$target"; \
			(cd $$folder && $(CURDIR)/bin/fuzz.test -test.run='^$$' -test.fuzz="^$$target$$" -test.fuzztime=$(or $(FUZZTIME),1000x) -test.fuzzminimizetime=10x \
				-test.fuzzcachedir="$$($(GO) env GOCACHE)/fuzz/tcbuild/$$folder"); \
		done; \
	done

gpu-check: ## make and run a folder that tests verify --device cuda, and Python, on an NVIDIA card
	$(CUDA) $(GO) build -ldflags '-s -w' -o bin/gpu-check/tcbuild ./cmd/tcbuild
	cp gpuverify/gpucheck/gpu-check bin/gpu-check/
	rm -rf bin/gpu-check/python
	mkdir bin/gpu-check/python
	tar -C python -c --exclude=__pycache__ tcbuild tests pyproject.toml | tar -C bin/gpu-check/python -x
	bin/gpu-check/gpu-check --out bin/gpu-check/result.json

$(TOOLS)/installed: python/requirements-release.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install -q --require-hashes -r $<
	touch $@

# CI takes the first; a night's run and a release take both.
export ARCHITECTURES ?= x86_64 aarch64

wheels: $(TOOLS)/installed ## dist/: wheels of the Python package with the program inside, for x86_64 and aarch64
	rm -rf dist
	@set -e; for architecture in $(ARCHITECTURES); do \
		$(RELEASE) release/program.sh $$architecture bin/release/$$architecture/tcbuild; \
		$(RELEASE) release/wheel.sh $$architecture $(CURDIR)/bin/release/$$architecture/tcbuild $(CURDIR)/dist; \
	done

dist: wheels ## dist/: the files of a release: wheels, archives, bills of materials, checksums
	$(RELEASE) release/dist.sh

test-dist: dist ## install a wheel without Go, and run the quickstart; build the program again elsewhere
	$(RELEASE) release/test-dist.sh $(PYTHON)

DOCS := bin/docs-venv

$(DOCS)/installed: python/requirements-docs.txt | test-needs
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install -q -r $<
	@touch $@

docs: $(DOCS)/installed ## bin/site: the documentation as a site (python3 -m http.server -d bin/site); fails on a dead link or anchor
	$(DOCS)/bin/python docs/site.py bin/site-pages
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build

notices: ## update THIRD_PARTY_NOTICES after a change of go.mod
	docs/third-party-notices.sh > THIRD_PARTY_NOTICES

ptx: ## compile the CUDA kernels, with clang-14
	$(GO) generate ./gpuverify/kernels

fmt: ## format the Go code
	gofmt -w $$(git ls-files '*.go')

clean: ## remove everything that make created
	rm -rf bin dist $(VENV)
