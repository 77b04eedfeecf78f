// Package browsertest has no code: its tests drive the page in a real Chromium,
// as make page has built it. It is a module of its own, so that the product does
// not depend on what drives a browser.
//
//	SERVESCOPE_REQUIRE_BROWSER=1  a missing browser or page is a failure, not a reason to skip
//	SERVESCOPE_DATA=DIR           real files to drop beside those of testdata
package browsertest
