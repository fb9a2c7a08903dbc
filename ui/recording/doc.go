// Package recording keeps what a screen was fed and plays it again: the demo, the
// bug report, the benchmark and the golden source in one. It also tells it to a
// pipe, as it comes.
//
// The form is that of api/account/form/FORMAT.md. A recording is a file of it: the
// header, then chapters, each a part of the file. A chapter begins with the whole
// picture, so that one can start there, and goes on with what changed.
//
// What may not go to strangers is left out when it is written: see
// [account.Masked]. What is read is scrubbed again, as what a service says is: the
// file may come from anyone.
package recording
