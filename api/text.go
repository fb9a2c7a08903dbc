package api

// Text is remote text that is safe to draw: without C0 and C1 controls, escape
// sequences, bidirectional controls and zero-width characters. Only [Scrub] and
// the decoders of this package make one from bytes that came from outside.
type Text string

// ID is the opaque identifier of a resource, scrubbed as [Text] is. Its form is
// never parsed: the service may put any character into it.
type ID string

// Scrub makes remote text safe to draw on one line. Clean text is returned as
// it is, without an allocation.
func Scrub(s string) Text { panic("unwritten") }
