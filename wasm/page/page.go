// Package page is the page as one HTML document that needs nothing else: script,
// style and, where it was built with them, the engine are in it. It is sealed
// from its first byte by a policy that lets it load nothing and send nothing.
//
// The script and the style are bundled from src and engine into dist by go
// generate, and committed: nobody needs tools to build the command. The engine is
// WASM that make page builds; until then only the documents without it exist.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"html"
	"io/fs"
	"strings"
)

//go:generate go tool -modfile=../../go.tools.mod esbuild src/main.js --bundle --minify --charset=utf8 --target=es2022 --format=iife --legal-comments=none --log-level=warning --outfile=dist/page.js
//go:generate go tool -modfile=../../go.tools.mod esbuild src/main.css --bundle --minify --charset=utf8 --target=es2022 --legal-comments=none --log-level=warning --outfile=dist/page.css
//go:generate go tool -modfile=../../go.tools.mod esbuild engine/worker.js --minify --charset=utf8 --target=es2022 --legal-comments=none --log-level=warning --outfile=dist/worker.js

//go:embed all:dist
var dist embed.FS

// Engine is where the numbers of a document come from.
type Engine string

// The engines.
const (
	Wasm   Engine = "wasm"   // the core within the document
	Native Engine = "native" // the process that serves it
	Saved  Engine = "saved"  // none: a report and its charts are in the document
)

// Block is data within a document, which scripts find by its id. Its text must
// not end a script element: base64, or JSON as package report writes it.
type Block struct{ ID, Text string }

// ErrNotBuilt says that the command was built before make page.
var ErrNotBuilt = errors.New("the engine of the page is not built: run make page, then build the command anew")

// Sealed returns the page with its engine, or ErrNotBuilt.
func Sealed() ([]byte, error) {
	var blocks []Block
	worker := ""
	for _, name := range []string{"wasm_exec.js", "worker.js"} {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		worker += text + "\n"
	}
	blocks = append(blocks, Block{"worker.js", escape(worker)})
	module, err := read("engine.wasm.gz")
	if err != nil {
		return nil, err
	}
	blocks = append(blocks, Block{"engine.wasm.gz", base64.StdEncoding.EncodeToString([]byte(module))})
	return Document(Wasm, blocks)
}

// Document returns the page for an engine, with blocks of data.
func Document(engine Engine, blocks []Block) ([]byte, error) {
	script, err := read("page.js")
	if err != nil {
		return nil, err
	}
	style, err := read("page.css")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\" data-engine=\"" + string(engine) + "\" data-version=\"" + html.EscapeString(Version()) + "\">\n<meta charset=\"utf-8\">\n")
	b.WriteString(`<meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(policy(engine, script, style)) + "\">\n")
	b.WriteString(`<meta name="referrer" content="no-referrer">` + "\n")
	b.WriteString(`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n")
	b.WriteString("<title>servescope</title>\n<style>" + style + "</style>\n")
	b.WriteString("<div id=\"app\"></div>\n<script>" + script + "</script>\n")
	for _, d := range blocks {
		b.WriteString(`<script type="text/plain" id="` + html.EscapeString(d.ID) + `">` + d.Text + "</script>\n")
	}
	return []byte(b.String()), nil
}

// policy is the Content-Security-Policy of a document: it runs this one script,
// makes workers of its own blobs, and loads and sends nothing. The page of the
// native engine may talk to where it comes from, and to nobody else.
func policy(engine Engine, script, style string) string {
	connect, wasm, worker := "'none'", "", "'none'"
	switch engine {
	case Native:
		connect = "'self'"
	case Wasm:
		wasm, worker = " 'wasm-unsafe-eval'", "blob:"
	}
	return "default-src 'none'; script-src " + hash(script) + wasm + "; style-src " + hash(style) +
		"; img-src blob: data:; worker-src " + worker + "; connect-src " + connect + "; form-action 'none'; base-uri 'none'"
}

// Headers are those that a host of a document sends with it: the policy once more,
// and what a document cannot say itself.
func Headers(engine Engine) (map[string]string, error) {
	script, err := read("page.js")
	if err != nil {
		return nil, err
	}
	style, err := read("page.css")
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"Content-Type":               "text/html; charset=utf-8",
		"Content-Security-Policy":    policy(engine, script, style) + "; frame-ancestors 'none'",
		"Referrer-Policy":            "no-referrer",
		"X-Content-Type-Options":     "nosniff",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Permissions-Policy":         "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), bluetooth=(), payment=(), display-capture=()",
		"Cache-Control":              "no-store",
	}, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// escape makes a script fit for a Block: nothing but the end of the element has a
// meaning in it, and in JavaScript the characters stand in texts only.
func escape(script string) string {
	return strings.NewReplacer("</", `<\/`, "<!--", `<\!--`).Replace(script)
}

func read(name string) (string, error) {
	text, err := dist.ReadFile("dist/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotBuilt
	}
	return string(text), err
}
