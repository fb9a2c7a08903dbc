// Package recording keeps what a screen was fed and plays it again: the demo, the
// bug report, the benchmark and the golden source in one.
//
// A recording is a file of JSON lines, packed by gzip: zcat prints it. Each line
// begins with its checksum (CRC-32C in hexadecimal). The first line is the
// [Header]; then come chapters, each packed by itself. A chapter begins with the
// whole picture, so that one can start there, and goes on with what changed. The
// form of a line is this package's own and names what the service told as the
// contract does; it is no copy of how the program holds it.
//
// What may not go to strangers is left out when it is written: see [Masked]. What
// is read is scrubbed again, as what a service says is: the file may come from
// anyone.
package recording
