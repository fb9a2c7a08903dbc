// Package confirm submits intents for purchase, with money behind the key:
// bound to what a person saw, never twice, and honest about what is not known.
package confirm
