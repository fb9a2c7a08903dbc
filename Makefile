.DEFAULT_GOAL := help

.PHONY: help
help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ./tillwatch, static
	CGO_ENABLED=0 go build -trimpath -o tillwatch .

.PHONY: demo
demo: ## a living dashboard on loopback
	go run . demo

.PHONY: test
test: ## every test, offline
	go test ./...

.PHONY: golden
golden: ## write the golden screens anew; read the difference
	go test ./ui/dashboard ./ui/dashboard/dialog ./ui/plain ./ui/recording ./ui/terminal -update

.PHONY: monkey
monkey: ## random keys and faults for ten minutes
	go test ./ui/dashboard -run Monkey -monkey 10m -timeout 30m

.PHONY: bench
bench: ## every benchmark below the screen
	go test -run '^$$' -bench . ./...

.PHONY: lint
lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

.PHONY: ci
ci: ## what must pass before a change lands
	bash .ci/run
