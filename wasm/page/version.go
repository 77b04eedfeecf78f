package page

import "runtime/debug"

// unknown is the version of a build that recorded none: one with -buildvcs=false,
// or from a copy of the sources that is no checkout.
const unknown = "unknown-build"

// Version is that of the program: the module's, or "devel-" and the commit of a
// build from a checkout, or "unknown-build" where the build recorded neither.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf returns the version of a build; info is nil where nothing is recorded.
func versionOf(info *debug.BuildInfo) string {
	if info == nil {
		return unknown
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		return unknown
	}
	return "devel-" + commit + dirty
}
