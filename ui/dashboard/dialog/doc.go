// Package dialog draws what lies above the board and decides what its keys mean:
// the guarded confirm, the help and the palette of actions.
//
// A dialog is a plain struct. It draws itself as a block of exactly as many
// lines and columns as it is told, performs nothing, and answers with a value
// that the root acts on.
package dialog
