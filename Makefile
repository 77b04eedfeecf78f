# make test   the tests: needs Go, make and a network, nothing else
# make check  all that must pass before a change lands
# make bench  speed and memory, as Markdown

GO ?= go
# The race detector needs a C compiler that can link.
RACE := $(shell echo 'int main(void){return 0;}' | $$($(GO) env CC) -x c -o /dev/null - 2>/dev/null && echo -race)
STATICCHECK = $(GO) tool -modfile=go.tools.mod staticcheck

.PHONY: test check bench fmt vet unit race static

test: fmt vet unit race

fmt:
	@test -z "$$(gofmt -l -s .)" || { gofmt -d -s .; exit 1; }

vet:
	$(GO) vet ./...

unit:
	$(GO) test ./...

# The packages that start goroutines.
race:
ifeq ($(RACE),-race)
	$(GO) test -race -short ./analyzer ./formats/...
else
	@echo "no C compiler: the race detector does not run"
endif

check: test static

static:
	$(STATICCHECK) ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
