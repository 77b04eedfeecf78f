package page

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	f := func(want, module string, settings ...debug.BuildSetting) {
		t.Helper()
		info := &debug.BuildInfo{Main: debug.Module{Version: module}, Settings: settings}
		if got := versionOf(info); got != want {
			t.Errorf("%q, %v: got %q, want %q", module, settings, got, want)
		}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	f("v1.2.3", "v1.2.3")
	f("v1.2.3", "v1.2.3", commit)
	f("devel-0123456789ab", "(devel)", commit)
	f("devel-0123456789ab", "", commit, debug.BuildSetting{Key: "vcs.modified", Value: "false"})
	f("devel-0123456789ab+changes", "(devel)", commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	f("unknown-build", "(devel)") // of -buildvcs=false
	f("unknown-build", "")
	if got := versionOf(nil); got != "unknown-build" {
		t.Errorf("nothing recorded: got %q", got)
	}
}
