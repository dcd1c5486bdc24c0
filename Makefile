# Needs Node 20, 22 or 24, and npm; everything else comes from the npm registry.
.PHONY: start build install check test sim sim-cluster torture bench peers vector-peers graph-peers duckdb-peers clean package docs fuzz soak
.PHONY: turns watch properties etcd-messages lint-api conformance-sql conformance-cypher conformance-ldbc conformance-mcp
.PHONY: conformance-clients conformance-regress conformance-openai conformance-openapi conformance-adapters
.PHONY: npm-package deb-check first-hour crash-clients
.PHONY: console-images console-figures conformance-bolt quality cluster torture-cluster sim-control-plane sim-copies

# For tests and benches, which load ONNX Runtime themselves; the server sees to it by itself.
export ORT_DISABLE_TELEMETRY ?= 1

# PostgreSQL's protocol and Bolt listen, too: on ports 5432 and 7687, or on free ones when those are taken. The start says which.
start: export TESSERA_POSTGRES_PORT ?= 5432
start: export TESSERA_POSTGRES_ANY_PORT ?= true
start: export TESSERA_BOLT_PORT ?= 7687
start: export TESSERA_BOLT_ANY_PORT ?= true
start: build
	bin/tessera serve

build: install
	npm run --silent build

# Installs only when the lock file changed since the last time.
install: node_modules/.installed

node_modules/.installed: package-lock.json
	npm ci --no-audit --no-fund
	@touch node_modules/.installed

check: install
	npm run --silent check

# All tests, or those of FILE=test/…/x.test.ts (or a folder, or several). TIMES=1 prints the CPU time of each file.
test: build
	node scripts/run-tests.mjs $(FILE)

# Checks the types and runs the affected tests after every edit.
watch: build
	node scripts/watch.mjs

# A node in virtual time with faults, from seeds (docs/architecture/testing.md): SEEDS=1000 FROM=1, or SEED=17 to replay one.
sim: build
	@SEEDS="$(SEEDS)" FROM="$(FROM)" SEED="$(SEED)" ONLY="$(ONLY)" node --enable-source-maps dist/test/simulation/run.js

# Messages of etcd's API, after a change of src/cluster/etcd.proto.
etcd-messages:
	npx --yes -p @bufbuild/buf@1.75.0 -p @bufbuild/protoc-gen-es@2.13.0 buf generate src/cluster \
	  --template '{"version":"v2","plugins":[{"local":"protoc-gen-es","out":"src/cluster","opt":["target=ts"]}]}'

# Three nodes on the replicated log, in virtual time: as `sim`. SABOTAGE=all tells how soon each known flaw is found.
sim-cluster: build
	@SEEDS="$(SEEDS)" FROM="$(FROM)" SEED="$(SEED)" SABOTAGE="$(SABOTAGE)" node --enable-source-maps dist/test/simulation/cluster/run-cluster.js

# Copies of partitions that come and go while nodes fail, in virtual time: SEEDS=200 FROM=1, or SABOTAGE=all.
sim-copies: build
	@SEEDS="$(SEEDS)" FROM="$(FROM)" SABOTAGE="$(SABOTAGE)" node --enable-source-maps dist/test/simulation/cluster/run-copies.js

# Who owns what among very many nodes, in virtual time: NODES=300 PARTITIONS=2048 FAIL=10.
sim-control-plane: build
	@NODES="$(NODES)" PARTITIONS="$(PARTITIONS)" FAIL="$(FAIL)" SEED="$(SEED)" \
	  node --enable-source-maps dist/test/simulation/cluster/run-control-plane.js

# etcd and three nodes of a cluster on this machine, until Ctrl-C. Prints their addresses.
cluster: build
	@node scripts/cluster.mjs

# Real nodes of a cluster, killed and stopped under load: ROUNDS=20 or MINUTES=60, SEED=1. Needs etcd.
torture-cluster: build
	@ROUNDS="$(ROUNDS)" MINUTES="$(MINUTES)" SEED="$(SEED)" node --enable-source-maps dist/test/torture/cluster/run.js

# The real server, killed and started again under mixed load: ROUNDS=100, SEED=1. With a full disk too, where a user may mount one.
torture: build
	@ROUNDS="$(ROUNDS)" SEED="$(SEED)" node --enable-source-maps dist/test/torture/run.js

# Settings: bench/README.md. A peer that is not there is left out.
bench: build $(if $(filter-out growth,$(or $(BENCH),all)),peers) $(if $(findstring vector,$(BENCH)),vector-peers) $(if $(findstring graph,$(BENCH)),graph-peers) $(if $(filter growth tpch,$(BENCH)),duckdb-peers)
	node dist/bench/run.js $(BENCH)

# All SQL suites that lie beside the checkout; FOLDERS="duckdb …" for some, UPDATE=1 to rewrite the lists of failures,
# DOOR=postgres to run them by PostgreSQL's protocol.
conformance-sql: build
	node dist/test/conformance/run-sql-suites.js $(FOLDERS)

# The openCypher TCK, or the folders of it in FOLDERS; UPDATE=1 rewrites the list of what fails, DOOR=bolt to run it by Bolt.
conformance-cypher: build
	node dist/test/conformance/run-tck.js $(FOLDERS)

# The read queries of LDBC SNB in Cypher and in SQL: answers and times.
conformance-ldbc: build
	node dist/test/conformance/run-ldbc.js

# The conformance tests of the Model Context Protocol, for the revisions that are served.
conformance-mcp: build
	node dist/test/conformance/run-mcp.js

# PostgreSQL's clients (psql, drivers, ORMs …) against a server, each with its own quick start; CLIENTS="psql jdbc" for some.
conformance-clients: build
	node dist/test/conformance/run-clients.js $(CLIENTS)

