// Package recording records the changes that a screen shows, plays them again, and
// streams them to a pipe.
//
// api/account/form/FORMAT.md describes the format. A recording is a file with the header
// and then chapters, each a part of the file. A chapter begins with the whole picture,
// where a player can start, and continues with changes.
//
// A recording leaves out what strangers must not see: see [account.Masked]. A player
// scrubs what it reads: the file may come from anyone.
package recording
