.PHONY: help run test lint-documents test-clients test-sign-on test-console test-desk-kills test-dashboards test-receivers test-providers test-compat test-schemathesis test-versions alerts test-deploy test-upgrade test-backup reliability audit bench bench-webhooks bench-neighbours bench-pages bench-desk bench-life bench-queue bench-rules bench-scale bench-backlog endurance chaos chaos-failover chaos-scarcity fix

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 19

# Without optimisation, the build takes less than half the time, and `make test` and every later change use what it made.
run: ## build Gatehouse and start everything: a private Postgres, the API and the workers
	@scripts/setup run
	cargo run --locked --package gatehouse -- up $(ARGS)

test: ## everything that CI runs, each step with its time
	@scripts/test

lint-documents: ## the OpenAPI documents, by Redocly and Spectral (needs Node.js)
	@scripts/lint-documents

test-clients: ## clients by seven generators, and the applications in examples/, against a real service (needs Node.js, Python and Java)
	@scripts/test-clients $(CLIENTS)

test-sign-on: ## single sign-on in Chromium, with a real provider of OpenID Connect (needs Node.js and Chromium)
	@scripts/test-sign-on $(ARGS)

test-console: ## the console in Chromium: every page, hostile content, without scripts (needs Node.js and Chromium)
	@scripts/test-console $(ARGS)

test-desk-kills: ## two moderators press keys on the desk in Chromium, while the service is killed every few seconds (ITEMS=2000)
	@scripts/test-desk-kills $(ITEMS)

test-dashboards: ## the dashboards against Grafana's types, and every query on a Prometheus that scrapes a busy service (needs Node.js)
	@scripts/test-dashboards

test-receivers: ## the code of docs/webhooks.md, against vectors and a real service (needs Node.js and Python)
	@scripts/test-receivers $(RECEIVERS)

test-providers: ## requests to providers and their answers, checked with the official SDKs (needs Node.js and Python)
	@scripts/test-providers

test-compat: ## clients of OpenAI and of Perspective, unchanged but for the address, on a real service (needs Node.js and Python)
	@scripts/test-compat

test-schemathesis: ## thousands of valid and invalid requests made from the documents (needs Python; 10 to 20 minutes)
	@scripts/test-schemathesis

test-versions: ## the previous version beside this one, on one database (builds that version first: about 10 minutes)
	@scripts/setup test
	@scripts/test-versions $(REVISION)

alerts: ## every alert by a real fault, with a real Prometheus and Alertmanager, and ten quiet minutes (about 20 minutes; ARGS="--only QueueLag")
	@scripts/test-alerts $(ARGS)

test-deploy: ## what is in deploy/: image, manifests, compose file, units and package, built and started, and the pages on a bare Debian (as root; up to 20 minutes)
	@scripts/test-deploy $(PARTS)

test-upgrade: ## upgrade from the previous version under load, in both orders, and back (builds that version first: about 10 minutes; then 3)
	@scripts/setup test
	@scripts/test-upgrade $(REVISION)

test-backup: ## docs/backup.md under load: lost databases are restored and audited, one three times in a row (about 6 minutes)
	@scripts/setup test
	@scripts/test-backup

reliability: ## every case of docs/reliability.md, including the long ones; CASES="4 14" runs only these
	@scripts/setup test
	@scripts/reliability $(CASES)

audit: ## known vulnerabilities in our dependencies (needs the internet)
	@scripts/setup test
	@PATH="$${GATEHOUSE_TOOLS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/gatehouse-tools}/bin:$$PATH" cargo deny check advisories

bench: ## the service's numbers in docs/performance.md, compared with pgbench (about 30 minutes on an idle machine)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench submit
	target/release/gatehouse-bench submit --no-idempotency-key
	target/release/gatehouse-bench submit --sites 10000
	target/release/gatehouse-bench status
	target/release/gatehouse-bench memory
	target/release/gatehouse-bench flow
	target/release/gatehouse-bench limits

bench-webhooks: ## webhooks compared with a bare loop of requests, and working endpoints beside dead and flooded ones (about 10 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench deliveries

bench-neighbours: ## a hostile team does its worst beside a well-behaved one, which must not notice it (about 50 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench neighbours

bench-pages: ## every page of the console with a million items, each at most 50 ms (p95; under 10 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench pages

bench-desk: ## the review desk with 200,000 reviews waiting and 50 moderators: claims, and the next item (about 8 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench desk

bench-life: ## ten million items beside a hundred thousand, and the removal of a day's items under load (about 25 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench life

bench-queue: ## the queue compared with graphile-worker and pg-boss, at scale and beside backlogs (needs Node; about an hour)
	@scripts/setup test
	cargo build --release --locked --package gatehouse-bench
	target/release/gatehouse-bench queue
	target/release/gatehouse-bench lanes
	target/release/gatehouse-bench fairness

bench-rules: ## texts against 10,000 keywords and 1,000 regexes, compared with RE2 and Hyperscan (needs Python; about 12 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse-bench
	target/release/gatehouse-bench rules

bench-scale: ## an autoscaler starts and stops workers by the metrics, while the load rises and falls (about 5 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench scale

bench-backlog: ## backlogs at a provider that takes 400 ms, beside the arithmetic of docs/capacity.md (about 4 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench backlog

endurance: ## the queue under a steady load while a transaction is held open for 20 minutes, three times
	@scripts/setup test
	cargo build --release --locked --package gatehouse-bench
	target/release/gatehouse-bench endurance --hold snapshot
	target/release/gatehouse-bench endurance --hold xid
	target/release/gatehouse-bench endurance --hold table

chaos: ## SIGKILLs and Postgres restarts under load, then an audit of every item
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench chaos
	target/release/gatehouse-bench chaos --restart-postgres
	target/release/gatehouse-bench chaos --kill-receiver --items 30000 --rate 50 --patience-seconds 1800

chaos-failover: ## failover, read-only sessions, rolling restart, full disk, no connections, then the audit (as root: it mounts a disk)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	target/release/gatehouse-bench failover

chaos-scarcity: ## fewer connections than the processes want, and Postgres restarts under load, then the audit (about 65 minutes)
	@scripts/setup test
	cargo build --release --locked --package gatehouse --package gatehouse-bench
	for most in 27 40 100; do for half in 2 6; do \
	    target/release/gatehouse-bench scarcity --max-connections $$most --apis $$half --workers $$half || exit 1; \
	done; done

fix: ## format, and update the described queries, the generated documents, the dashboards and the rules for Kubernetes
	cargo fmt --all
	scripts/prepare-queries
	scripts/documents
	scripts/dashboards
	scripts/prometheus-rule