# PostgreSQL's regression scripts by psql, against a server and against PostgreSQL; SCRIPTS="int4 join" for some, WHY=1 to list
# what fails here only. PG_REGRESS is their folder; without it Debian's source package of PostgreSQL 15 is fetched.
conformance-regress: build
	node dist/test/conformance/run-regress.js $(SCRIPTS)

# Packages that speak OpenAI's interface (AI SDK, LangChain, Agents, Mem0 …) against a server; CLIENTS="langchain mem0" for some.
conformance-openai: build
	node dist/test/conformance/run-openai-clients.js $(CLIENTS)

# clients/adapters with LangChain.js, LlamaIndex.TS, the AI SDK and mem0; ADAPTERS="langchain" for some.
conformance-adapters: build
	node dist/test/conformance/run-adapters.js $(ADAPTERS)

# Packages that speak Bolt (Neo4j's driver 5, @neo4j/graphql) against a server; CLIENTS="graphql" for some. NEO4J_DRIVER_SUITE: a
# checkout of the driver's repository, whose own tests run, too.
conformance-bolt: build
	node dist/test/conformance/run-bolt-clients.js $(CLIENTS)

# Types by openapi-typescript, and a program over openapi-fetch that is checked with tsc --strict and runs.
conformance-openapi: build
	node dist/test/conformance/run-openapi-client.js

# Tests that `make test` runs in a short form: random inputs LENGTH times as many (20 unless said), sizes and rounds in full.
properties: build
	TEST_LENGTH=$(or $(LENGTH),20) FILE_SECONDS=36000 node scripts/run-tests.mjs $$(grep -rlE '"(\.\./)+lengths\.js"' test --include='*.test.ts')

# The tests of turns with large values and the bound of the product, TURN_MS=50 of CPU time. Needs a quiet machine.
turns: build
	TURN_MS=$(or $(TURN_MS),50) TURN_UNITS=$(or $(TURN_UNITS),64000) CHARACTERS=$(or $(CHARACTERS),200000) TEST_LENGTH=2 FILE_SECONDS=36000 \
		node scripts/run-tests.mjs test/query/function-turns.test.ts test/query/window-turns.test.ts test/e2e/route-turns.test.ts

# dist-package: a tarball that needs nothing but glibc, and a .deb with a service (docs/guide/packages.md).
package: build
	node scripts/package.mjs

# The .deb in a clean Debian root: installed, upgraded, removed, purged. As root, with debootstrap; SUITE=bookworm or trixie.
deb-check: package
	SUITE=$(or $(SUITE),bookworm) packaging/try-deb.sh

# dist-npm: the program and the client for programs, as npm installs them.
npm-package: build
	node scripts/npm-package.mjs

# A newcomer's hour, timed: these packages in an empty folder; a CSV is loaded, searched and chatted with from five kinds of programs.
first-hour: npm-package
	node dist/test/conformance/run-first-hour.js

# The client for programs while its server is killed KILLS=100 times: statements, transactions, streams, subscriptions.
crash-clients: build
	TEST_LENGTH=$$(( $(or $(KILLS),100) / 2 )) FILE_SECONDS=36000 node scripts/run-tests.mjs test/clients/typescript-crash.test.ts

# Hostile inputs for MINUTES=10, with large parts of up to SIZE=1000000 characters; SEED=… repeats a run, FROM=number COUNT=1 one input.
fuzz: build
	node dist/test/fuzz/run-fuzz.js

# Pictures of the console's pages into docs/images. Needs Chromium.
console-images: build
	node scripts/console-images.mjs

# Sizes and times of the console in Chromium: its first page, and a million rows.
console-figures: build
	node scripts/console-figures.mjs

# Writes the pages of docs/reference that are generated.
docs: build
	node scripts/reference-docs.mjs

# Measures the judgement of models and rules on test sets, and writes docs/reference/quality.md: some minutes.
quality: build
	node dist/bench/quality/run-quality.js

# Redocly's linter over the OpenAPI document that a server gives.
lint-api: build
	node dist/test/conformance/run-api-lint.js

# Mixed work over all models at a steady rate, with memory, files and latencies watched: MINUTES=60 RATE=200 ACTORS=1.
soak: build
	@MINUTES="$(MINUTES)" RATE="$(RATE)" ACTORS="$(ACTORS)" node --enable-source-maps dist/bench/soak/run.js

# Those who cannot be installed are named in the bench's report.
peers:
	@if [ "$(PEERS)" != none ]; then $(MAKE) --no-print-directory bench/peers/node_modules/.installed || true; fi

bench/peers/node_modules/.installed: bench/peers/package-lock.json
	npm ci --prefix bench/peers
	@touch $@

vector-peers:
	@if [ "$(PEERS)" != none ]; then $(MAKE) --no-print-directory bench/peers/vectors/node_modules/.installed || true; fi

bench/peers/vectors/node_modules/.installed: bench/peers/vectors/package-lock.json
	npm install --no-save --prefix bench/peers/vectors
	@touch $@

graph-peers:
	@if [ "$(PEERS)" != none ]; then $(MAKE) --no-print-directory bench/peers/graph/node_modules/.installed || true; fi

bench/peers/graph/node_modules/.installed: bench/peers/graph/package-lock.json
	npm ci --prefix bench/peers/graph
	@touch $@

duckdb-peers:
	@if [ "$(PEERS)" != none ]; then $(MAKE) --no-print-directory bench/peers/duckdb/node_modules/.installed || true; fi

bench/peers/duckdb/node_modules/.installed: bench/peers/duckdb/package-lock.json
	npm ci --prefix bench/peers/duckdb
	@touch $@

clean:
	rm -rf dist
