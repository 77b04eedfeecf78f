// Package join finds the rows that are of one request. A client, a router, the
// server's front end and its engine each write down what they saw of it, on
// clocks of their own and under names that differ: a client's abc is the
// server's chatcmpl-abc and the engine's chatcmpl-abc-9f31c2d4. A join links
// such rows and overwrites none with another.
//
// Rows are linked by what names the request, never by order or by likeness of
// times: by the join_group that a source writes itself (the bootstrap room that
// the two nodes of a disaggregated SGLang deployment share, say), and by the
// request id, first as it stands, then without the decorations that servers are
// known to add (see Rule). A name links only where it leaves no choice. One that
// two requests of a source bear is ambiguous: it is counted and links nothing.
//
// Linked rows also say how far two clocks are apart, since no message arrives
// before it is sent: see Offset.
package join
