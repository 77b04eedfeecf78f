// Package join finds the rows that belong to one request. A client, a router,
// the server's front end and its engine each record what they saw of it, on
// their own clocks and under different names: a client's abc is the server's
// chatcmpl-abc and the engine's chatcmpl-abc-9f31c2d4. A join links such rows
// and overwrites none with another.
//
// Rows are linked by names, never by order or by similar times. A source may
// write a join_group itself, such as the bootstrap room that the two nodes of a
// disaggregated SGLang deployment share. Otherwise the request id links rows:
// first as written, then without the decorations that servers are known to add
// (see Rule). A name links rows only if it is unambiguous. A name that two
// requests of a source share is counted and links nothing.
//
// Linked rows also bound the offset of two clocks, since no message arrives
// before it is sent (see Offset).
package join
