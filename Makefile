# make test   the tests: needs Go, make and a network, nothing else
# make page   the page with its engine, as bin/servescope.html
# make worker the core and the page as a Cloudflare Worker, as bin/worker and
#             bin/assets, and its tests; needs npm
# make check  all that must pass before a change lands; also needs Node
# make bench  speed and memory, as Markdown
# make update write the goldens, samples and generated parts anew

GO ?= go
# The race detector needs a C compiler that can link.
RACE := $(shell echo 'int main(void){return 0;}' | $$($(GO) env CC) -x c -o /dev/null - 2>/dev/null && echo -race)
# The packages in which goroutines meet. make check runs the rest under the race
# detector too.
CONCURRENT = ./analyzer ./analyzer/fold ./formats/source ./formats/internal/block ./formats/tokenlog
# The packages of the core, which must build and give the same results for browsers.
CORE = ./analyzer/... ./formats/...
# Package source reads files and pipes, which browsers do not have; emitters run in
# servers.
PORTABLE = $$($(GO) list $(CORE) | grep -v -e "^servescope/formats/source$$" -e /emitters)
# Simulators and generators of test data, which ./... leaves out.
GENERATE = ./testdata/generate/...
WASM = GOOS=js GOARCH=wasm
TAGS = -tags arrow_json_stdlib
STRIPPED = -trimpath -ldflags='-s -w'
JSEXEC = $$($(GO) env GOROOT)/lib/wasm/go_js_wasm_exec
SAMPLES = testdata/sample/vllm-bench.json testdata/sample/tokenlog.jsonl
# A number of inputs, not a time: at the end of a time an input being minimised
# counts as a failure of the target.
FUZZTIME ?= 3000x

.PHONY: test check bench update fmt vet unit race race-all static tidy clean-tree wasm page browser fused recompute duckdb fuzz worker

test: fmt vet unit race

# All of test and more: race-all holds what race runs. Tests that draw random logs
# draw more of them.
check: export SERVESCOPE_LONG = 1
check: fmt vet unit tidy static clean-tree fused race-all wasm browser worker recompute duckdb fuzz

fmt:
	@test -z "$$(gofmt -l -s .)" || { gofmt -d -s .; exit 1; }

vet:
	$(GO) vet ./... $(GENERATE)

unit:
	$(GO) test -timeout 30m ./... $(GENERATE)

race:
ifeq ($(RACE),-race)
	$(GO) test -race -short $(CONCURRENT)
else
	@echo "no C compiler: the race detector does not run"
endif

race-all:
	.ci/need cc gcc libc6-dev
	$(GO) test -race -short -timeout 30m $(CORE)

tidy:
	$(GO) mod tidy -diff

static:
	$(GO) tool -modfile=go.tools.mod staticcheck ./... $(GENERATE)

# Whatever a program writes into the tree must be there already.
update:
	cd testdata/sample && $(GO) run generate.go
	$(GO) generate ./...
clean-tree: update
	git diff --exit-code

# A compiler may fuse x*y + z into one instruction, which rounds once instead of
# twice. Conversions prevent it where they are written; this finds where not.
fused:
	@mkdir -p bin
	GOARCH=arm64 $(GO) build -gcflags='servescope/...=-S' $(CORE) 2>bin/arm64.s || { cat bin/arm64.s; exit 1; }
	@! grep -E '\sFN?M(ADD|SUB)[SD]\s' bin/arm64.s

wasm:
	.ci/need node nodejs
	$(WASM) $(GO) vet $(TAGS) $(CORE)
	$(WASM) $(GO) test $(TAGS) -exec "$(JSEXEC)" -short -timeout 30m $(PORTABLE)
	$(GO) build -o bin/core ./cli/internal/core
	$(WASM) $(GO) build $(TAGS) $(STRIPPED) -o bin/core.wasm ./cli/internal/core
	bin/core $(SAMPLES) >bin/native.json
	"$(JSEXEC)" bin/core.wasm $(SAMPLES) >bin/wasm.json
	cmp bin/native.json bin/wasm.json

DIST = wasm/page/dist
# The format is that of gzip, and the file 4 % smaller than gzip's.
DEFLATE = $$(command -v libdeflate-gzip >/dev/null && echo libdeflate-gzip -12 -c || echo gzip -9nc)
# The page's script and style are committed; its engine is built here.
page:
	@mkdir -p bin
	$(GO) generate ./wasm/page
	$(WASM) $(GO) vet $(TAGS) ./wasm/browser
	$(WASM) $(GO) build $(TAGS) $(STRIPPED) -o bin/engine.wasm ./wasm/browser
	$(DEFLATE) <bin/engine.wasm >$(DIST)/engine.wasm.gz
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(DIST)/wasm_exec.js
	$(GO) build -o bin/write ./wasm/page/write
	bin/write >bin/servescope.html
	@wc -c <bin/servescope.html | awk '{ print "page: document:", $$1, "bytes"; exit $$1 > 12e6 }'

# The page in a real browser.
browser:
	.ci/need chromium chromium
	.ci/need libdeflate-gzip libdeflate-tools
	.ci/need npm npm
	cd tools/axe && npm ci --no-audit --no-fund --ignore-scripts
	$(MAKE) page
	cd wasm/page/browsertest && $(GO) vet . && SERVESCOPE_REQUIRE_BROWSER=1 $(GO) test -count=1 -timeout 30m .

# The page is built anew when what it is made of has changed.
PAGE_SOURCES = $(shell find analyzer formats wasm -type f ! -name '*_test.go' ! -path '*/testdata/*' ! -path '$(DIST)/*') go.mod go.sum Makefile
bin/servescope.html: $(PAGE_SOURCES)
	$(MAKE) page

# The core as a Cloudflare Worker, tested in workerd. The page is its static asset:
# one of an earlier core must not be served beside this one. The install script of
# the package would only choose between two copies of one program: it does not run.
worker: bin/servescope.html
	.ci/need npm npm
	@mkdir -p bin/worker bin/assets
	$(GO) run github.com/syumai/workers/cmd/workers-assets-gen -mode=go -o bin/worker
	cp wasm/worker/entry.mjs bin/worker/
	$(WASM) $(GO) vet $(TAGS) ./wasm/endpoint ./wasm/worker
	$(WASM) $(GO) build $(TAGS) $(STRIPPED) -o bin/worker/app.wasm ./wasm/worker
	cp bin/servescope.html bin/assets/index.html
	bin/write headers >bin/assets/_headers
	cd tools/workerd && npm ci --no-audit --no-fund --ignore-scripts
	SERVESCOPE_REQUIRE_WORKERD=1 $(GO) test -count=1 -v ./wasm/worker

# Metrics computed a second time, by a script that shares nothing with the product.
recompute:
	.ci/need node nodejs
	SERVESCOPE_REQUIRE_NODE=1 $(GO) test -count=1 -run TestRecomputed ./analyzer
	SERVESCOPE_REQUIRE_NODE=1 $(GO) test -count=1 -run TestScripts ./wasm/page

duckdb:
	.ci/need npm npm
	cd tools/duckdb && npm ci --no-audit --no-fund
	SERVESCOPE_REQUIRE_DUCKDB=1 $(GO) test -count=1 ./analyzer/render/tabletest

fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$p; \
	  done; \
	done

bench:
	.ci/need npm npm
	.ci/need python3 python3-venv
	$(GO) test -run '^$$' -bench . -benchmem $(CORE)
	$(GO) run ./cli/internal/bench
