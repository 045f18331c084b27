# make help lists the targets.

GO ?= go

.PHONY: help build test race bench fmt vet lint check quickstart clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

build: ## bin/tcbuild
	$(GO) build -o bin/tcbuild ./cmd/tcbuild

test: ## all Go tests
	$(GO) test ./...

race: ## all Go tests under the race detector
	$(GO) test -race ./...

bench: ## all benchmarks, six runs each, as benchstat wants them
	$(GO) test -run='^$$' -bench=. -count=6 ./...

fmt: ## format the Go code
	gofmt -w $$(git ls-files '*.go')

vet: ## what the compiler lets pass
	$(GO) vet ./...

lint: vet ## the linters and import directions of .golangci.yml
	golangci-lint run

check: vet test ## what must pass before a change is shared
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }

quickstart: build ## a synthetic graph and perturbation set, in seconds
	bin/tcbuild synth --config conf/quickstart.yaml

clean: ## remove bin/
	rm -rf bin
