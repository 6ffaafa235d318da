.PHONY: help run test audit fix bench chaos

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 10

run: ## build Gatehouse and start everything: a private Postgres, the API and the workers
	@scripts/setup run
	cargo run --release --locked --package gatehouse -- up $(ARGS)

test: ## everything that CI runs, each step with its time
	@scripts/test

audit: ## known vulnerabilities in our dependencies (needs the internet)
	@scripts/setup test
	@PATH="$${GATEHOUSE_TOOLS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/gatehouse-tools}/bin:$$PATH" cargo deny check advisories

bench: ## the figures of docs/performance.md, beside pgbench (about 10 minutes on an idle machine)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench submit
	target/release/gatehouse-bench flow

chaos: ## SIGKILLs and Postgres restarts under load, then an audit of every item
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench chaos
	target/release/gatehouse-bench chaos --restart-postgres

fix: ## format, and bring the described queries and the generated documents up to date
	cargo fmt --all
	scripts/prepare-queries
	scripts/documents
