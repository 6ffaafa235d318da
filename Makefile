.PHONY: help run test audit fix

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

fix: ## format, and bring the described queries and the generated documents up to date
	cargo fmt --all
	scripts/prepare-queries
	scripts/documents
