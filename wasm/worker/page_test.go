//go:build !js

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"servescope/wasm/page"
)

// Limits of static assets: developers.cloudflare.com/workers/static-assets/headers
// and /workers/platform/limits.
const (
	mostRules  = 100
	mostRule   = 2000 // characters of a line
	mostAssets = 25 << 20
)

// assets stands in for Cloudflare's static assets, which are not part of workerd: a
// file of a folder, with the fields that the rules of _headers for its path set.
const assets = `export default { async fetch(request, env) {
  const path = new URL(request.url).pathname;
  const file = await env.DISK.fetch("http://disk" + (path === "/" ? "/index.html" : path));
  if (!file.ok || path === "/_headers") return new Response(null, { status: 404 });
  const headers = new Headers();
  let on = false;
  for (const line of (await (await env.DISK.fetch("http://disk/_headers")).text()).split("\n")) {
    if (line.startsWith("/")) on = line === path || line === "/*";
    else if (on && line.trim()) headers.set(line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim());
  }
  return new Response(file.body, { headers });
} };`

const assetsConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main), (name = "disk", disk = (path = "assets")) ],
  sockets = [ (name = "http", address = "127.0.0.1:%d", http = (), service = "main") ] );
const main :Workerd.Worker = (
  modules = [ (name = "assets.mjs", esModule = embed "assets.mjs") ],
  bindings = [ (name = "DISK", service = "disk") ],
  compatibilityDate = "2026-05-01" );
`

// TestPage serves what make worker puts beside the Worker: the document is the sealed
// page to the byte, under a policy that lets this script run and nothing else.
func TestPage(t *testing.T) {
	required(t)
	document, err := os.ReadFile(root + "/bin/assets/index.html")
	if os.IsNotExist(err) {
		t.Skip("the page is not built: run make worker")
	}
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile(root + "/bin/assets/_headers")
	if err != nil {
		t.Fatal(err)
	}
	if len(document) > mostAssets || strings.Count(string(rules), "\n/") >= mostRules {
		t.Errorf("a document of %d bytes, and %d rules", len(document), strings.Count(string(rules), "\n/")+1)
	}
	for line := range strings.Lines(string(rules)) {
		if len(line) > mostRule {
			t.Errorf("a rule of %d characters is cut: %.60s", len(line), line)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "assets"), os.DirFS(root+"/bin/assets")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "assets.mjs"), []byte(assets), 0o666); err != nil {
		t.Fatal(err)
	}
	w := serve(t, dir, assetsConfig, "/")
	resp, err := http.Get(w.address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(got, document) {
		t.Errorf("%d bytes of %d: %v", len(got), len(document), err)
	}
	want, err := page.Headers(page.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range want {
		if have := resp.Header.Get(name); have != value {
			t.Errorf("%s: %q, want %q", name, have, value)
		}
	}
	policy := resp.Header.Get("Content-Security-Policy")
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindSubmatch(got)
	if script == nil {
		t.Fatal("the page has no script")
	}
	sum := sha256.Sum256(script[1])
	for _, part := range []string{"default-src 'none'", "connect-src 'none'", "frame-ancestors 'none'", "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s (make worker builds both of the same sources): %s", part, policy)
		}
	}
}

// settings reads what wrangler.toml says: keys with their tables before them, and
// values as JSON has them, of which TOML's texts, numbers and lists here are part.
func settings(t *testing.T) map[string][]any {
	t.Helper()
	text, err := os.ReadFile("wrangler.toml")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]any)
	table := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, value, pair := strings.Cut(line, " = ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			table = strings.Trim(line, "[]") + "."
		case pair:
			var v any
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			out[table+name] = append(out[table+name], v)
		default:
			t.Fatalf("%s is neither a table nor a setting", line)
		}
	}
	return out
}

// TestSettings compares wrangler.toml with what make worker builds and with the
// configuration under which the Worker is tested.
func TestSettings(t *testing.T) {
	s := settings(t)
	for name, want := range map[string]any{
		"main": root + "/bin/worker/entry.mjs", "base_dir": root + "/bin/worker", "assets.directory": root + "/bin/assets",
		"no_bundle": true, "find_additional_modules": true, "observability.enabled": false, "name": "servescope",
	} {
		if len(s[name]) != 1 || s[name][0] != want {
			t.Errorf("%s = %v, want %v", name, s[name], want)
		}
	}
	if date := s["compatibility_date"]; len(date) != 1 || !strings.Contains(config, `compatibilityDate = "`+date[0].(string)+`"`) {
		t.Errorf("compatibility_date = %v, which is not what is tested", date)
	}
	for _, name := range modules { // each has its type from the rule of its ending
		kind := map[string]string{".mjs": "ESModule", ".js": "ESModule", ".wasm": "CompiledWasm"}[filepath.Ext(name)]
		found := false
		for i, of := range s["rules.type"] {
			for _, glob := range s["rules.globs"][i].([]any) {
				found = found || of == kind && glob == "**/*"+filepath.Ext(name)
			}
		}
		if !found || !strings.Contains(config, `embed "`+name+`"`) {
			t.Errorf("%s is not imported as %s", name, kind)
		}
	}
	for name := range s {
		if strings.Contains(strings.ToLower(name), "token") || strings.HasPrefix(name, "vars.") {
			t.Errorf("%s: the token is a secret and not a setting", name)
		}
	}
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"-o bin/worker/app.wasm ./wasm/worker", "-o bin/worker\n", ">bin/assets/_headers", "cp wasm/worker/entry.mjs bin/worker/", "bin/assets/index.html", "\nworker: bin/servescope.html\n", "\nbin/servescope.html: $(PAGE_SOURCES)\n"} {
		if !strings.Contains(string(makefile), step) {
			t.Errorf("make worker does not say %q", step)
		}
	}
}
