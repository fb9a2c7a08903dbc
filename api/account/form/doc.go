// Package form is the outside of the one encoding in which a picture leaves the
// process: JSON lines, their checksums, the header, and the packed parts of a
// file. What a line tells is an [account.Frame]; FORMAT.md describes both.
package form
