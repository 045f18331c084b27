# make help lists the targets.

GO ?= go
PYTHON ?= python3
VENV := .venv

.PHONY: help build quickstart test check go-test python-test bench fmt clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

build: ## bin/tcbuild
	$(GO) build -o bin/tcbuild ./cmd/tcbuild

quickstart: build ## the whole chain on synthetic data of yeast's size, in seconds
	bin/tcbuild rebuild --config conf/quickstart.yaml

test: check go-test python-test ## install what tests need, and run them all

check: ## formatting and go vet
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run: make fmt'; exit 1; }
	$(GO) vet ./...

go-test: ## all Go tests, under the race detector
	$(GO) test -race ./...

python-test: $(VENV)/installed ## the tests that read datasets with Python's own libraries
	$(VENV)/bin/python -m pytest -q python/tests

$(VENV)/installed: python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q -r $<
	touch $@

bench: ## all benchmarks, six runs each, as benchstat wants them
	$(GO) test -run='^$$' -bench=. -count=6 ./...

fmt: ## format the Go code
	gofmt -w $$(git ls-files '*.go')

clean: ## remove what make made
	rm -rf bin $(VENV)
