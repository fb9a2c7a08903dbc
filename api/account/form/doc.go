// Package form reads and writes the container in which a picture leaves the process:
// JSON lines with checksums, the header, and the packed parts of a file. Each line
// after the header is an [account.Frame]; FORMAT.md describes both.
package form
