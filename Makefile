# Thin: what a target does is in scripts/ and xtask/. `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# What measures or fuzzes wants the machine for itself.
.NOTPARALLEL:

# Where cargo puts what it builds.
target_dir := $(or $(CARGO_TARGET_DIR),target)
# How long each fuzz target runs.
FUZZ_SECONDS ?= 60
# Exit code of a script whose tool can't be had on this machine.
cannot := 3

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## Install what is missing (Debian); says what it can't
	@scripts/setup.sh

.PHONY: build
build: ## The release binary
	cargo build --release --locked

.PHONY: dist
dist: ## A static binary, an archive, a Debian package and their checksums in dist/, tried in an empty root
	scripts/dist.sh
	@scripts/dist-try.sh || { code=$$?; [ $$code -eq $(cannot) ] && echo "dist-try: passed over" >&2; }

.PHONY: dist-aarch64
dist-aarch64: ## The same for 64-bit ARM, built in a Debian root of its own and tried under QEMU; needs root, after `make dist`
	scripts/dist-aarch64.sh

.PHONY: package
package: ## Whether a registry could be handed each crate (cargo publish --dry-run); nothing is uploaded
	scripts/package.sh

.PHONY: site
site: ## The documents as a site in dist/site (mdbook)
	@scripts/site.sh

.PHONY: run
run: ## Boot four stacks, load them, rank them: some two minutes, and two more where nothing is compiled yet
	@scripts/run.sh

.PHONY: test
test: setup ## Layout rules, format, every test that is not slow: under six minutes from nothing
	cargo xtask test

.PHONY: test-slow
test-slow: setup ## Lints and the slow tests: all seeds, stacks, JMeter, browsers, other tools' parsers; CI runs them, too
	cargo xtask test-slow
	@$(MAKE) --no-print-directory web-if-possible compat-if-possible

.PHONY: test-all
test-all: test test-slow gates-if-possible projects-if-possible dist sanitize-if-possible fuzz-if-possible deny-if-possible cluster-if-possible stress ## test, test-slow, gates, real projects, what is handed out, sanitizer, fuzz, deny, stress, one size of each planted limit, and the product on real servers
	@$(MAKE) --no-print-directory planted PLANTED="--again planted/record.jsonl"
	@$(MAKE) --no-print-directory planted PLANTED=--quick
	PROOFLOAD_SEEDS=10000 cargo test --locked -p proofload-agent --test it on_all_seeds -- --ignored
	scripts/acceptance.sh

.PHONY: gates
gates: ## Instructions and system calls a request, against their bounds (valgrind, strace)
	scripts/gates.sh

.PHONY: projects
projects: ## Projects of Spring Boot, Express, Gin, axum and FastAPI, each from init to a passed and a failed gate
	scripts/projects.sh

.PHONY: sanitize
sanitize: ## The drivers' tests under AddressSanitizer; wants nightly
	scripts/sanitize.sh

# How long each driver is put under stress.
STRESS_SECONDS ?= 150

.PHONY: stress
stress: ## Both drivers at 5000 connections to a server that resets, closes and falls silent at random
	cargo run --release --locked -p proofload-driver --example stress -- $(STRESS_SECONDS)

.PHONY: replay
replay: ## One seed of the simulation: make replay SEED=42
	@[[ "$(SEED)" =~ ^[0-9]+$$ ]] || { echo "make replay SEED=n: n is the number that a failed test printed" >&2; exit 2; }
	PROOFLOAD_SEED=$(SEED) cargo test --locked -p proofload-sim -p proofload-agent --test it laws::

.PHONY: bench
bench: setup build ## CPU a request beside a null client and other tools (an hour); BENCH="--only small-300 --quick"
	$(target_dir)/release/bench $(BENCH)

.PHONY: planted
planted: setup build ## How often the reason is named: one planted limit at a time; PLANTED="--quick --only pool", PLANTED="--again planted/record.jsonl" without a run
	$(target_dir)/release/planted $(PLANTED)

.PHONY: cluster-test
cluster-test: ## Loads from pods of a real Kubernetes of three nodes, booted here; wants root, go and apt-get
	@scripts/cluster-test.sh

.PHONY: fuzz
fuzz: ## Every fuzz target for FUZZ_SECONDS (60); wants nightly
	scripts/fuzz.sh $(FUZZ_SECONDS)

.PHONY: deny
deny: ## Licences, bans, sources and advisories of the dependencies
	scripts/deny.sh

.PHONY: web
web: ## The HTML report: types, its bytes, its tests in a browser; wants node, npm and chromium
	scripts/web.sh

# The same, passed over with a word where the machine lacks the tool.
.PHONY: projects-if-possible cluster-if-possible fuzz-if-possible deny-if-possible gates-if-possible sanitize-if-possible compat-if-possible web-if-possible
web-if-possible:
	@scripts/web.sh || { code=$$?; [ $$code -eq $(cannot) ] && [ -z "$$CI" ] && echo "web: passed over" >&2; }
compat-if-possible:
	@scripts/compat.sh || { code=$$?; [ $$code -eq $(cannot) ] && [ -z "$$CI" ] && echo "compat: passed over" >&2; }
	@PROOFLOAD=$(target_dir)/debug/proofload scripts/jmeter-compat.sh || { code=$$?; [ $$code -eq $(cannot) ] && [ -z "$$CI" ] && echo "jmeter-compat: passed over" >&2; }
	@PROOFLOAD=$(target_dir)/debug/proofload scripts/audit-others.sh || { code=$$?; [ $$code -eq $(cannot) ] && [ -z "$$CI" ] && echo "audit-others: passed over" >&2; }
gates-if-possible:
	@scripts/gates.sh || { code=$$?; [ $$code -eq $(cannot) ] && echo "gates: passed over" >&2; }
projects-if-possible:
	@scripts/projects.sh || { code=$$?; [ $$code -eq $(cannot) ] && echo "projects: passed over" >&2; }
sanitize-if-possible:
	@scripts/sanitize.sh || { code=$$?; [ $$code -eq $(cannot) ] && echo "sanitize: passed over" >&2; }
cluster-if-possible:
	@scripts/cluster-test.sh || { code=$$?; [ $$code -eq $(cannot) ] && echo "cluster-test: passed over" >&2; }
fuzz-if-possible:
	@scripts/fuzz.sh $(FUZZ_SECONDS) || { code=$$?; [ $$code -eq $(cannot) ] && echo "fuzz: passed over" >&2; }
deny-if-possible:
	@scripts/deny.sh || { code=$$?; [ $$code -eq $(cannot) ] && echo "deny: passed over" >&2; }

.PHONY: clean
clean: ## Remove what cargo and the stacks' builds made; runs/ stays
	cargo clean
	rm -rf fuzz/target stacks/*/build stacks/_builds/*/build stacks/_builds/*/target planted/servers/*/build
